export { type MetricProducerOptions, metricProducer, type TimesProducer } from "./metric-producer";
export { metrics, type TelemetryMetricsOptions } from "./metrics";

/** The name by which tracers and meters know this library (its instrumentation scope). */
export const SCOPE = "envoi";
export type { TraceOptions } from "./tracing/options";
export { trace } from "./tracing/trace";
