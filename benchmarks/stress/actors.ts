/** What `bun run stress` puts under load: one actor of each kind, asked through the router. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  type Address,
  type AskResult,
  address,
  createMessage,
  createSystem,
  defineProtocol,
  type Message,
  type Pattern,
  parseMessage,
  StreamError,
  Type,
} from "envoi";
import { type Isolation, spawnCodeExecution, spawnFileSystem } from "envoi/tools";
import { letters } from "../harness/file-samples";
import type { Open, Operation, Outcome } from "./subject";

const Echo = defineProtocol("echo", { say: { payload: Type.Number(), reply: Type.Number() } });
const Source = defineProtocol("source", { count: { payload: Type.Number(), stream: Type.Number() } });

/** Most messages that wait for an actor which does little for each … */
const CAPACITY = 5_000;
/** … and for a tool: no more than it does in the time that its askers wait, or it would refuse nobody and answer nobody. */
const TOOL_CAPACITY = 250;
/** Items of a stream. */
const ITEMS = 10;
/** So many files are written and read in turn. */
const FILES = 64;
const BYTES = 100;
/** A client gives up as soon, in milliseconds. */
const TIMEOUT = 1_000;

const silent = { warn: () => {}, error: () => {} };

/** A message from outside, read as a gateway reads it: so its payload is checked, as that of a stranger. */
function received(to: Address, pattern: Pattern, type: string, payload: unknown): Message {
  const message = parseMessage({ id: "outside", pattern, to, type, payload, timestamp: Date.now() });
  if (message.isErr()) throw new Error(message.error.message);
  return message.value;
}

/** What a tool's reply says: its value, or the kind of its refusal. */
type Reply<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: { kind: string } };

function outcomeOf<Value>(answer: AskResult, number: number, isDone: (value: Value) => boolean): Outcome {
  if (answer.isErr()) return answer.error.kind;
  const reply = answer.value as Reply<Value>; // The router knows no types; the protocols of tools say so.
  if (!reply.ok) return reply.error.kind;
  return isDone(reply.value) ? number : "wrong";
}

export const open: Open = (folder) => openActors(folder);

/** The same with code in another tier, or with messages from within, whose payload nobody checks. */
export async function openActors(folder: string, isolation: Isolation = "sandbox", isFromOutside = true) {
  const message = isFromOutside
    ? received
    : (to: Address, _pattern: Pattern, type: string, payload: unknown) => createMessage(to, type, payload);
  const system = createSystem({ logger: silent });
  const { router } = system;
  const bound = { capacity: CAPACITY, overflow: "reject" } as const;
  const toolBound = { capacity: TOOL_CAPACITY, overflow: "reject" } as const;
  const root = join(folder, "files");
  mkdirSync(root);
  system.spawn("echo", Echo, () => ({ say: (number) => number }), bound);
  system.spawn(
    "source",
    Source,
    () => ({
      *count(from) {
        for (let i = 1; i <= ITEMS; i++) yield from + i;
      },
    }),
    bound,
  );
  spawnFileSystem(system, { root, ...toolBound });
  spawnCodeExecution(system, { isolation, maxWaiting: TOOL_CAPACITY, ...toolBound });
  const [echo, source, files, code] = [address("echo"), address("source"), address("files"), address("code")];
  const asked = { timeout: TIMEOUT };

  const ask: Operation = async (number) => {
    const answer = await router.ask(message(echo, "ask", "say", number), asked);
    if (answer.isErr()) return answer.error.kind;
    return answer.value === number ? number : "wrong";
  };
  const stream: Operation = async (number) => {
    let next = number + 1;
    try {
      for await (const item of router.stream(message(source, "stream", "count", number), asked)) {
        if (item !== next++) return "wrong";
      }
    } catch (thrown) {
      if (thrown instanceof StreamError) return thrown.kind;
      throw thrown;
    }
    return next === number + ITEMS + 1 ? number : "wrong";
  };
  const contents = letters(BYTES, 0);
  const write: Operation = async (number) => {
    const payload = { path: `file-${number % FILES}.txt`, content: contents };
    const answer = await router.ask(message(files, "ask", "write", payload), asked);
    return outcomeOf<{ size: number }>(answer, number, ({ size }) => size === BYTES);
  };
  const read: Operation = async (number) => {
    const answer = await router.ask(message(files, "ask", "read", { path: `file-${number % FILES}.txt` }), asked);
    return outcomeOf<{ content: string }>(answer, number, ({ content }) => content === contents);
  };
  const execute: Operation = async (number) => {
    const payload = { code: "(2 + 3) * 4 - 6 / 3 + input", input: number };
    const answer = await router.ask(message(code, "ask", "execute", payload), asked);
    return outcomeOf<{ value: number }>(answer, number, ({ value }) => value === 18 + number);
  };

  const operations = { ask, stream, write, read, code: execute };
  // All files are there, and so are the processes that run code.
  for (let number = 0; number < FILES; number++) await write(number);
  for (const [name, operation] of Object.entries(operations)) {
    const outcome = await operation(1);
    if (outcome !== 1) throw new Error(`The operation ${name} does not work here: ${outcome}.`);
  }
  return { operations, audit: () => router.audit(), close: () => system.shutdown().then(() => {}) };
}
