export { type LogFields, logFields, logs } from "./handling-fields";
export {
  type ConsoleLoggerOptions,
  consoleLogger,
  type PinoLike,
  pinoLogger,
  type SystemLogger,
} from "./loggers";
export { type MetricProducerOptions, metricProducer, type TimesProducer } from "./metric-producer";
export { metrics, type TelemetryMetricsOptions } from "./metrics";

/** The name by which tracers and meters know this library (its instrumentation scope). */
export const SCOPE = "envoi";
export { type TracedExchange, type TraceRequestsOptions, traceRequests } from "./requests";
export { logSlowHandlers, type SlowHandlerLogOptions } from "./slow-handlers";
export type { TraceOptions } from "./tracing/options";
export { trace } from "./tracing/trace";
