import { type Clock, checkOptions, type Logger, type OptionChecks, option, systemClock } from "../index";
import { withMethods } from "./checks";
import { fieldsOfFailure, logFields } from "./handling-fields";
import { type LoggedError, loggedError, pinoError } from "./log-error";

/** A logger for `createSystem({ logger })` and for handlers, with all levels. The sentence comes first, then the details. */
export interface SystemLogger extends Logger {
  debug(message: string, details?: object): void;
  info(message: string, details?: object): void;
  context(): object;
}

type Level = "debug" | "info" | "warn" | "error";
const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

/** The part of pino that is used: the details first, then the sentence. */
export interface PinoLike {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Details of a line, with the error apart. */
interface Line {
  readonly fields: object;
  readonly details: Readonly<Record<string, unknown>>;
  readonly err: LoggedError | undefined;
}

/** The parts of a line in their order: which handler and trace, then the details, then the error. */
function lineOf(given: object | null = {}): Line {
  const { cause, err, actor, operation, trace_id, span_id, trace_flags, ...details } = ownOf(given);
  const error = err ?? cause;
  const own = { actor, operation, trace_id, span_id, trace_flags };
  const known = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const fields = { ...logFields(), ...fieldsOfFailure(error), ...known };
  if ("actor" in fields && details["address"] === fields.actor) delete details["address"]; // Said already.
  return { fields, details, err: error === undefined ? undefined : loggedError(error) };
}

/** The details of a line. A logger must not throw for what it is given: it is null, say, or has a getter that throws. */
function ownOf(given: object | null): Record<string, unknown> {
  try {
    return { ...given };
  } catch {
    return { details: "cannot be read" };
  }
}

/** Makes a logger of one that writes lines. */
function loggerOf(write: (level: Level, message: string, line: Line) => void): SystemLogger {
  const at =
    (level: Level) =>
    (message: string, details?: object): void =>
      write(level, message, lineOf(details));
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), context: logFields };
}

/**
 * A system's logger that writes by pino. An error (`cause` or `err`) goes to `err` with class, message, stack and cause, and without its
 * other properties. With `logs(system)`, each line of a handler has actor, operation and trace. For lines that handlers write by pino
 * itself, give it `mixin: logFields`.
 *
 * @throws TypeError when it is no logger of pino's form.
 * @example
 * const log = pino({ mixin: logFields });
 * const system = createSystem({ logger: pinoLogger(log) });
 */
export function pinoLogger(pino: PinoLike): SystemLogger {
  withMethods("is one of pino: pinoLogger(pino())", ...LEVELS)(pino, "logger", "pinoLogger");
  return loggerOf((level, message, { fields, details, err }) => {
    pino[level]({ ...fields, ...details, ...(err !== undefined && { err: pinoError(err) }) }, message);
  });
}

/** The options of a logger that writes to the console. */
export interface ConsoleLoggerOptions {
  /** `text`: lines for people. `json`: one object a line, for collectors. Default: `text`. */
  readonly format?: "text" | "json";
  /** The lowest level that is written. Default: `info`. */
  readonly level?: Level;
  /** The source of each line's time. Default: the machine's clock. */
  readonly clock?: Clock;
  /** The writer of each line. Default: `console`. */
  readonly console?: Pick<Console, Level>;
}

const CHECKS: OptionChecks<ConsoleLoggerOptions> = {
  format: option.oneOf("text", "json"),
  level: option.oneOf(...LEVELS),
  clock: option.rule("is a clock", (value) => typeof (value as Clock | null)?.wallTime === "function"),
  console: withMethods("is a console", ...LEVELS),
};

/**
 * A system's logger that writes to the console: time, level and sentence, then actor, operation and trace, then the details, and the
 * error below.
 *
 * @throws TypeError when an option is invalid.
 * @example
 * const system = createSystem({ logger: consoleLogger({ format: "json" }) });
 */
export function consoleLogger(options: ConsoleLoggerOptions = {}): SystemLogger {
  checkOptions(options, CHECKS, "a consoleLogger", '{ format: "json" }');
  const { format = "text", level: lowest = "info", clock = systemClock, console: to = console } = options;
  const least = LEVELS.indexOf(lowest);
  return loggerOf((level, msg, { fields, details, err }) => {
    if (LEVELS.indexOf(level) < least) return;
    const time = new Date(clock.wallTime()).toISOString();
    const own = { time, level, msg }; // They come first, and no details take their place.
    if (format === "json") return to[level](jsonOf({ ...own, ...fields, ...details, err, ...own }));
    const rest = Object.entries({ ...fields, ...details }).map(([name, value]) => ` ${oneLine(name)}=${shown(value)}`);
    to[level](`${time} ${level.toUpperCase().padEnd(5)} ${oneLine(msg)}${rest.join("")}${errorText(err)}`);
  });
}

function jsonOf(line: object): string {
  try {
    return JSON.stringify(line, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  } catch {
    const { time, level, msg } = line as Record<string, unknown>;
    return JSON.stringify({ time, level, msg, details: "cannot be written as JSON" }); // A circle, or a getter that throws.
  }
}

const shown = (value: unknown): string =>
  typeof value === "string" && /^[^\s"=\p{Cc}]+$/u.test(value) ? value : oneLine(jsonOf([value]).slice(1, -1));

/** A line must not look like several, and no terminal obey it, whatever a stranger's text has in it. */
const oneLine = (text: string): string => String(text).replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ");

function errorText(err: LoggedError | undefined): string {
  if (err === undefined) return "";
  const { type, message, stack, cause } = err;
  const told = stack?.includes(message) ? stack : `${type}: ${message}${stack === undefined ? "" : `\n${stack}`}`;
  return `\n    ${told.split("\n").map(oneLine).join("\n    ")}${cause === undefined ? "" : `\n    cause:${errorText(cause)}`}`;
}
