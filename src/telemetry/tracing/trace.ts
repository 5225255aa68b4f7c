import {
  trace as api,
  type Context,
  context,
  INVALID_TRACEID,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
} from "@opentelemetry/api";
import {
  type HandlingOutcome,
  logOf,
  type ObservedHandling,
  type ObservedSending,
  type OnEnd,
  type System,
} from "../../index";
import {
  attributesOf,
  describe,
  ERROR_TYPE,
  errorTypeOf,
  ITEM,
  nameOf,
  OPERATION,
  OUTCOME,
  QUEUE_TIME,
  signalName,
} from "./attributes";
import { contextOf, handsOn, merged } from "./handing-on";
import { checkTraceOptions, type TraceOptions } from "./options";
import { contextIn, metadataWithout, Scope, scopeOf, senderIn } from "./scope";

/**
 * Makes a span of each message that an actor of the system handles, below the span of whoever sent it: another handler, code with an
 * active span, or another process (`traceparent`). The handler runs with its span active. A message whose `traceparent` says that it is not
 * sampled gets none. Names and attributes are those of OpenTelemetry's conventions for messaging, with the actor's address as destination.
 * An error is told by its kind, and nothing of a payload is. Install OpenTelemetry's context manager first: without it, a warning is logged, and
 * only messages are below each other. A tracer that throws is logged, and changes nothing. A system has one tracer at a time: each message would
 * have two spans otherwise. A provider may have several exporters.
 *
 * @returns a function that removes it, and ends the spans that are open.
 * @throws TypeError when the tracer is none, or an option is invalid; Error when the system is traced already.
 * @example
 * context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
 * const stop = trace(system, { tracer: provider.getTracer(SCOPE) });
 */
export function trace(system: System, options: TraceOptions): () => void {
  checkTraceOptions(options);
  if (traced.has(system)) throw new Error(TWICE);
  traced.add(system);
  if (!keepsContexts()) system.log.warn(NO_MANAGER);
  const tracing = new Tracing(options);
  const { queueTime = true } = options;
  const removeAround = system.around((handling, run) => tracing.observe(handling, run), { queueTime });
  const removeOnSend = system.onSend((sending) => tracing.send(sending));
  let isRemoved = false;
  return () => {
    if (isRemoved) return;
    isRemoved = true;
    traced.delete(system);
    removeAround();
    removeOnSend();
    tracing.end(system);
  };
}

/** The systems that have a tracer now. */
const traced = new WeakSet<System>();

const TWICE =
  "trace() has been called for this system, and each message would have two spans: call the function that it returned, to begin anew; for another exporter, give the provider of the tracer another span processor.";

const NO_MANAGER =
  "trace() found no context manager of OpenTelemetry, so handlers do not run with their spans active, and the spans of a database driver or of fetch are not below them: before trace(), call context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()), from @opentelemetry/context-async-hooks.";

/** False where no context manager is registered, or one that is not enabled: the API then drops each context in silence. */
function keepsContexts(): boolean {
  const probe = ROOT_CONTEXT.setValue(Symbol("envoi.probe"), true);
  return context.with(probe, () => context.active() === probe);
}

type Run = (onEnd?: OnEnd) => void;

const CONSUMER: SpanOptions = Object.freeze({ kind: SpanKind.CONSUMER });
const PRODUCER: SpanOptions = Object.freeze({ kind: SpanKind.PRODUCER });
const INTERNAL: SpanOptions = Object.freeze({ kind: SpanKind.INTERNAL });

class Tracing {
  readonly #options: TraceOptions;
  /** The spans of handlers that wait. */
  readonly #open = new Set<Span>();
  /** The last context of a user that something was sent in, and its scope. */
  #sender: Context = ROOT_CONTEXT;
  #senderScope: Scope | undefined;

  constructor(options: TraceOptions) {
    this.#options = options;
  }

  /** Runs a handler inside of its span. */
  observe(handling: ObservedHandling, run: Run): void {
    if (handling.kind === "pull") this.#pull(run);
    else this.#run(handling, run);
  }

