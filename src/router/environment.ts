import type { ActorEnvironment } from "../actor/cell/cell";
import { Directory } from "../actor/cell/directory";
import type { Handled } from "../actor/contract";
import { Events, type Logger } from "../actor/events";
import { ENGINE } from "../actor/face/engine";
import { checkSupervision, policyOf, type Supervision } from "../actor/supervision";
import { quote } from "../message/address";
import { sentenceOf } from "../message/delivery-error";
import { type Clock, systemClock } from "../runtime/clock";
import { captureContext, type Enter } from "../runtime/contexts";
import { type Dispatcher, type DispatcherParts, FairDispatcher } from "../runtime/dispatcher";
import { LogLimit } from "../runtime/log-limit";
import { Settling } from "../runtime/settling";
import { hearRejection } from "../runtime/thenable";
import { TimerWheel } from "../runtime/timer-wheel";
import { DeadLetters } from "./dead-letters";

/** What a router or a system may be told; all of it may be left out. */
export interface SystemOptions {
  /** What its log lines begin with. Default: `"envoi"`. */
  readonly name?: string;
  /** Where envoi writes what nobody handled. Default: `console`. */
  readonly logger?: Logger;
  /** Where time comes from. Default: the machine's clock; `envoi/testing` has one that tests move. */
  readonly clock?: Clock;
  /**
   * Which payloads are checked against their schema: `"boundary"`, those of messages that came through `parseMessage` or
   * `receive`; or `"always"`, all of them and the replies too, for development. Default: `"boundary"`. `"always"` suits schemas whose
   * output fits their input again: one that transforms, such as `z.string().transform(Number)`, refuses what is sent from
   * within, which is its output.
   */
  readonly validate?: "boundary" | "always";
  /**
   * In which `AsyncLocalStorage` context a handler runs (P16): `"system"`, the one in which the system was made; or `"sender"`,
   * that of who sent the message, captured when it is sent. Factories, hooks, timers, watches, `onAbort` callbacks, subscribers,
   * `decide` and the logger run in the system's in both cases; an interceptor runs in that of who sent. A `priority`, a pool's
   * `key` and a schema may be called in any. Default: `"system"`.
   */
  readonly asyncContext?: "system" | "sender";
  /** How long an ask waits when it does not say, in milliseconds, or `Infinity`. Default: 5,000. */
  readonly askTimeout?: number;
  /**
   * How long a hook (`onStart`, `onRestart`, `onStop`) may take before it has failed, and how long a restart waits for
   * handlers that still run to end, and for the children to stop, before it abandons them; in milliseconds, or
   * `Infinity`. Default: 5,000.
   */
  readonly hookTimeout?: number;
  /**
   * After how many milliseconds a handler that still runs, or has blocked the event loop, is told as a `slow-handler` event. A
   * watch on every message costs time, so the default is none: `Infinity`.
   */
  readonly slowHandler?: number;
  /** How often one message may be forwarded (`ctx.forward`), a whole number from 1. Default: 64. */
  readonly maxHops?: number;
  /** What becomes of actors that fail, where their parent has no supervision of its own. Default: each restarts; beyond 5 times in 10 s, one without a parent is held back, and the failure of a child escalates. */
  readonly supervision?: Supervision;
  /** Where the jitter of a backoff comes from: a number from 0 up to 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** Decides which actor runs next. Default: in turn, with the event loop served after about a millisecond. Made for tests that try other orders. */
  readonly dispatcher?: (parts: DispatcherParts) => Dispatcher;
  /**
   * Sees each message before its handler does, and what it throws is thrown by that handler: made for tests that inject
   * faults, and for tracing. Default: none, at no cost.
   */
  readonly beforeHandle?: (handled: Handled) => void;
}

const OPTIONS = new Set<string>([
  "name",
  "logger",
  "clock",
  "validate",
  "askTimeout",
  "asyncContext",
  "hookTimeout",
  "slowHandler",
  "maxHops",
  "supervision",
  "random",
  "dispatcher",
  "beforeHandle",
] satisfies (keyof SystemOptions)[]);

