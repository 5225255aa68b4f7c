import {
  type ActorStream,
  type Context,
  type Handlers,
  type Ref,
  type SignaturesOf,
  type Spawner,
  type Stream,
  traceOf,
} from "../../index";
import { AcpTerminals, type AcpTerminalsRef } from "../methods";
import { invalidParams, invalidRequest, notFound } from "../refusals";
import type { CreateTerminalRequest, TerminalExitStatus } from "../schema/types";

type Signatures = SignaturesOf<typeof AcpTerminals>;

/** An item that a code actor streams while it runs code. */
type CodeItem =
  | { readonly kind: "log"; readonly entry: { readonly text: string } }
  | { readonly kind: "progress"; readonly value: unknown }
  | {
      readonly kind: "end";
      readonly outcome:
        | { readonly ok: true; readonly value: { readonly value: unknown } }
        | { readonly ok: false; readonly error: { readonly message: string } };
    };

/** The part of a code actor that serves an agent: `spawnCodeExecution` of `envoi/tools` gives such a reference. */
export type CodeRunner = Ref<{
  executeStream: (request: { code: string; language?: "javascript" | "typescript" }) => Stream<CodeItem>;
}>;

/** Options of the terminals that an agent may use. */
export interface AcpTerminalsOptions {
  /** The actor's name. Default: `"acp-terminals"`. */
  readonly name?: string;
  /** The code actor. */
  readonly code: CodeRunner;
  /** Most terminals at one time. Default: 32. */
  readonly most?: number;
  /** Most bytes of output that a terminal keeps, whatever the agent asks for. Default: 1,048,576. */
  readonly maxOutput?: number;
}

/**
 * Spawns an actor that gives an agent terminals which run code instead of programs of this machine: the command is `javascript` or
 * `typescript`, its one argument the source. The code actor isolates the code. The output is the code's log and its value.
 *
 * @example
 * const code = spawnCodeExecution(system);
 * connectAgent(system, command, { name, version, terminals: spawnAcpTerminals(system, { code }) });
 */
export const spawnAcpTerminals = (
  spawner: Spawner,
  { name = "acp-terminals", ...options }: AcpTerminalsOptions,
): AcpTerminalsRef => spawner.spawn(name, AcpTerminals, (ctx) => terminals(ctx, options), { concurrency: 1_000_000 }); // Those who wait for exits.

function terminals(
  ctx: Context<Signatures>,
  { code, most = 32, maxOutput = 1_048_576 }: AcpTerminalsOptions,
): Handlers<Signatures> & { onStop(): void } {
  const all = new Map<string, Terminal>();
  const find = ({ sessionId, terminalId }: { sessionId: string; terminalId: string }): Terminal => {
    const terminal = all.get(terminalId);
    if (terminal?.sessionId === sessionId) return terminal;
    throw notFound(terminalId);
  };
  return {
    createTerminal(request) {
      if (all.size >= most) throw invalidRequest(`There are ${most} terminals; release one first.`);
      const run = runOf(request);
      const limit = Math.min(request.outputByteLimit ?? maxOutput, maxOutput);
      const terminalId = crypto.randomUUID();
      // `ctx.stream` would end with this handler, before the code does.
      const metadata = traceOf(ctx.handsOn);
      const output = code.stream("executeStream", run, metadata === undefined ? {} : { metadata });
      all.set(terminalId, new Terminal(request.sessionId, limit, output));
      return { terminalId };
    },
    terminalOutput: (request) => find(request).output,
    waitForTerminalExit(request) {
      const terminal = find(request);
      const { promise: givenUp, resolve } = Promise.withResolvers<TerminalExitStatus>();
      const forget = ctx.onAbort(() => resolve({}));
      return Promise.race([terminal.exited, givenUp]).finally(forget);
    },
    killTerminal(request) {
      find(request).kill();
      return {};
    },
    releaseTerminal(request) {
      find(request).kill();
      all.delete(request.terminalId);
      return {};
    },
    onStop() {
      for (const terminal of all.values()) terminal.kill();
    },
  };
}

function runOf({ command, args = [] }: CreateTerminalRequest): { code: string; language: "javascript" | "typescript" } {
  const [code, ...others] = args;
  if (command !== "javascript" && command !== "typescript") {
    throw invalidParams('These terminals run code: the command is "javascript" or "typescript".');
  }
  if (code === undefined || others.length > 0) throw invalidParams("The one argument of the command is the source.");
  return { code, language: command };
}

/** Code that runs, or has run, and the end of its output. */
class Terminal {
  readonly sessionId: string;
  readonly exited: Promise<TerminalExitStatus>;
  readonly #limit: number;
  readonly #items: ActorStream<CodeItem>;
  #text = "";
  #isTruncated = false;
  #exit: TerminalExitStatus | undefined;
  #isKilled = false;

  constructor(sessionId: string, limit: number, items: ActorStream<CodeItem>) {
    this.sessionId = sessionId;
    this.#limit = limit;
    this.#items = items;
    this.exited = this.#run().then((exit) => {
      this.#exit = exit;
      return exit;
    });
  }

  get output(): { output: string; truncated: boolean; exitStatus?: TerminalExitStatus } {
    const output = { output: this.#text, truncated: this.#isTruncated };
    return this.#exit === undefined ? output : { ...output, exitStatus: this.#exit };
  }

  kill(): void {
    this.#isKilled = true;
    void this.#items.return();
  }

  async #run(): Promise<TerminalExitStatus> {
    try {
      for await (const item of this.#items) {
        if (item.kind === "log") this.#write(item.entry.text);
        if (item.kind !== "end") continue;
        const { outcome } = item;
        if (!outcome.ok) this.#write(outcome.error.message);
        else if (outcome.value.value !== undefined) this.#write(JSON.stringify(outcome.value.value));
        return { exitCode: outcome.ok ? 0 : 1 };
      }
    } catch {
      if (!this.#isKilled) this.#write("The code could not be run.");
    }
    return this.#isKilled ? { signal: "SIGKILL" } : { exitCode: 1 };
  }

  /** Keeps the end of the output, from the beginning of a character on. */
  #write(text: string): void {
    this.#text += `${text}\n`;
    if (this.#text.length * 3 <= this.#limit) return;
    const bytes = Buffer.from(this.#text);
    if (bytes.length <= this.#limit) return;
    let start = bytes.length - this.#limit;
    while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
    this.#text = bytes.toString("utf8", start);
    this.#isTruncated = true;
  }
}
