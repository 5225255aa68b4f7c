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
  /** All other values. Never a scope. */
  readonly base: Context;
  /** True where nothing of its trace is recorded: what is below it gets no span. */
  readonly isUnsampled: boolean;
  /** Null until somebody reads the span of another process. */
  private made: Span | null;
  /** The text of the span; that of one in another process is known, others are written when something is sent. */
  private text: string | undefined;
  /** The text of the state of a span in another process. */
  private readonly state: unknown;
  /** The text of the baggage; undefined where the base has it. */
  private readonly baggage: string | undefined;
  private readBaggage: Baggage | undefined;
  private carrier: Metadata | undefined;

  private constructor(
    base: Context,
    isUnsampled: boolean,
    made: Span | null,
    text: string | undefined,
    state: unknown,
    baggage: string | undefined,
  ) {
    this.base = base;
    this.isUnsampled = isUnsampled;
    this.made = made;
    this.text = text;
    this.state = state;
    this.baggage = baggage;
    this.readBaggage = undefined;
    this.carrier = undefined;
  }

  /** That of a span in another process, whose text is well formed and of version 00. Its parts are made when somebody reads them. */
  static remote(text: string, state: unknown, baggage: unknown): Scope {
    const isUnsampled = (text.charCodeAt(54) & SAMPLED) === 0; // Digits "0" to "3" have their last bit as in their code.
    return new Scope(ROOT_CONTEXT, isUnsampled, null, text, state, typeof baggage === "string" ? baggage : undefined);
  }

  /** That of a span whose parent is a context. */
  static below(parent: Context, span: Span, isRecording: boolean): Scope {
    const isUnsampled = !isRecording && (span.spanContext().traceFlags & SAMPLED) === 0;
    return parent instanceof Scope
      ? new Scope(parent.base, isUnsampled, span, undefined, undefined, parent.baggage)
      : new Scope(parent, isUnsampled, span, undefined, undefined, undefined);
  }

  get span(): Span {
    this.made ??= trace.wrapSpanContext(remoteSpan(this.traceparent, this.state));
    return this.made;
  }

  getValue(key: symbol): unknown {
    if (key === SPAN) return this.span;
    if (key !== BAGGAGE || this.baggage === undefined) return this.base.getValue(key);
    this.readBaggage ??= readBaggage(this.baggage);
    return this.readBaggage;
  }

  setValue(key: symbol, value: unknown): Context {
    if (key === SPAN) {
      const span = value as Span; // The API puts nothing else there.
      return Scope.below(this, span, span.isRecording());
    }
    return this.on(this.base.setValue(key, value), key);
  }

  deleteValue(key: symbol): Context {
    if (key !== SPAN) return this.on(this.base.deleteValue(key), key);
    const baggage = this.getValue(BAGGAGE);
    return baggage === undefined ? this.base : this.base.setValue(BAGGAGE, baggage);
  }

  private on(base: Context, changed: symbol): Scope {
    const baggage = changed === BAGGAGE ? undefined : this.baggage;
    return new Scope(base, this.isUnsampled, this.span, this.text, this.state, baggage);
  }

  /** True when its text is known already, and is this one. */
  isWritten(traceparent: unknown): boolean {
    return this.text !== undefined && this.text === traceparent;
  }

  get traceparent(): string {
    this.text ??= textOf(this.span.spanContext());
    return this.text;
  }

  get traceId(): string {
    return this.made === null ? this.traceparent.slice(3, 35) : this.made.spanContext().traceId;
  }

  /** The metadata that carry it, made when the first message is sent in it. */
  get metadata(): Metadata {
    this.carrier ??= Object.freeze(metadataFor(this, this.baggage ?? baggageIn(this.base)));
    return this.carrier;
  }

  /** Short: it stands in metadata that are logged. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Scope(${this.traceparent})`;
  }
}

function remoteSpan(traceparent: string, state: unknown): SpanContext {
  const parts = {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    traceFlags: Number.parseInt(traceparent.slice(53), 16),
    isRemote: true,
  };
  const text = state === undefined ? undefined : traceContext(traceparent, state)?.tracestate;
  return text === undefined ? parts : { ...parts, traceState: createTraceState(text) };
}

const textOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags < 16 ? "0" : ""}${traceFlags.toString(16)}`;

function baggageIn(context: Context): string | undefined {
  const baggage = context === ROOT_CONTEXT ? undefined : propagation.getBaggage(context);
  return baggage === undefined ? undefined : writeBaggage(baggage) || undefined;
}

function metadataFor(scope: Scope, baggage: string | undefined): Metadata {
  const { traceparent } = scope;
  const tracestate = scope.span.spanContext().traceState?.serialize();
  const hasState = tracestate !== undefined && tracestate !== "";
  if (!hasState && baggage === undefined) return { traceparent, [SENDER]: scope };
  return { traceparent, ...(hasState && { tracestate }), ...(baggage !== undefined && { baggage }), [SENDER]: scope };
}

/** The scope of a context that may be a user's own; undefined where it has no span. */
export function scopeOf(context: Context): Scope | undefined {
  if (context instanceof Scope) return context;
  const span = context === ROOT_CONTEXT ? undefined : trace.getSpan(context);
  const isSpan = span !== undefined && isSpanContextValid(span.spanContext());
  return isSpan ? Scope.below(context, span, span.isRecording()) : undefined;
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
let last: Scope | undefined;
let [lastText, lastState, lastBaggage]: unknown[] = [];

/** The scope of a span in another process, by the rules of W3C Trace Context; undefined where the text is not well formed. */
function remoteScope(text: unknown, state: unknown, baggage: unknown): Scope | undefined {
  if (last !== undefined && text === lastText && state === lastState && baggage === lastBaggage) return last;
  if (typeof text !== "string") return undefined;
  const traceparent = isCanonical(text) ? text : traceContext(text, undefined)?.traceparent;
  if (traceparent === undefined) return undefined;
  last = Scope.remote(traceparent, state, baggage);
  lastText = text;
  lastState = state;
  lastBaggage = baggage;
  return last;
}

/** By the code of a character: 0 for "0", 1 for any other digit in hex in lower case, and 2 for all else. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => "0123456789abcdef".indexOf(String.fromCharCode(code))).map(
  (value) => (value === 255 ? 2 : Math.min(value, 1)),
);

/** True for a text of version 00 that says of its flags whether it is sampled, and nothing else. Most are. A pattern took 30 ns more. */
function isCanonical(text: string): boolean {
  if (text.length !== 55 || !text.startsWith("00-")) return false;
  if (text.charCodeAt(35) !== DASH || text.charCodeAt(52) !== DASH || text.charCodeAt(53) !== ZERO) return false;
  return (text.charCodeAt(54) & ~SAMPLED) === ZERO && isId(text, 3, 35) && isId(text, 36, 52);
}

const [DASH, ZERO] = [45, 48];

/** True for digits in hex, in lower case, that are not all zero. Four at a time: one by one took 25 ns more. */
function isId(text: string, start: number, end: number): boolean {
  let seen = 0;
  for (let at = start; at < end; at += 4)
    seen |= digit(text, at) | digit(text, at + 1) | digit(text, at + 2) | digit(text, at + 3);
  return seen === 1;
}

const digit = (text: string, at: number): number => DIGITS[text.charCodeAt(at)] ?? 2;
