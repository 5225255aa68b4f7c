/** What `bun run stress` puts under load: one actor of each kind, asked through the router. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { address, createSystem, defineProtocol, parseMessage, StreamError, Type } from "envoi";
import { spawnCodeExecution, spawnFileSystem } from "envoi/tools";
import { type Open, type Operation, outcomeOf } from "./subject";

const Echo = defineProtocol("echo", { say: { payload: Type.Number(), reply: Type.Number() } });
const Source = defineProtocol("source", { count: { payload: Type.Number(), stream: Type.Number() } });

/** Most messages that wait for an actor which does little for each … */
const BOUND = { capacity: 5_000, overflow: "reject" } as const;
/** … and for a tool: no more than it does in the time that its askers wait, or it would refuse nobody and answer nobody. */
const TOOL_BOUND = { capacity: 250, overflow: "reject" } as const;
const ITEMS = 10;
const FILES = 64;
const content = "a line of a file that is written whole, and read\n".repeat(3).slice(0, 100);
const asked = { timeout: 1_000 };

type Reply =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: { readonly kind: string } };

/** A message from outside, read as a gateway reads it: its payload is checked. */
function received(to: string, pattern: "ask" | "stream", type: string, payload: unknown) {
  const read = parseMessage({ id: "outside", pattern, to: address(to), type, payload, timestamp: Date.now() });
  if (read.isErr()) throw new Error(read.error.message);
  return read.value;
}

export const open: Open = async (_, folder) => {
  const system = createSystem({ logger: { warn() {}, error() {} } });
  const { router } = system;
  const root = join(folder, "files");
  mkdirSync(root);
  system.spawn("echo", Echo, () => ({ say: (number) => number }), BOUND);
  const count = function* (from: number) {
    for (let i = 1; i <= ITEMS; i++) yield from + i;
  };
  system.spawn("source", Source, () => ({ count }), BOUND);
  spawnFileSystem(system, { root, ...TOOL_BOUND });
  spawnCodeExecution(system, { maxWaiting: TOOL_BOUND.capacity, ...TOOL_BOUND });

  const ask: Operation = async (number) =>
    outcomeOf(await router.ask(received("echo", "ask", "say", number), asked), number, (value) => value === number);
  const stream: Operation = async (number) => {
    let next = number + 1;
    try {
      for await (const item of router.stream(received("source", "stream", "count", number), asked)) {
        if (item !== next++) return "wrong";
      }
    } catch (thrown) {
      if (thrown instanceof StreamError) return thrown.kind;
      throw thrown;
    }
    return next === number + ITEMS + 1 ? number : "wrong";
  };
  const tool = async (number: number, to: string, type: string, payload: object, key: string, expected: unknown) => {
    const answer = await router.ask(received(to, "ask", type, payload), asked);
    const reply = answer.unwrapOr(undefined) as Reply | undefined; // The protocols of tools say so.
    if (reply?.ok === false) return reply.error.kind;
    return outcomeOf(answer, number, () => reply?.value[key] === expected);
  };
  const path = (number: number) => `file-${number % FILES}.txt`;
  const write: Operation = (of) => tool(of, "files", "write", { path: path(of), content }, "size", content.length);
  const read: Operation = (of) => tool(of, "files", "read", { path: path(of) }, "content", content);
  const code: Operation = (of) => tool(of, "code", "execute", { code: "2 * 9 + input", input: of }, "value", 18 + of);
  // All files are there, and so are the processes that run code.
  for (let number = 0; number < FILES; number++) await write(number);
  await code(0);
  return { operations: { ask, stream, write, read, code }, system };
};
