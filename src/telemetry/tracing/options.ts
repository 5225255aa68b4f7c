import type { Tracer } from "@opentelemetry/api";
import { checkOptions, type OptionChecks, option } from "../../index";
import { withMethods } from "../checks";

/** The options of a tracer. */
export interface TraceOptions {
  /** The source of spans: `provider.getTracer(SCOPE)`, or that of the global provider, `trace.getTracer(SCOPE)`. */
  readonly tracer: Tracer;
  /**
   * True to make spans of hooks, timers and watches as well. Without it, what they send and run is below the span of the message that set the
   * timer. Default: false.
   */
  readonly signals?: boolean;
  /** True to note each item of a stream as an event of its span, `messaging.envoi.item`. Default: false. */
  readonly items?: boolean;
  /** False to leave out how long each message waited, `messaging.envoi.queue_time`. Default: true. */
  readonly queueTime?: boolean;
  /**
   * True to give the attributes of a message to the sampler. That costs each span 0.6 µs, also where it is not recorded; otherwise samplers see
   * its name, its kind and its parent. Default: false.
   */
  readonly sampleByAttributes?: boolean;
}

const EXAMPLE = "{ tracer: provider.getTracer(SCOPE) }";
const CHECKS: OptionChecks<TraceOptions> = {
  tracer: withMethods(`is one of OpenTelemetry: ${EXAMPLE}`, "startSpan"),
  signals: option.flag,
  items: option.flag,
  queueTime: option.flag,
  sampleByAttributes: option.flag,
};

/** Throws a TypeError where the options are invalid. */
export function checkTraceOptions(options: TraceOptions): void {
  checkOptions(options, CHECKS, "a tracer", EXAMPLE);
  if (options.tracer === undefined) CHECKS.tracer(undefined, "tracer", "a tracer");
}
