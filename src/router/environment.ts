import type { ActorEnvironment } from "../actor/cell/cell";
import { Directory } from "../actor/cell/directory";
import { Events, type Logger } from "../actor/events";
import { ENGINE } from "../actor/face/engine";
import { followObservers } from "../actor/life/observed";
import { type MetricsOptions, metersOf } from "../actor/metrics";
import { Observers } from "../actor/observers";
import { checkSupervision, policyOf, type Supervision } from "../actor/supervision";
import { checkOptions, type OptionChecks, option } from "../message/option";
import { sentenceOf } from "../message/sentence-of";
import { type Clock, systemClock } from "../runtime/clock";
import { captureContext, type Enter } from "../runtime/contexts";
import { type Dispatcher, type DispatcherParts, FairDispatcher } from "../runtime/dispatcher";
import { LogLimit } from "../runtime/log-limit";
import { Settling } from "../runtime/settling";
import { hearRejection } from "../runtime/thenable";
import { TimerWheel } from "../runtime/timer-wheel";
import { CONSOLE_LOG } from "./console-log";
import { DeadLetters } from "./dead-letters";

/** The options of a router or a system. All are optional. */
export interface SystemOptions {
  /** The beginning of each log line. Default: `"envoi"`. */
  readonly name?: string;
  /** Gets the warnings and errors that nobody handled. Default: the console, one line for each, and at most one stack below it. */
  readonly logger?: Logger;
  /** The source of time. Default: the machine's clock; `envoi/testing` has one that tests move. */
  readonly clock?: Clock;
  /**
   * The payloads that are checked against their schema: `"boundary"`, those of messages that came through `parseMessage` or
   * `receive`; or `"always"`, all payloads and replies, for development. Default: `"boundary"`. `"always"` suits schemas whose
   * output fits their input again. One that transforms, such as `z.string().transform(Number)`, refuses messages from within:
   * their payload is its output.
   */
  readonly validate?: "boundary" | "always";
  /**
   * The `AsyncLocalStorage` context in which a handler runs (P16): `"system"`, the one in which the system was made; or
   * `"sender"`, the sender's, captured when the message is sent. Factories, hooks, timers, watches, `onAbort` callbacks,
   * subscribers, `decide` and the logger always run in the system's. An interceptor always runs in the sender's. A `priority`, a
   * pool's `key` and a schema may be called in any. Default: `"system"`.
   */
  readonly asyncContext?: "system" | "sender";
  /**
   * True to count the messages of each operation, and to time one in 16 of them; or how many to time. `system.metrics()` tells.
   * Counting costs some 3 ns a message, and timing some 15 more on average. Default: false, at no cost.
   */
  readonly metrics?: boolean | MetricsOptions;
  /** Timeout of an ask without one of its own, in milliseconds, or `Infinity`. Default: 5,000. */
  readonly askTimeout?: number;
  /**
   * Timeout of a hook (`onStart`, `onRestart`, `onStop`), which then has failed. Also the time that a restart waits for
   * running handlers to end, and for the children to stop, before it abandons them, and that of the function that
   * opens an address (`system.resolve`). In milliseconds, or `Infinity`.
   * Default: 5,000.
   */
  readonly hookTimeout?: number;
  /**
   * Milliseconds after which a handler that still runs, or has blocked the event loop, gives a `slow-handler` event. It times
   * every message, which costs time. Default: `Infinity`, no such events.
   */
  readonly slowHandler?: number;
  /** Most times that one message may be forwarded (`ctx.forward`), a whole number from 1. Default: 64. */
  readonly maxHops?: number;
  /**
   * The metadata that a handler hands on with what it sends through `ctx`, by name, unless a call sets them itself.
   * Default: those of a trace context, `["traceparent", "tracestate", "baggage"]`.
   */
  readonly inheritedMetadata?: readonly string[];
  /**
   * The supervision of actors whose parent has none of its own. Default: an actor that fails restarts. Beyond 5 times in 10 s, one
   * without a parent is held back, and the failure of a child escalates.
   */
  readonly supervision?: Supervision;
  /** The source of a backoff's jitter: gives a number from 0 up to 1. Default: `Math.random`. */
  readonly random?: () => number;
  /**
   * Decides which actor runs next. Made for tests that try other orders. Default: in turn, with the event loop served after about
   * a millisecond.
   */
  readonly dispatcher?: (parts: DispatcherParts) => Dispatcher;
}

