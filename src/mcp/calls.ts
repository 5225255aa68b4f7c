import {
  type AskError,
  logOf,
  type Metadata,
  type Progress,
  publicError,
  publicIssues,
  quote,
  type Result,
  StreamError,
  writeJson,
} from "../index";
import type { McpLimits } from "./options";
import type { Tool, Tools } from "./tools";

/** The result of a tool's call, in the protocol's form. */
export interface ToolResult {
  content: object[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

/** One call on its way. */
export interface Calling {
  /** Aborts when the client gives the call up. */
  readonly signal: AbortSignal;
  /** Goes with the message to the actor. */
  readonly metadata: Metadata | undefined;
  /** Undefined if the client does not listen to progress. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** Sends the calls of clients to actors, and makes their outcomes results. */
export class Calls {
  readonly #tools: Tools;
  readonly #limits: McpLimits;
  #running = 0;

  constructor(tools: Tools, limits: McpLimits) {
    this.#tools = tools;
    this.#limits = limits;
  }

  /** Calls a tool. Undefined for an unknown tool. Never rejects: a failure becomes a result that a model can read. */
  call(name: string, given: unknown, calling: Calling): Promise<ToolResult> | undefined {
    const tool = this.#tools.get(name);
    return tool && this.#call(tool, given, calling);
  }

  /** Does work that counts as a call, such as reading a file. Undefined if too many calls run. */
  during<Value>(work: () => Promise<Value>): Promise<Value> | undefined {
    if (this.#running >= this.#limits.calls) return undefined;
    this.#running++;
    return work().finally(() => {
      this.#running--;
    });
  }

  async #call(tool: Tool, given: unknown, calling: Calling): Promise<ToolResult> {
    const { calls } = this.#limits;
    if (this.#running >= calls) return refusal(`The server runs ${calls} calls already: try again later.`);
    const payload = payloadOf(tool, given);
    if (payload === UNFIT) return refusal(UNFIT_ARGUMENTS[tool.takes === "nothing" ? "nothing" : "value"](tool.name));
    this.#running++;
    try {
      // No function between this one and the ask is async: each added 0.5 µs to a call.
      return tool.operation.isStream
        ? await this.#read(tool, payload, calling)
        : answered(tool, await this.#ask(tool, payload, calling));
    } catch (cause) {
      return failure(tool, cause);
    } finally {
      this.#running--;
    }
  }

  #ask({ door, operation }: Tool, payload: unknown, { signal, metadata, onProgress }: Calling) {
    return door.ask(operation.name, payload, {
      timeout: this.#limits.time,
      signal,
      ...(metadata !== undefined && { metadata }),
      ...(onProgress !== undefined && { onProgress }),
    });
  }

  /** Reads a stream to its end, or up to the most items of a result. */
  async #read(tool: Tool, payload: unknown, { signal, metadata, onProgress }: Calling): Promise<ToolResult> {
    const { time, items: most } = this.#limits;
    const items: unknown[] = [];
    let isComplete = true;
    try {
      const options = { deadline: time, timeout: time, signal, ...(metadata !== undefined && { metadata }) };
      for await (const item of tool.door.stream(tool.operation.name, payload, options)) {
        if (items.length === most) {
          isComplete = false;
          break;
        }
        const read = tool.outcome?.read(item);
        if (read?.isErr() === true) return refusal(textOf(read.error));
        const value = read?.isOk() === true ? read.value : item;
        jsonOf(value); // The first that cannot be written ends it, and what follows is not read.
        items.push(value);
        onProgress?.({ done: items.length });
      }
    } catch (thrown) {
      if (thrown instanceof StreamError) return undelivered(tool, thrown.error);
      throw thrown;
    }
    return given(tool, { items, isComplete });
  }
}

const NO_JSON =
  "The result cannot be written as JSON. If the arguments offer another form of it, such as an encoding, name that.";
const UNFIT = Symbol("unfit");
const UNFIT_ARGUMENTS = {
  nothing: (name: string) => `${name} takes no arguments: leave them out.`,
  value: (name: string) => `${name} takes one argument, named value: send { "value": … }.`,
};

/** The payload that the arguments of a call stand for. */
function payloadOf({ takes, isPayloadRequired }: Tool, given: unknown): unknown {
  // The SDK has checked that they are an object.
  const them = given as Readonly<Record<string, unknown>> | undefined;
  if (takes === "object") return them ?? (isPayloadRequired ? {} : undefined);
  if (them === undefined) return undefined;
  for (const key in them) if (takes !== "value" || key !== "value") return UNFIT;
  return takes === "value" ? them["value"] : undefined;
}

function answered(tool: Tool, reply: Result<unknown, AskError>): ToolResult {
  if (reply.isErr()) return undelivered(tool, reply.error);
  if (tool.outcome === null) return given(tool, reply.value);
  const read = tool.outcome.read(reply.value);
  return read.isOk() ? given(tool, read.value) : refusal(textOf(read.error));
}

function given(tool: Tool, value: unknown): ToolResult {
  switch (tool.gives) {
    case "nothing":
      return { content: [{ type: "text", text: "done" }] };
    case "content":
      jsonOf(value);
      return { content: value as object[] }; // Its schema says so, and the SDK looks again.
    case "object":
      return { content: [{ type: "text", text: textOf(value) }], structuredContent: value as Record<string, unknown> }; // Its schema says so.
    case "value":
      return { content: [{ type: "text", text: textOf(value) }], structuredContent: { value: value ?? null } };
  }
}

/** A text as it is, and anything else as JSON. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : jsonOf(value));

/** Throws for a value that JSON would lose a part of, such as bytes: without an error, a model would read something else. */
function jsonOf(value: unknown): string {
  const written = writeJson(value);
  if (written.isErr()) throw new TypeError(written.error.message);
  return written.value;
}

/** A failure that the model can read, so that it can mend its call. */
const refusal = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: true });

/** The result for a message that was not delivered or failed. It says the kind, and the faults that the client can mend (P18). */
function undelivered(tool: Tool, error: AskError): ToolResult {
  logHidden(tool, error);
  const { kind, message } = publicError(error);
  return refusal(`${kind}: ${message}`);
}

/** Logs the part of a failure that clients are not told. */
function logHidden({ name, ref }: Tool, error: AskError): void {
  if (error.kind === "handler-failed" || error.kind === "unreachable") {
    const { message, cause } = error;
    logOf(ref).error(`The tool ${name} failed: ${message}`, { cause });
  } else if (error.kind === "invalid-payload") {
    const told = publicIssues(error.issues);
    const issues = error.issues.filter((issue, index) => issue !== told[index]);
    if (issues.length > 0) logOf(ref).error(`The schema of the tool ${name} failed: mend it.`, { issues });
  }
}

/** A result that cannot be written as JSON, or a mistake of ours. */
function failure({ name, ref }: Tool, cause: unknown): ToolResult {
  logOf(ref).error(`The result of the tool ${quote(name)} could not be written as JSON.`, { cause });
  return refusal(`handler-failed: ${NO_JSON}`);
}
