import {
  type AnyRef,
  type AskError,
  checkOptions,
  type Door,
  jsonSchemaOf,
  logOf,
  type Metadata,
  type OptionChecks,
  type Outcome,
  option,
  outcomeOf,
  publicError,
  quote,
  receive,
} from "../index";
import { isPrompt, type PromptReply } from "./content";
import type { McpLimits, McpPrompt, ServeMcpOptions } from "./options";
import { isObject, rooted } from "./rooted";
import type { ServerSdk } from "./sdk";
import { knownOperations } from "./tools";

/** A prompt as clients see it in the list. */
interface ListedPrompt {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[];
}

interface Prompt {
  readonly ref: AnyRef;
  readonly door: Door;
  readonly operation: string;
  readonly takesArguments: boolean;
  readonly outcome: Outcome | null;
  readonly listed: ListedPrompt;
}

const PROMPT: OptionChecks<McpPrompt> = {
  ref: option.any,
  operation: option.text,
  title: option.text,
  description: option.text,
};

/** The prompts of a server: operations that return texts for models. */
export class Prompts {
  readonly #prompts: ReadonlyMap<string, Prompt>;
  readonly #sdk: typeof ServerSdk;
  readonly #time: number;
  readonly list: () => object;

  constructor(given: NonNullable<ServeMcpOptions["prompts"]>, sdk: typeof ServerSdk, { time }: McpLimits) {
    if (!isObject(given)) {
      throw new TypeError(`prompts are operations by name, such as { review: { ref: desk, operation: "review" } }.`);
    }
    this.#prompts = new Map(Object.entries(given).map(([name, each]) => [name, promptOf(name, each)]));
    this.#sdk = sdk;
    this.#time = time;
    const prompts = [...this.#prompts.values()].map(({ listed }) => listed);
    this.list = () => ({ prompts });
  }

  /** The messages of a prompt. */
  async get(name: string, given: object | undefined, signal: AbortSignal, metadata?: Metadata): Promise<object> {
    const { ProtocolError, INVALID_PARAMS, INTERNAL_ERROR } = this.#sdk;
    const prompt = this.#prompts.get(name);
    if (prompt === undefined) throw new ProtocolError(INVALID_PARAMS, `There is no prompt ${quote(name)}.`);
    const payload = prompt.takesArguments ? (given ?? {}) : undefined;
    const options = { timeout: this.#time, signal, ...(metadata !== undefined && { metadata }) };
    const reply = await prompt.door.ask(prompt.operation, payload, options);
    if (reply.isErr()) {
      logHidden(name, prompt.ref, reply.error);
      const { kind, message } = publicError(reply.error);
      throw new ProtocolError(kind === "invalid-payload" ? INVALID_PARAMS : INTERNAL_ERROR, message);
    }
    const read = prompt.outcome?.read(reply.value);
    if (read?.isErr() === true) throw new ProtocolError(INVALID_PARAMS, textOf(read.error));
    const value = read?.isOk() === true ? read.value : reply.value;
    if (typeof value !== "string") return value as PromptReply; // Its schema says so: promptOf has looked.
    return { messages: [{ role: "user", content: { type: "text", text: value } }] };
  }
}

const textOf = (error: unknown): string => (typeof error === "string" ? error : JSON.stringify(error));

function logHidden(name: string, ref: AnyRef, error: AskError): void {
  if (error.kind !== "handler-failed" && error.kind !== "unreachable") return;
  logOf(ref).error(`The prompt ${name} failed: ${error.message}`, { cause: error.cause });
}

function promptOf(name: string, given: McpPrompt): Prompt {
  const of = `the prompt "${name}"`;
  checkOptions(given, PROMPT, of, '{ ref: desk, operation: "review" }');
  const { ref, operation: wanted } = given;
  const known = knownOperations(ref, of);
  const operation = known[wanted];
  const said = operation && jsonSchemaOf({ name, operations: known }, [wanted])[wanted];
  if (operation === undefined || said === undefined) {
    throw new TypeError(
      `The actor of ${of} has no operation ${quote(wanted)}; write one of ${Object.keys(known).join(", ")}.`,
    );
  }
  const outcome = outcomeOf(operation);
  const gives = outcome === null ? said.output : outcome.value;
  if (gives === undefined || !(gives["type"] === "string" || isPrompt(gives))) {
    throw new TypeError(`The operation of ${of} must reply with a text, or with what PromptReply says.`);
  }
  const input = said.input && rooted(said.input, true);
  if (input?.isWrapped) throw new TypeError(`The payload of ${of} must be an object, whose texts are its arguments.`);
  const required = input?.schema["required"];
  const listed = Object.entries(isObject(input?.schema["properties"]) ? input.schema["properties"] : {}).map(
    ([argument, schema]) => ({
      name: argument,
      ...(isObject(schema) && typeof schema["description"] === "string" && { description: schema["description"] }),
      required: Array.isArray(required) && required.includes(argument),
    }),
  );
  const description = given.description ?? said.description;
  operation.payload.parse(undefined); // Compiles it.
  return {
    ref,
    door: receive(ref),
    operation: wanted,
    takesArguments: input !== undefined,
    outcome,
    listed: {
      name,
      title: given.title ?? name,
      ...(description !== undefined && { description }),
      ...(listed.length > 0 && { arguments: listed }),
    },
  };
}
