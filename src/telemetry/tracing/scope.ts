import {
  type Baggage,
  type Context,
  createTraceState,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  trace,
} from "@opentelemetry/api";
import { type Metadata, traceContext } from "../../index";
import { readBaggage, writeBaggage } from "./baggage";

// The contexts of OpenTelemetry that handlers run in, and the metadata that stand for one.

/** The key by which the API keeps something in a context. It does not export its keys. */
function keyOf(put: (into: Context) => Context): symbol {
  const keys: symbol[] = [];
  const probe: Context = {
    getValue: () => undefined,
    setValue: (key) => {
      keys.push(key);
      return probe;
    },
    deleteValue: () => probe,
  };
  put(probe);
  const [key] = keys;
  if (key === undefined) throw new Error("This version of @opentelemetry/api keeps nothing in contexts.");
  return key;
}

const NOTHING: SpanContext = { traceId: "", spanId: "", traceFlags: 0 };
const SPAN = keyOf((context) => trace.setSpanContext(context, NOTHING));
const BAGGAGE = keyOf((context) => propagation.setBaggage(context, propagation.createBaggage()));

/** In metadata within the process: the context of the sender. No name of a stranger's metadata can be it, and JSON leaves it out. */
const SENDER = Symbol("envoi.sender");

const SAMPLED = 1;

/**
 * A context with a span. One of the API copies all values of its parent into a map, which takes 65 ns; this one takes 10, and keeps no scope
 * of an earlier message alive.
 */
export class Scope implements Context {
  readonly span: Span;
  /** All other values. Never a scope. */
  readonly base: Context;
  /** The text of the baggage, while nobody has read it; undefined where the base has it. */
  readonly #baggage: string | undefined;
  #read: Baggage | undefined;
  #traceparent: string | undefined;
  #metadata: Metadata | undefined;

  constructor(base: Context, span: Span, baggage?: string, traceparent?: string) {
    this.base = base;
    this.span = span;
    this.#baggage = baggage;
    this.#traceparent = traceparent;
  }

  getValue(key: symbol): unknown {
    if (key === SPAN) return this.span;
    if (key !== BAGGAGE || this.#baggage === undefined) return this.base.getValue(key);
    this.#read ??= readBaggage(this.#baggage);
    return this.#read;
  }

  setValue(key: symbol, value: unknown): Context {
    if (key === SPAN) return this.with(value as Span); // The API puts nothing else there.
    return new Scope(this.base.setValue(key, value), this.span, key === BAGGAGE ? undefined : this.#baggage);
  }

  deleteValue(key: symbol): Context {
    if (key === SPAN) {
      const baggage = this.getValue(BAGGAGE);
      return baggage === undefined ? this.base : this.base.setValue(BAGGAGE, baggage);
    }
    return new Scope(this.base.deleteValue(key), this.span, key === BAGGAGE ? undefined : this.#baggage);
  }

  /** The same with another span. */
  with(span: Span): Scope {
    return new Scope(this.base, span, this.#baggage);
  }

  /** True when its text is known already, and is this one. */
  isWritten(traceparent: unknown): boolean {
    return this.#traceparent !== undefined && this.#traceparent === traceparent;
  }

  get traceparent(): string {
    this.#traceparent ??= textOf(this.span.spanContext());
    return this.#traceparent;
  }

  /** True where its span says that nothing of this trace is recorded. */
  get isUnsampled(): boolean {
    const { span } = this;
    return (span.spanContext().traceFlags & SAMPLED) === 0 && !span.isRecording();
  }

  /** The metadata that carry it, made when the first message is sent in it. */
  get metadata(): Metadata {
    this.#metadata ??= metadataFor(this, this.traceparent, this.#baggage ?? baggageIn(this.base));
    return this.#metadata;
  }
}

const textOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags < 16 ? "0" : ""}${traceFlags.toString(16)}`;

function baggageIn(context: Context): string | undefined {
  const baggage = context === ROOT_CONTEXT ? undefined : propagation.getBaggage(context);
  return baggage === undefined ? undefined : writeBaggage(baggage) || undefined;
}

function metadataFor(scope: Scope, traceparent: string, baggage: string | undefined): Metadata {
  const tracestate = scope.span.spanContext().traceState?.serialize();
  const hasState = tracestate !== undefined && tracestate !== "";
  if (!hasState && baggage === undefined) return { traceparent, [SENDER]: scope };
  return { traceparent, ...(hasState && { tracestate }), ...(baggage !== undefined && { baggage }), [SENDER]: scope };
}

/** The scope of a context that may be a user's own; undefined where it has no span. */
export function scopeOf(context: Context): Scope | undefined {
  if (context instanceof Scope) return context;
  const span = context === ROOT_CONTEXT ? undefined : trace.getSpan(context);
  return span !== undefined && isSpanContextValid(span.spanContext()) ? new Scope(context, span) : undefined;
}

/** The context of the sender in the same process that metadata carry, if they do. Their type has names alone. */
export const senderIn = (metadata: Metadata): Context | undefined =>
  metadata[SENDER as unknown as string] as Context | undefined; // Nobody else has the key.

/** The context that a message's metadata stand for: that of its sender, one of another process, or none. */
export function contextIn(metadata: Metadata): Context {
  const { traceparent, baggage } = metadata;
  const sender = senderIn(metadata);
  // A handler may have copied metadata, and given them another parent.
  if (sender !== undefined && traceparent === (sender instanceof Scope ? sender.traceparent : undefined)) return sender;
  if (traceparent !== undefined) return remoteScope(traceparent, metadata["tracestate"], baggage) ?? baggageOf(baggage);
  return baggage === undefined ? ROOT_CONTEXT : baggageOf(baggage);
}

/** Metadata for a context without a span, such as one in which tracing is suppressed. */
export function metadataWithout(context: Context): Metadata {
  const baggage = baggageIn(context);
  return { ...(baggage !== undefined && { baggage }), [SENDER]: context };
}

function baggageOf(text: unknown): Context {
  const baggage = typeof text === "string" ? readBaggage(text) : undefined;
  return baggage === undefined ? ROOT_CONTEXT : propagation.setBaggage(ROOT_CONTEXT, baggage);
}

/** The last one that was made: messages of one trace come in rows. */
let last: { traceparent: string; tracestate: unknown; baggage: unknown; scope: Scope } | undefined;

/** The scope of a span in another process, by the rules of W3C Trace Context; undefined where the texts are not well formed. */
function remoteScope(traceparent: unknown, tracestate: unknown, baggage: unknown): Scope | undefined {
  if (typeof traceparent !== "string") return undefined;
  if (last?.traceparent === traceparent && last.tracestate === tracestate && last.baggage === baggage)
    return last.scope;
  const read = traceContext(traceparent, tracestate);
  if (read === undefined) return undefined;
  const spanContext: SpanContext = {
    traceId: read.traceparent.slice(3, 35),
    spanId: read.traceparent.slice(36, 52),
    traceFlags: Number.parseInt(read.traceparent.slice(53), 16),
    isRemote: true,
    ...(read.tracestate !== undefined && { traceState: createTraceState(read.tracestate) }),
  };
  const text = typeof baggage === "string" ? baggage : undefined;
  const scope = new Scope(ROOT_CONTEXT, trace.wrapSpanContext(spanContext), text, read.traceparent);
  last = { traceparent, tracestate, baggage, scope };
  return scope;
}
