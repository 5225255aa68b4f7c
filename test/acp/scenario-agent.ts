import {
  agentText,
  type Client,
  type SessionUpdate,
  type StopReason,
  sessionOperations,
  type Turn,
} from "../../src/acp/index";
import { defineProtocol, type Factory, type SignaturesOf, type System } from "../../src/index";
import { RpcError } from "../../src/rpc/index";

// The agent of the scenarios: what its turns do is said by their prompts. The official SDKs have the same one, in programs/.

/** A session that answers prompts, remembers them, and has two modes. */
export const Scenario = defineProtocol("scenario", sessionOperations);

const MODES = {
  currentModeId: "ask",
  availableModes: [
    { id: "ask", name: "Ask" },
    { id: "code", name: "Code" },
  ],
};

type Item = SessionUpdate | { readonly stopReason: StopReason };

/** Runs a prompt such as "count 3". */
async function* run(
  { sessionId, prompt, client }: Turn,
  stopped: Promise<void>,
): AsyncGenerator<Item, void, undefined> {
  const [block] = prompt;
  const [verb, argument = ""] = block?.type === "text" ? block.text.split(" ") : [];
  if (verb === "count") for (let i = 0; i < Number(argument); i++) yield agentText(String(i));
  else if (verb === "read") yield agentText(await read(client, sessionId, argument));
  else if (verb === "write") yield agentText(await write(client, sessionId, argument));
  else if (verb === "permit") yield agentText(await permit(client, sessionId));
  else if (verb === "run") yield agentText(await runInTerminal(client, sessionId));
  else if (verb === "wait") {
    yield agentText("waiting");
    await stopped;
    yield agentText("too late");
  } else if (verb === "refuse") throw new RpcError(-32_001, "No poem today.", { until: "tomorrow" });
  else if (verb === "fail") throw new Error("a secret");
  else if (verb === "stop") yield { stopReason: argument as StopReason }; // The test says which.
}

const FOREVER = { timeout: Number.POSITIVE_INFINITY };

async function read({ files }: Client, sessionId: string, path: string): Promise<string> {
  if (files === undefined) return "no files";
  const found = await files.ask("readTextFile", { sessionId, path, line: 2, limit: 1 }, FOREVER);
  return found.isOk() ? found.value.content : `${found.error.kind}`;
}

async function write({ files }: Client, sessionId: string, path: string): Promise<string> {
  if (files === undefined) return "no files";
  const written = await files.ask("writeTextFile", { sessionId, path, content: "one\ntwo\n" }, FOREVER);
  return written.isOk() ? "written" : written.error.kind;
}

async function permit({ ref }: Client, sessionId: string): Promise<string> {
  const request = {
    sessionId,
    toolCall: { toolCallId: "call-1", title: "Remove all" },
    options: [
      { optionId: "yes", name: "Yes", kind: "allow_once" },
      { optionId: "no", name: "No", kind: "reject_once" },
    ],
  } as const;
  const reply = await ref.ask("requestPermission", request, FOREVER);
  if (reply.isErr()) return reply.error.kind;
  const { outcome } = reply.value;
  return outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
}

async function runInTerminal({ terminals }: Client, sessionId: string): Promise<string> {
  if (terminals === undefined) return "no terminals";
  const made = await terminals.ask("createTerminal", { sessionId, command: "javascript", args: ["6 * 7"] }, FOREVER);
  if (made.isErr()) return made.error.kind;
  const { terminalId } = made.value;
  const exit = await terminals.ask("waitForTerminalExit", { sessionId, terminalId }, FOREVER);
  const output = await terminals.ask("terminalOutput", { sessionId, terminalId }, FOREVER);
  await terminals.ask("releaseTerminal", { sessionId, terminalId }, FOREVER);
  return `${exit.isOk() ? exit.value.exitCode : "?"}: ${output.isOk() ? output.value.output.trim() : "?"}`;
}

const userText = (text: string): SessionUpdate => ({
  sessionUpdate: "user_message_chunk",
  content: { type: "text", text },
});

/** The behaviour of a session. What it remembers is in `said`. */
export const scenarioSession =
  (said: string[]): Factory<SignaturesOf<typeof Scenario>> =>
  (ctx) => ({
    prompt(turn) {
      const { promise: stopped, resolve } = Promise.withResolvers<void>();
      ctx.onAbort(resolve);
      for (const block of turn.prompt) if (block.type === "text") said.push(block.text);
      return run(turn, stopped);
    },
    create: () => ({ modes: MODES }),
    async *load() {
      for (const text of said) yield userText(text);
      yield { modes: MODES };
    },
    resume: () => ({ modes: MODES }),
    close() {},
    setMode({ modeId }) {
      if (modeId !== "ask" && modeId !== "code") throw new RpcError(-32_602, "There is no such mode.");
    },
    setConfigOption: () => ({ configOptions: [] }),
  });

/** Lets sessions below a prefix be opened. Those with an id that begins with `no` are not there. */
export function resolveScenario(system: System, prefix: string): Map<string, string[]> {
  const known = new Map<string, string[]>();
  system.resolve(prefix, (_, id) => {
    if (id.startsWith(`${prefix}no`)) return undefined;
    const said = known.get(id) ?? [];
    known.set(id, said);
    return system.spawn(id, Scenario, scenarioSession(said), { concurrency: 4 });
  });
  return known;
}
