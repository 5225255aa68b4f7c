import { AsyncLocalStorage } from "node:async_hooks";
import {
  type ActorStream,
  type AskError,
  type Issue,
  logOf,
  type Metadata,
  publicIssues,
  quote,
  StreamError,
} from "../../../index";
import type { Approval, Approve } from "../approval";
import type { Calls, RunClock } from "../tier";
import { readRequest } from "./call-request";
import { replyText, Unserializable } from "./reply-text";
import type { ToolLimits } from "./tool-limits";
import type { ToolOperation, ToolSet } from "./tool-set";

/** The limits of a run's calls, and their approver. */
export interface BrokerOptions {
  readonly limits: Required<ToolLimits>;
  readonly approve?: Approve | undefined;
  /** The metadata that whoever runs the code hands on, such as a trace context. Code neither sees nor writes them. */
  readonly metadata?: Metadata | undefined;
}

interface OpenStream {
  readonly items: ActorStream<unknown>;
  readonly of: ToolOperation;
}

const NOTHING = Object.freeze({});
const MOST_STREAMS = 64;
/** Items of a stream that are sent ahead of the code. There are few, because an item may have any size. */
const CREDIT = 2;
const LONGEST_REASON = 1_000;

/**
 * Makes the tool calls of one run. It checks payloads and replies against their schemas, and counts calls and bytes. Each call
 * gets an answer, whatever the request is and whatever the tool does.
 */
export class Broker implements Calls {
  readonly tools: string;
  readonly #set: ToolSet;
  readonly #limits: Required<ToolLimits>;
  readonly #approve: Approve | undefined;
  readonly #beside: { readonly metadata?: Metadata };
  /** Runs in the context of whoever runs the code (P16): a request of the code comes in that of its process. */
  readonly #enter: <Result>(callback: () => Result) => Result;
  readonly #streams = new Map<number, OpenStream>();
  /** Aborts all open calls and streams. Made at the first call. */
  #controller: AbortController | null = null;
  #calls = 0;
  #bytes = 0;
  #isSpent = false;
  #isClosed = false;

  constructor(tools: ToolSet, { limits, approve, metadata }: BrokerOptions) {
    this.tools = tools.table;
    this.#set = tools;
    this.#limits = limits;
    this.#approve = approve;
    this.#beside = metadata === undefined ? NOTHING : { metadata };
    this.#enter = AsyncLocalStorage.snapshot();
  }