/** W3C Trace Context, and W3C Baggage. */
const TRACE_CONTEXT: readonly string[] = ["traceparent", "tracestate", "baggage"];

const CHECKS: OptionChecks<SystemOptions> = {
  name: option.text,
  logger: option.methods("warn", "error"),
  clock: option.methods("wallTime", "monotonicTime", "setTimer", "microtask", "macrotask"),
  validate: option.oneOf("boundary", "always"),
  metrics: option.any, // The meters look at it.
  askTimeout: option.duration,
  asyncContext: option.oneOf("system", "sender"),
  hookTimeout: option.duration,
  slowHandler: option.duration,
  maxHops: option.count,
  inheritedMetadata: option.rule(
    'is an array of names, such as ["traceparent"]',
    (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  ),
  supervision: checkSupervision,
  random: option.function(),
  dispatcher: option.function(),
};

/** Makes the parts that the actors of one system share. */
export function createEnvironment(options: SystemOptions): { environment: ActorEnvironment; deadLetters: DeadLetters } {
  checkOptions(options, CHECKS, "a system", "{ askTimeout: 500 }");
  const { name = "envoi", clock = systemClock } = options;
  const enter = captureContext();
  const logger = guarded(name, options.logger ?? CONSOLE_LOG, enter);
  const timers = new TimerWheel(clock);
  const afterTurn = (): void => timers.placeStaged();
  const dispatcher = options.dispatcher?.({ clock, afterTurn }) ?? new FairDispatcher(clock, afterTurn);
  option.methods("schedule", "spend")(dispatcher, "dispatcher", "a system");
  const settling = new Settling(dispatcher);
  const deadLetters = new DeadLetters(clock, logger, settling, enter);
  const events = new Events(clock, logger, settling, enter);
  const environment: ActorEnvironment = {
    enter,
    looksAtEach: false,
    captureSender: options.asyncContext === "sender" ? captureContext : null,
    clock,
    timers,
    dispatcher,
    settling,
    directory: new Directory(),
    resolvers: null,
    counts: { accepted: 0, handled: 0, failed: 0, dead: 0, sent: 0, restarts: 0 },
    logger,
    logLimit: new LogLimit(clock, (count) => logger.error(`${count} more errors of these kinds in this second.`)),
    askTimeout: options.askTimeout ?? 5_000,
    validatesAlways: options.validate === "always",
    hookTimeout: options.hookTimeout ?? 5_000,
    slowHandler: options.slowHandler ?? Number.POSITIVE_INFINITY,
    maxHops: options.maxHops ?? 64,
    inheritedMetadata: [...(options.inheritedMetadata ?? TRACE_CONTEXT)],
    random: options.random ?? Math.random,
    policy: policyOf(options.supervision ?? {}),
    events,
    observers: new Observers(),
    meters: metersOf(options.metrics ?? false, clock),
    isObserved: false,
    engine: ENGINE,
    isClosed: false,
    get hearsDeadLetters() {
      return deadLetters.hasSubscribers || events.hasSubscribers;
    },
    deadLetter(letter, isPlanned) {
      deadLetters.deadLetter(letter, isPlanned);
      if (events.hasSubscribers) events.publish({ kind: "dead-letter", address: letter.address, letter });
    },
  };
  environment.observers.onChange = () => followObservers(environment);
  followObservers(environment);
  return { environment, deadLetters };
}

/** Puts the system's name before each line. A logger that throws must not end the turn of the actors that come next. */
function guarded(name: string, logger: Logger, enter: Enter): Logger {
  const call = (level: "warn" | "error", sentence: string, details?: object): void => {
    const message = `${name}: ${sentence}`;
    const tellOf = (thrown: unknown): void => {
      try {
        console.error(`${message} (and the logger threw: ${sentenceOf(thrown)})`);
      } catch {
        // Nobody is left to tell, and the next actors go on.
      }
    };
    try {
      const returned: unknown = details === undefined ? logger[level](message) : logger[level](message, details);
      hearRejection(returned, tellOf);
    } catch (thrown) {
      tellOf(thrown);
    }
  };
  const all = (details?: object): object | undefined => {
    try {
      return logger.context === undefined ? details : { ...logger.context(), ...details };
    } catch {
      return details; // The line matters more.
    }
  };
  return {
    warn: (message, details) => enter(call, "warn", message, all(details)),
    error: (message, details) => enter(call, "error", message, all(details)),
  };
}
