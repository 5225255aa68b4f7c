import {
  type AskError,
  type AskOptions,
  type Door,
  err,
  type Issue,
  type Operation,
  type Outcome,
  ok,
  publicError,
  publicIssues,
  quote,
  type Result,
  StreamError,
  writeJson,
} from "../../index";
import { argumentsIn, lettersIn } from "./arguments";
import { INPUT, type Root } from "./root-object";

/** The reason why a call gave no value, as plain data for a model to read. */
export interface ToolFailure {
  /**
   * `unknown-tool`, `invalid-arguments`, the kind of a delivery error such as `timeout`, or the kind of the tool's own
   * error (`tool-error` if it has none).
   */
  readonly kind: string;
  /** A sentence: what happened, and what to do. It has no stack, no address of an actor and no text of a thrown error. */
  readonly message: string;
  /** The faults of the arguments, with JSON Pointers into them; at most eight. Only for `invalid-arguments`. */
  readonly issues?: readonly Issue[];
  /** The tool's own error, whole. Left out for other errors. */
  readonly details?: unknown;
}

/** The value of a call, or the reason why there is none. */
export type CallResult = Result<unknown, ToolFailure>;

/** The limits of a call. */
export interface CallOptions extends Pick<AskOptions, "signal" | "metadata" | "onProgress"> {
  /** Longest wait, in milliseconds; for a stream, until its end. Default: 60,000. */
  readonly timeout?: number;
  /** Most items that are read of a stream. Default: 100. */
  readonly maxItems?: number;
}

/** A tool that a model may call. */
export interface ModelTool {
  readonly door: Door;
  readonly operation: Operation;
  readonly outcome: Outcome | null;
  readonly root: Root;
}

/** Most letters of the arguments of a call, and of the items of a stream together. */
const MOST_LETTERS = 1_048_576;
const MOST_ISSUES = 8;

/** Calls a tool by its name. It never rejects because of the name or the arguments. */
export async function callBy(
  tools: ReadonlyMap<string, ModelTool>,
  name: unknown,
  args: unknown,
  options: CallOptions,
): Promise<CallResult> {
  const { maxItems = 1 } = options;
  if (!Number.isSafeInteger(maxItems) || maxItems < 1) {
    throw new RangeError(`The maxItems of a call is a whole number from 1; got ${quote(maxItems)}.`);
  }
  const tool = typeof name === "string" ? tools.get(name) : undefined;
  if (tool === undefined) {
    return failure("unknown-tool", `There is no such tool. Use one of ${[...tools.keys()].join(", ")}.`);
  }
  const read = argumentsIn(args, MOST_LETTERS);
  if ("fault" in read) return failure("invalid-arguments", read.fault);
  const given = read.value as object; // It was found to be one.
  const { isWrapped, schema } = tool.root;
  // If the input may be left out, one under a misspelt name would be ignored in silence.
  if (isWrapped && schema["required"] === undefined && !Object.hasOwn(given, INPUT) && Object.keys(given).length > 0) {
    return failure("invalid-arguments", `This tool takes one argument, "${INPUT}". Leave the others out.`);
  }
  const payload = tool.root.payloadOf(given);
  return tool.operation.isStream ? collect(tool, payload, options) : ask(tool, payload, options);
}

async function ask(tool: ModelTool, payload: unknown, options: CallOptions): Promise<CallResult> {
  const { timeout = 60_000, signal, metadata, onProgress } = options;
  const reply = await tool.door.ask(tool.operation.name, payload, {
    timeout,
    ...(signal && { signal }),
    ...(metadata && { metadata }),
    ...(onProgress && { onProgress }),
  });
  return reply.isErr() ? undelivered(reply.error, payload, tool) : readBy(tool, reply.value);
}

async function collect(tool: ModelTool, payload: unknown, options: CallOptions): Promise<CallResult> {
  const { timeout = 60_000, maxItems = 100, signal, metadata } = options;
  const given = { deadline: timeout, ...(signal && { signal }), ...(metadata && { metadata }) };
  const items: unknown[] = [];
  let letters = 0;
  try {
    for await (const item of tool.door.stream(tool.operation.name, payload, given)) {
      letters += lettersIn(item, MOST_LETTERS);
      if (items.length === maxItems || letters > MOST_LETTERS) return ok({ items, isComplete: false });
      const value = readBy(tool, item);
      if (value.isErr()) return value;
      items.push(value.value);
    }
  } catch (thrown) {
    if (!(thrown instanceof StreamError)) throw thrown;
    return undelivered(thrown.error, payload, tool);
  }
  return ok({ items, isComplete: true });
}

/** The value for the model, as JSON. An operation without a reply gives null. */
function readBy({ outcome }: ModelTool, reply: unknown): CallResult {
  const read = outcome === null ? ok(reply) : outcome.read(reply);
  if (read.isOk()) return inJson(read.value ?? null);
  const { error } = read;
  const { kind, message } = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>; // Any may be missing.
  return err({
    kind: typeof kind === "string" ? kind : "tool-error",
    message: typeof message === "string" ? message : "The tool refused this call.",
    details: error,
  });
}

/** The value, unless JSON would lose a part of it: a model would read something else. */
function inJson(value: unknown): CallResult {
  const written = writeJson(value);
  return written.isOk() ? ok(value) : failure("handler-failed", `${NO_JSON} ${written.error.message}`);
}

const NO_JSON =
  "The value cannot be written as JSON. If the arguments offer another form of it, such as an encoding, name that.";

function undelivered(error: AskError, payload: unknown, { operation, root }: ModelTool): CallResult {
  if (error.kind !== "invalid-payload" || !Object.is(error.undelivered.payload, payload)) {
    const { kind, message } = publicError(error);
    return failure(kind, message);
  }
  const prefix = root.isWrapped ? `/${INPUT}` : "";
  const issues = publicIssues(error.issues)
    .slice(0, MOST_ISSUES)
    .map(({ path, message }) => ({ path: `${prefix}${path}`, message }));
  const list = issues.map(({ path, message }) => `${path === "" ? "the arguments" : path} ${message}`).join("; ");
  return err({
    kind: "invalid-arguments",
    message: `${JSON.stringify(operation.name)} refuses its arguments: ${list}.`,
    issues,
  });
}

const failure = (kind: string, message: string): CallResult => err({ kind, message });