  async call(request: string, clock: RunClock): Promise<string> {
    if (this.#isClosed) return CLOSED;
    try {
      const answer = this.#count(request) ? await this.#enter(() => this.#perform(request, clock)) : "";
      return this.#isSpent || !this.#count(answer) ? this.#overBytes() : answer;
    } catch {
      return refusal("failed", "The call failed on its way.");
    }
  }

  /** Ends all open calls and streams, because the run is over. */
  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  #perform(request: string, clock: RunClock): string | Promise<string> {
    const read = readRequest(request);
    if (typeof read === "string") return refusal("invalid-payload", read);
    if ("next" in read) return this.#next(read.next);
    if ("close" in read) return this.#leave(read.close);
    if (++this.#calls > this.#limits.calls) {
      return refusal("budget", `The code has made its ${this.#limits.calls} calls of tools; do more with each.`);
    }
    const of = this.#set.find(read.tool, read.operation);
    if (of === undefined) {
      return refusal("unknown-operation", `There is no tools.${short(read.tool)}.${short(read.operation)}.`);
    }
    if (this.#approve === undefined && !of.operation.isStream) return this.#ask(of, read.payload);
    // The approver sees only valid payloads. A stream is checked here, too: its tool would refuse it only at the first read.
    const parsed = of.operation.payload.parse(read.payload);
    if (parsed.isErr()) return unfit(of, parsed.error());
    if (this.#approve === undefined) return this.#begin(of, read.payload);
    return this.#ifApproved(this.#approve, of, read.payload, parsed.value, clock);
  }

  // Payloads are sent unparsed: the tool itself validates them, and its schema may transform them.

  #begin(of: ToolOperation, payload: unknown): string | Promise<string> {
    return of.operation.isStream ? this.#open(of, payload) : this.#ask(of, payload);
  }

  async #ask(of: ToolOperation, payload: unknown): Promise<string> {
    const { door, operation } = of;
    const options = { timeout: this.#limits.time, signal: this.#signal, ...this.#beside };
    const result = await door.ask(operation.name, payload, options);
    if (result.isErr()) return this.#failed(of, result.error);
    const parsed = operation.reply.parse(result.value);
    if (parsed.isErr()) return unfitting(of, "reply", parsed.error());
    const text = replyText(parsed.value, this.#bytesLeft);
    if (text instanceof Unserializable) return this.#unserializable(of, "reply", text);
    return text === undefined ? '{"ok":true}' : `{"ok":true,"value":${text}}`;
  }

  #open(of: ToolOperation, payload: unknown): string {
    if (this.#streams.size >= MOST_STREAMS) {
      return refusal("budget", `${MOST_STREAMS} streams are open already; read them to their ends, or leave them.`);
    }
    const options = { timeout: this.#limits.time, signal: this.#signal, credit: CREDIT, ...this.#beside };
    const number = this.#set.nextStream();
    const items = of.door.stream(of.operation.name, payload, options);
    this.#streams.set(number, { items, of });
    return `{"ok":true,"value":${number}}`;
  }

  async #next(number: number): Promise<string> {
    const stream = this.#streams.get(number);
    if (stream === undefined) return refusal("cancelled", "This stream is over; it lives no longer than its run.");
    const { items, of } = stream;
    try {
      const step = await items.next();
      if (step.done === true) {
        this.#streams.delete(number);
        return '{"ok":true,"value":{"done":true}}';
      }
      const parsed = of.operation.item.parse(step.value);
      const text = parsed.isErr() ? undefined : replyText(parsed.value, this.#bytesLeft);
      if (typeof text === "string") return `{"ok":true,"value":{"done":false,"value":${text}}}`;
      if (!parsed.isErr() && text === undefined) return '{"ok":true,"value":{"done":false}}';
      await this.#leave(number);
      return parsed.isErr()
        ? unfitting(of, "item", parsed.error())
        : this.#unserializable(of, "item", text as Unserializable); // It is neither a text nor undefined.
    } catch (thrown) {
      this.#streams.delete(number);
      return thrown instanceof StreamError
        ? this.#failed(of, thrown.error)
        : refusal("handler-failed", failedSentence(of));
    }
  }

  async #leave(number: number): Promise<string> {
    const stream = this.#streams.get(number);
    this.#streams.delete(number);
    await stream?.items.return();
    return '{"ok":true}';
  }

  async #ifApproved(
    approve: Approve,
    of: ToolOperation,
    sent: unknown,
    payload: unknown,
    clock: RunClock,
  ): Promise<string> {
    const { tool, operation } = of;
    let approval: Approval;
    try {
      const given = approve({ kind: "call", tool, operation: operation.name, payload, signal: this.#signal });
      approval = isThenable(given) ? await untimed(given, clock) : given;
    } catch {
      // The error belongs to the host; code must not see it.
      return refusal("refused", `${nameOf(of)} was refused: whoever approves calls failed.`);
    }
    if (approval === true) return this.#begin(of, sent);
    if (typeof approval === "object" && approval !== null) {
      if ("refuse" in approval && approval.refuse !== undefined) {
        return refusal("refused", `${nameOf(of)} was refused: ${String(approval.refuse).slice(0, LONGEST_REASON)}`);
      }
      if ("payload" in approval) {
        const parsed = operation.payload.parse(approval.payload);
        return parsed.isErr() ? unfit(of, parsed.error()) : this.#begin(of, approval.payload);
      }
    }
    return refusal("refused", `${nameOf(of)} was refused.`);
  }

  #failed(of: ToolOperation, error: AskError): string {
    switch (error.kind) {
      case "timeout":
        return refusal("timeout", `${nameOf(of)} gave no answer${within(error.timeout)}.`);
      case "handler-failed": // The cause belongs to the tool; code must not see it.
        return refusal(error.kind, failedSentence(of));
      case "invalid-payload":
        return unfit(of, error.issues);
      case "mailbox-full":
        return refusal(error.kind, `${nameOf(of)} has too much to do; call it again later.`);
      case "stopped":
        return refusal(error.kind, `${nameOf(of)} is not there any more.`);
      default:
        return refusal(error.kind, `${nameOf(of)} was not answered (${error.kind}).`);
    }
  }

  /** Bytes left for requests and answers. */
  get #bytesLeft(): number {
    return Math.max(this.#limits.bytes - this.#bytes, 0);
  }

  #unserializable(of: ToolOperation, what: "reply" | "item", { reason, isTooLarge }: Unserializable): string {
    if (isTooLarge) return this.#overBytes();
    return refusal("unserializable-reply", `The ${what} of ${nameOf(of)} cannot come into code: ${reason}.`);
  }

