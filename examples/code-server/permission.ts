import { join } from "node:path";
import type { Client, PermissionOption, ToolCallContent } from "envoi/acp";
import { type Approve, type FileSystemRef, resultOf, WriteRequest } from "envoi/tools";
import { Value } from "typebox/value";
import { READS } from "./tools";

const OPTIONS: readonly PermissionOption[] = [
  { optionId: "once", name: "Write it", kind: "allow_once" },
  { optionId: "always", name: "Write, and ask no more", kind: "allow_always" },
  { optionId: "no", name: "Leave it", kind: "reject_once" },
];

/** The answer to a question. A permitted write applies only to the version of the file that the user was shown. */
export type Permit =
  | { readonly payload: WriteRequest; readonly diff: ToolCallContent }
  | { readonly refuse: string; readonly kind: string };

const refused = (refuse: string, kind = "refused"): Permit => ({ refuse, kind });

/** The client that a session works for at the moment. */
export interface Asked {
  readonly client: Client;
  readonly sessionId: string;
}

/** Asks the user of one session before anything is written, with the change that it would make. */
export class Permission {
  readonly #files: FileSystemRef;
  readonly #folder: string;
  #isAllowed = false;
  #asked: Asked | undefined;
  #count = 0;

  constructor(files: FileSystemRef, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  /** Sets the client that is asked from now on. */
  by(asked: Asked): void {
    this.#asked = asked;
  }

  /** For the code actor, which asks before each call that code makes. Code in the sandbox can reach nothing but its tools. */
  readonly approve: Approve = (request) => {
    if (request.kind === "run" || READS.some((operation) => operation === request.operation)) return true;
    if (request.operation === "write") return this.ask(request.payload, request.signal);
    return refused(`Nobody is asked for ${request.operation}.`);
  };

  /** Asks before a write. A write whose change cannot be shown is refused. */
  async ask(input: unknown, signal: AbortSignal, toolCallId = `code-${++this.#count}`): Promise<Permit> {
    if (!Value.Check(WriteRequest, input)) {
      const [first] = Value.Errors(WriteRequest, input);
      return refused(`This is no write: ${first?.instancePath ?? ""} ${first?.message ?? ""}.`, "invalid-arguments");
    }
    const { path, content } = input;
    if (typeof content !== "string") return refused("Write a text: bytes cannot be shown.");
    const read = resultOf(await this.#files.ask("read", { path }, { signal }));
    if (read.isErr() && read.error.kind !== "not-found") return refused(read.error.message, read.error.kind);
    const oldText = read.isOk() ? String(read.value.content) : null;
    const diff: ToolCallContent = { type: "diff", path: join(this.#folder, path), oldText, newText: content };
    const no = await this.#refusalOf(path, diff, toolCallId, signal);
    if (no !== undefined) return refused(no);
    const condition = read.isOk() ? { ifMatch: read.value.etag ?? "" } : { ifExists: "fail" as const };
    return { payload: { ...input, ...condition }, diff };
  }

  async #refusalOf(path: string, diff: ToolCallContent, toolCallId: string, signal: AbortSignal) {
    if (this.#isAllowed) return undefined;
    if (this.#asked === undefined) return "There is nobody to ask.";
    const { client, sessionId } = this.#asked;
    const toolCall = { toolCallId, title: `Write ${path}`, kind: "edit" as const, content: [diff] };
    const told = await client.ref.ask(
      "requestPermission",
      { sessionId, toolCall, options: OPTIONS },
      { timeout: Number.POSITIVE_INFINITY, signal }, // A person answers it.
    );
    if (told.isErr() || told.value.outcome.outcome !== "selected") return "The user was asked, and did not answer.";
    const { optionId } = told.value.outcome;
    this.#isAllowed = optionId === "always";
    return optionId === "once" || optionId === "always" ? undefined : "The user does not want this change.";
  }
}
