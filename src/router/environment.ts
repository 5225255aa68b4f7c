import type { Environment, Logger } from "../actor/environment";
import { quote } from "../message/address";
import { sentenceOf } from "../message/delivery-error";
import { type Clock, systemClock } from "../runtime/clock";
import { FairDispatcher } from "../runtime/dispatcher";
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
   * Which payloads are checked against their schema: `"boundary"`, those of messages that `parseMessage` read; or
   * `"always"`, all of them and the replies too, for development. Default: `"boundary"`. `"always"` suits schemas whose
   * output fits their input again: one that transforms, such as `z.string().transform(Number)`, refuses what is sent from
   * within, which is its output.
   */
  readonly validate?: "boundary" | "always";
  /** How long an ask waits when it does not say, in milliseconds, or `Infinity`. Default: 5,000. */
  readonly askTimeout?: number;
}

const OPTIONS = new Set<string>([
  "name",
  "logger",
  "clock",
  "validate",
  "askTimeout",
] satisfies (keyof SystemOptions)[]);

/** Makes what the actors of one system share. */
export function createEnvironment(options: SystemOptions): { environment: Environment; deadLetters: DeadLetters } {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`The options of a system are an object, such as { askTimeout: 500 }; got ${quote(options)}.`);
  }
  for (const key of Object.keys(options)) {
    if (!OPTIONS.has(key)) throw new TypeError(`There is no option "${key}"; write one of ${[...OPTIONS].join(", ")}.`);
  }
  const { name = "envoi", clock = systemClock, validate = "boundary", askTimeout = 5_000 } = options;
  if (validate !== "boundary" && validate !== "always") {
    throw new TypeError(`validate is "boundary" or "always"; got ${String(validate)}.`);
  }
  if (typeof askTimeout !== "number" || !(askTimeout > 0)) {
    throw new RangeError(`askTimeout is a number of milliseconds above 0, or Infinity; got ${String(askTimeout)}.`);
  }
  if (options.logger !== undefined) checkMethods("logger", options.logger, ["warn", "error"]);
  checkMethods("clock", clock, ["wallTime", "monotonicTime", "setTimer", "microtask", "macrotask"]);
  if (typeof name !== "string" || name === "")
    throw new TypeError(`The name of a system is a text; got ${String(name)}.`);
  const logger = guarded(name, options.logger ?? console);
  const timers = new TimerWheel(clock);
  const deadLetters = new DeadLetters(clock, logger);
  const environment: Environment = {
    clock,
    timers,
    dispatcher: new FairDispatcher(clock, () => timers.placeStaged()),
    cells: new Map(),
    counts: { accepted: 0, handled: 0, failed: 0, dead: 0 },
    logger,
    askTimeout,
    validatesAlways: validate === "always",
    isClosed: false,
    bury: (letter) => deadLetters.bury(letter),
  };
  return { environment, deadLetters };
}

/** Writes the system's name first. A logger that throws must not end the turn of the actors behind the one that it was told of. */
function guarded(name: string, logger: Logger): Logger {
  const call = (level: "warn" | "error", sentence: string, details?: object): void => {
    const message = `${name}: ${sentence}`;
    try {
      if (details === undefined) logger[level](message);
      else logger[level](message, details);
    } catch (thrown) {
      try {
        console.error(`${message} (and the logger threw: ${sentenceOf(thrown)})`);
      } catch {
        // Nobody is left to tell, and the actors behind this one go on.
      }
    }
  };
  return {
    warn: (message, details) => call("warn", message, details),
    error: (message, details) => call("error", message, details),
  };
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