  #run(handling: ObservedHandling, run: Run): void {
    let own: Context = ROOT_CONTEXT;
    let span: Span | undefined;
    let isRecording = false;
    try {
      const parent = contextIn(handling.metadata);
      own = parent;
      if (this.#isTraced(handling.kind, parent)) {
        span = this.#start(handling, parent);
        isRecording = span.isRecording();
        if (span.spanContext().traceId !== INVALID_TRACEID) own = Scope.below(parent, span, isRecording);
        if (isRecording) this.#describe(span, handling);
        if (handling.kind === "relay" && own instanceof Scope) handling.metadata = merged(handling.metadata, own);
      }
      if (own !== ROOT_CONTEXT) handling.handsOn = handsOn(handling, own);
    } catch (thrown) {
      log(handling, thrown);
    }
    if (isRecording && span !== undefined) this.#record(handling, own, span, run);
    else if (own === ROOT_CONTEXT) run();
    else this.#enter(own, handling, run, undefined);
    if (!isRecording && span !== undefined) end(handling, span);
  }

  /** False where nothing of a trace is recorded: no span is made at all. */
  #isTraced(kind: ObservedHandling["kind"], parent: Context): boolean {
    if (parent instanceof Scope && parent.isUnsampled) return false;
    return kind === "message" || kind === "relay" || this.#options.signals === true;
  }

  #start(handling: ObservedHandling, parent: Context): Span {
    const { tracer, sampleByAttributes } = this.#options;
    const { kind } = handling;
    if (kind !== "message" && kind !== "relay") return tracer.startSpan(signalName(handling), INTERNAL, parent);
    const verb = kind === "relay" ? "send" : "process";
    const options = kind === "relay" ? PRODUCER : CONSUMER;
    const name = nameOf(verb, handling);
    if (sampleByAttributes === true) {
      return tracer.startSpan(name, { ...options, attributes: attributesOf(verb, handling) }, parent);
    }
    return tracer.startSpan(name, options, parent);
  }

  #describe(span: Span, handling: ObservedHandling): void {
    const { kind, queueTime } = handling;
    if (kind !== "message" && kind !== "relay") span.setAttribute(OPERATION, handling.operation);
    else if (this.#options.sampleByAttributes !== true) describe(span, kind === "relay" ? "send" : "process", handling);
    if (queueTime !== undefined) span.setAttribute(QUEUE_TIME, queueTime);
  }

  /** Runs a handler whose span is recorded, which ends with it. */
  #record(handling: ObservedHandling, own: Context, span: Span, run: Run): void {
    let isOpen = true;
    this.#enter(own, handling, run, (outcome) => {
      isOpen = false;
      this.#end(handling, span, outcome);
    });
    if (isOpen) this.#open.add(span); // It waits.
  }

  #end(handling: ObservedHandling, span: Span, outcome: HandlingOutcome): void {
    this.#open.delete(span);
    try {
      if (!span.isRecording()) return; // The tracer was removed.
      tellOutcome(span, outcome);
    } catch (thrown) {
      log(handling, thrown);
    }
    end(handling, span);
  }

  #enter(own: Context, handling: ObservedHandling, run: Run, onEnd: OnEnd | undefined): void {
    try {
      if (onEnd === undefined) context.with(own, run);
      else context.with(own, run, undefined, onEnd);
    } catch (thrown) {
      log(handling, thrown);
      run(onEnd); // Throws where the context manager has called it.
    }
  }

  /** The producer of a stream makes an item, in the context of its handler. */
  #pull(run: Run): void {
    const span = this.#options.items === true ? api.getActiveSpan() : undefined;
    if (span?.isRecording() !== true) {
      run();
      return;
    }
    run((outcome) => {
      if (outcome.kind === "handled" && (outcome.result as IteratorResult<unknown>).done !== true) span.addEvent(ITEM);
    });
  }

  /** Gives a message the context of its sender. */
  send(sending: ObservedSending): void {
    const active = context.active();
    const { handling } = sending;
    const own = handling === undefined ? undefined : contextOf(handling);
    if (own === undefined && active === ROOT_CONTEXT) return;
    const scope = this.#scopeFor(active, own);
    const given = sending.metadata;
    const { traceparent } = given;
    if (scope === undefined) {
      const from = own ?? active;
      if (from !== ROOT_CONTEXT && traceparent === undefined && senderIn(given) !== from)
        sending.metadata = { ...given, ...metadataWithout(from) };
      return;
    }
    const sender = senderIn(given);
    if (sender === scope || (sender === undefined && scope.isWritten(traceparent))) return;
    if (traceparent !== undefined) {
      // Its sender has given it another parent, or it came from another process with one.
      const isHandedOn = own instanceof Scope && own.isWritten(traceparent);
      const isOwn =
        handling !== undefined
          ? isHandedOn || traceparent === handling.metadata["traceparent"]
          : isBelow(scope, traceparent);
      if (!isOwn) return;
    }
    sending.metadata = merged(given, scope);
  }

  /** The scope that something is sent in: the active one, or the handler's own where its code runs in the context of somebody else. */
  #scopeFor(active: Context, own: Context | undefined): Scope | undefined {
    if (active instanceof Scope && active === own) return active;
    if (active !== this.#sender) {
      this.#senderScope = scopeOf(active);
      this.#sender = active;
    }
    const scope = this.#senderScope;
    if (!(own instanceof Scope) || (scope !== undefined && scope.traceId === own.traceId)) return scope;
    return own;
  }

  /** Ends all that is open. */
  end(system: System): void {
    const open = [...this.#open];
    this.#open.clear();
    for (const span of open) {
      try {
        span.setAttribute(OUTCOME, "open");
        span.end();
      } catch (cause) {
        system.log.error("The tracer threw when it was removed.", { cause });
      }
    }
  }
}

const isBelow = ({ traceId }: Scope, traceparent: unknown): boolean =>
  typeof traceparent === "string" && traceparent.slice(3, 35) === traceId;

function tellOutcome(span: Span, outcome: HandlingOutcome): void {
  if (outcome.kind === "handled") return;
  span.setAttribute(OUTCOME, outcome.kind);
  if (outcome.kind !== "failed" && outcome.kind !== "abandoned") return;
  const type = outcome.kind === "failed" ? errorTypeOf(outcome.error) : outcome.kind;
  span.setAttribute(ERROR_TYPE, type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: type });
}

function end(handling: ObservedHandling, span: Span): void {
  try {
    span.end();
  } catch (thrown) {
    log(handling, thrown);
  }
}

function log({ ref, address }: ObservedHandling, cause: unknown): void {
  logOf(ref).error(`The tracer of ${address} threw.`, { address, cause });
}