/** Makes what the actors of one system share. */
export function createEnvironment(options: SystemOptions): { environment: ActorEnvironment; deadLetters: DeadLetters } {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`The options of a system are an object, such as { askTimeout: 500 }; got ${quote(options)}.`);
  }
  for (const key of Object.keys(options)) {
    if (!OPTIONS.has(key)) throw new TypeError(`There is no option "${key}"; write one of ${[...OPTIONS].join(", ")}.`);
  }
  const { name = "envoi", clock = systemClock, validate = "boundary", askTimeout = 5_000 } = options;
  if (validate !== "boundary" && validate !== "always") {
    throw new TypeError(`validate is "boundary" or "always"; got ${quote(validate)}.`);
  }
  const { asyncContext = "system" } = options;
  if (asyncContext !== "system" && asyncContext !== "sender") {
    throw new TypeError(`asyncContext is "system" or "sender"; got ${quote(asyncContext)}.`);
  }
  checkMilliseconds("askTimeout", askTimeout);
  const { hookTimeout = 5_000, slowHandler = Number.POSITIVE_INFINITY, maxHops = 64, supervision = {} } = options;
  checkMilliseconds("hookTimeout", hookTimeout);
  checkMilliseconds("slowHandler", slowHandler);
  if (!(Number.isInteger(maxHops) && maxHops >= 1)) {
    throw new RangeError(`maxHops is a whole number from 1; got ${quote(maxHops)}.`);
  }
  checkSupervision(supervision, "the system");
  for (const key of ["random", "dispatcher", "beforeHandle"] as const) {
    if (options[key] === undefined || typeof options[key] === "function") continue;
    throw new TypeError(`${key} is a function; got ${quote(options[key])}.`);
  }
  if (options.logger !== undefined) checkMethods("logger", options.logger, ["warn", "error"]);
  checkMethods("clock", clock, ["wallTime", "monotonicTime", "setTimer", "microtask", "macrotask"]);
  if (typeof name !== "string" || name === "")
    throw new TypeError(`The name of a system is a text; got ${quote(name)}.`);
  const enter = captureContext();
  const logger = guarded(name, options.logger ?? console, enter);
  const timers = new TimerWheel(clock);
  const afterTurn = (): void => timers.placeStaged();
  const dispatcher = options.dispatcher?.({ clock, afterTurn }) ?? new FairDispatcher(clock, afterTurn);
  checkMethods("dispatcher", dispatcher, ["schedule", "spend"]);
  const settling = new Settling(dispatcher);
  const deadLetters = new DeadLetters(clock, logger, settling, enter);
  const events = new Events(clock, logger, settling, enter);
  const beforeHandle = options.beforeHandle ?? null;
  const environment: ActorEnvironment = {
    enter,
    looksAtEach: validate === "always" || asyncContext === "sender",
    captureSender: asyncContext === "sender" ? captureContext : null,
    clock,
    timers,
    dispatcher,
    settling,
    directory: new Directory(),
    counts: { accepted: 0, handled: 0, failed: 0, dead: 0 },
    logger,
    logLimit: new LogLimit(clock, (count) => logger.error(`${count} more errors of these kinds in this second.`)),
    askTimeout,
    validatesAlways: validate === "always",
    hookTimeout,
    slowHandler,
    maxHops,
    random: options.random ?? Math.random,
    policy: policyOf(supervision),
    events,
    beforeHandle,
    isObserved:
      validate === "always" ||
      asyncContext === "sender" ||
      beforeHandle !== null ||
      slowHandler !== Number.POSITIVE_INFINITY,
    engine: ENGINE,
    isClosed: false,
    deadLetter(letter, isPlanned) {
      deadLetters.deadLetter(letter, isPlanned);
      if (events.hasSubscribers) events.publish({ kind: "dead-letter", address: letter.address, letter });
    },
  };
  return { environment, deadLetters };
}

/** Writes the system's name first. A logger that throws must not end the turn of the actors behind the one that it was told of. */
function guarded(name: string, logger: Logger, enter: Enter): Logger {
  const call = (level: "warn" | "error", sentence: string, details?: object): void => {
    const message = `${name}: ${sentence}`;
    const tellOf = (thrown: unknown): void => {
      try {
        console.error(`${message} (and the logger threw: ${sentenceOf(thrown)})`);
      } catch {
        // Nobody is left to tell, and the actors behind this one go on.
      }
    };
    try {
      const returned: unknown = details === undefined ? logger[level](message) : logger[level](message, details);
      hearRejection(returned, tellOf);
    } catch (thrown) {
      tellOf(thrown);
    }
  };
  return {
    warn: (message, details) => enter(call, "warn", message, details),
    error: (message, details) => enter(call, "error", message, details),
  };
}

function checkMilliseconds(what: string, value: unknown): void {
  if (typeof value === "number" && value > 0) return;
  throw new RangeError(`${what} is a number of milliseconds above 0, or Infinity; got ${quote(value)}.`);
}

function checkMethods(what: string, of: unknown, methods: readonly string[]): void {
  for (const method of methods) {
    if (typeof (of as Record<string, unknown> | null)?.[method] !== "function") {
      throw new TypeError(
        `The ${what} of a system has the methods ${methods.join(", ")}; this one has no ${method}().`,
      );
    }
  }
}
