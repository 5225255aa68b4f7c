/**
 * A process that keeps to the agreement, and to nothing else: it runs bodies in its own engine, where they see `call`, for a
 * call and its answer, and `order`. While code waits, so does the process, for the host's next word.
 */
import { readSync, writeSync } from "node:fs";
import { runInThisContext } from "node:vm";
import {
  CHANNEL,
  type Head,
  hasText,
  type News,
  type Order,
  type Outcome,
  type Word,
  wordOf,
} from "../../../../../src/tools/code/pool/channel";

type Answer = { readonly text: string; readonly paused: number };
type Body = (...given: unknown[]) => Promise<unknown>;

const tell = (news: News): void => {
  const bytes = Buffer.from(`${JSON.stringify(news)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(CHANNEL, bytes, at);
};

const piece = Buffer.alloc(64 * 1024);
let unread = "";
const decoder = new TextDecoder();
function listen(): Word {
  const head = JSON.parse(line()) as Head;
  return wordOf(head, hasText(head) ? line() : undefined);
}

function line(): string {
  for (;;) {
    const end = unread.indexOf("\n");
    if (end >= 0) {
      const found = unread.slice(0, end);
      unread = unread.slice(end + 1);
      return found;
    }
    const length = readSync(CHANNEL, piece);
    if (length === 0) process.exit(0);
    unread += decoder.decode(piece.subarray(0, length), { stream: true });
  }
}

/** All that is ready to run in this process has run. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};

async function run(order: Order): Promise<Outcome> {
  const open = new Map<number, (answer: Answer) => void>();
  let calls = 0;
  const call = (request: string): Promise<Answer> => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    open.set(++calls, resolve);
    tell(["call", calls, request]);
    return promise;
  };
  const progress = (value: unknown): void => tell(["progress", JSON.stringify(value)]);
  const console = { log: (text: string): void => tell(["log", 1, text, 0]) };
  let outcome: Outcome | undefined;
  const head = "(async function (input, call, progress, console, order) {";
  const body = runInThisContext(`${head}\n${order.body}\n})`, { filename: order.file }) as Body;
  const input: unknown = order.input === undefined ? undefined : JSON.parse(order.input);
  body(input, call, progress, console, order).then(
    (value) => {
      outcome = value === undefined ? { kind: "value" } : { kind: "value", value: JSON.stringify(value) };
    },
    (thrown: Error) => {
      outcome = { kind: "runtime-error", name: thrown.name, message: thrown.message, stack: `${thrown.stack}` };
    },
  );
  for (await settle(); outcome === undefined; await settle()) {
    if (open.size > 0) tell(["waiting"]);
    const word = listen();
    if (word[0] === "stop" && word[1] === order.number) return { kind: "timeout", message: "" };
    if (word[0] !== "answer") continue;
    open.get(word[1])?.({ text: word[2], paused: word[3] });
    open.delete(word[1]);
  }
  return outcome;
}

tell(["ready", ["limits", "seccomp"]]);
for (;;) {
  const word = listen();
  if (word[0] === "run") tell(["end", word[1].number, await run(word[1])]);
}