  /** Counts the bytes of a text. Returns false when the limit is exceeded. */
  #count(text: string): boolean {
    if (this.#isSpent) return false;
    this.#bytes += Buffer.byteLength(text);
    return this.#bytes <= this.#limits.bytes;
  }

  /** Refuses the call, and ends all open ones: their answers would exceed the limit, too. */
  #overBytes(): string {
    if (!this.#isSpent) {
      this.#isSpent = true;
      this.#end();
    }
    return refusal(
      "budget",
      `The requests and answers of tools are more than ${this.#limits.bytes} bytes; ask for less.`,
    );
  }

  #end(): void {
    this.#controller?.abort(); // This ends streams, too.
    this.#streams.clear();
  }

  get #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }
}

/** True for each value that `await` waits for, such as another library's promise. */
const isThenable = (value: Approval | PromiseLike<Approval>): value is PromiseLike<Approval> =>
  ((typeof value === "object" && value !== null) || typeof value === "function") && "then" in value;

/** Awaits a value while the run's clock stands still. */
async function untimed<Value>(value: PromiseLike<Value>, clock: RunClock): Promise<Value> {
  clock.stop();
  try {
    return await value;
  } finally {
    clock.start();
  }
}

const refusal = (kind: string, message: string): string => JSON.stringify({ ok: false, kind, message });
const CLOSED = refusal("cancelled", "The run is over.");

const short = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}…` : name);
const nameOf = ({ tool, operation }: ToolOperation): string => `tools.${tool}.${operation.name}`;
const failedSentence = (of: ToolOperation): string => `${nameOf(of)} failed.`;

/** Formats issues for code. The text of an error that a schema threw belongs to the host: it goes to the log instead. */
function listed(of: ToolOperation, issues: readonly Issue[]): string {
  const told = publicIssues(issues);
  const withheld = issues.filter((issue, at) => issue !== told[at]);
  if (withheld.length > 0) {
    logOf(of.ref).error(`A schema of ${nameOf(of)} failed: ${quote(joined(withheld))}; mend it.`, { issues: withheld });
  }
  return joined(told);
}

const joined = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => `${path === "" ? "it" : path} ${message}`).join("; ");

const unfit = (of: ToolOperation, issues: readonly Issue[]): string =>
  refusal("invalid-payload", `${nameOf(of)} refuses its payload: ${listed(of, issues)}`);

const unfitting = (of: ToolOperation, what: "reply" | "item", issues: readonly Issue[]): string =>
  refusal("invalid-reply", `${nameOf(of)} gave what its protocol refuses as ${what}: ${listed(of, issues)}`);

/** A limit as a part of a sentence. A call to another process may have none. */
const within = (limit: number): string => (Number.isFinite(limit) ? ` within ${Math.ceil(limit)} ms` : "");
