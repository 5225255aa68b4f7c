import type { Tracer } from "@opentelemetry/api";
import { quote } from "../../index";

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

const FLAGS = ["signals", "items", "queueTime", "sampleByAttributes"] as const;

/** Throws a TypeError where the options are invalid. */
export function checkTraceOptions(options: TraceOptions): void {
  const example = "trace(system, { tracer: provider.getTracer(SCOPE) })";
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`The options of a tracer are an object: ${example}; got ${quote(options)}.`);
  }
  if (typeof options.tracer?.startSpan !== "function") {
    throw new TypeError(`tracer is one of OpenTelemetry: ${example}; got ${quote(options.tracer)}.`);
  }
  for (const flag of FLAGS) {
    if (options[flag] !== undefined && typeof options[flag] !== "boolean") {
      throw new TypeError(`${flag} is true or false; got ${quote(options[flag])}.`);
    }
  }
  const unknown = Object.keys(options).find((key) => key !== "tracer" && !(FLAGS as readonly string[]).includes(key));
  if (unknown !== undefined) {
    throw new TypeError(`A tracer has no option ${quote(unknown)}; it has tracer, ${FLAGS.join(", ")}.`);
  }
}
