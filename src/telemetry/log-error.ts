import { StreamError } from "../index";

/** An error in a log: the form of pino's own serializer. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly kind?: string;
  readonly cause?: LoggedError;
}

/** Causes of causes that are written; a chain may be circular. */
const DEEPEST = 4;

/**
 * An error as a log may have it: class, message, stack, and its cause likewise. Properties of its own stay out: clients of HTTP keep
 * headers and bodies there.
 */
export function loggedError(error: unknown, depth = 0): LoggedError {
  try {
    const known: unknown = error instanceof StreamError ? error.error : error;
    if (typeof known !== "object" || known === null) return { type: typeof known, message: textOf(known) };
    const { name, message, stack, kind, cause } = known as Partial<Record<string, unknown>>; // Each is looked at below.
    return {
      type: typeof name === "string" ? name : known.constructor.name,
      message: typeof message === "string" ? message : "",
      ...(typeof kind === "string" && { kind }),
      ...(typeof stack === "string" && { stack }),
      ...(cause !== undefined && depth < DEEPEST && { cause: loggedError(cause, depth + 1) }),
    };
  } catch {
    return { type: "unknown", message: "An error that cannot be read." }; // A proxy that throws.
  }
}

/** The same in a form that pino's serializer takes for an error: it would write the class of the plain object. */
export function pinoError({ type, cause, ...rest }: LoggedError): object {
  const error = Object.assign(Object.create(null), rest, cause !== undefined && { cause: pinoError(cause) });
  return Object.defineProperty(error, "name", { value: type });
}

/** A thrown value that is no object; of texts, those that are no sentence would not be a log's either. */
const textOf = (value: unknown): string => (typeof value === "string" ? value.slice(0, 1_000) : String(value));
