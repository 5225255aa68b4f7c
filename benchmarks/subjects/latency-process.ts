import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AskResult, address, createMessage, createSystem, isAddress } from "envoi";
import { spawnFileSystem } from "envoi/tools";
import { arithmetic } from "../harness/code-floors";
import { timeEach } from "../harness/latency";
import { disk, makeFolder, type Place, tmpfs } from "../harness/places";
import type { Charted } from "../harness/suite";
import { execute, openActors, ran } from "./code";
import { Echo } from "./echo";

// What the rows about single operations run, each in a process of its own.

/** What a time holds that is none of the operation's: a call that does nothing, between two readings of the clock. */
const nothing = (count: number) =>
  timeEach(count, { operation: (index) => index, isDone: (answer, index) => answer === index });

export const clock = async (count: number): Promise<Charted> => (await nothing(count)).told("ns");
export const clockInMicroseconds = async (count: number): Promise<Charted> => (await nothing(count)).told("µs");

const to = address("echo");

export async function messages(count: number): Promise<Charted> {
  const latencies = await timeEach(count, {
    operation: (index) => createMessage(to, "say", index),
    isDone: (message, index) => message.payload === index && isAddress(message.to) && message.id.length > 0,
  });
  return latencies.told("ns");
}

const echoed = (reply: AskResult, index: number): boolean => reply.isOk() && reply.value === index;

async function withEcho(work: (opened: ReturnType<typeof openEcho>) => Promise<Charted>): Promise<Charted> {
  const opened = openEcho();
  const told = await work(opened);
  await opened.system.shutdown();
  return told;
}

function openEcho() {
  const system = createSystem();
  return { system, echo: system.spawn("echo", Echo, () => ({ say: (payload) => payload })) };
}

export const routerAsks = (count: number): Promise<Charted> =>
  withEcho(async ({ system: { router } }) => {
    const operation = (index: number) => router.ask(createMessage(to, "say", index));
    return (await timeEach(count, { operation, isDone: echoed })).told("ns");
  });

export const refAsks = (count: number): Promise<Charted> =>
  withEcho(async ({ echo }) =>
    (await timeEach(count, { operation: (index) => echo.ask("say", index), isDone: echoed })).told("ns"),
  );

/** How many operations of one row are under way at the same time. */
const WIDTH = 100;

export const hundredAsks = (count: number): Promise<Charted> =>
  withEcho(async ({ system: { router } }) => {
    const operation = (index: number) => {
      const asks: Promise<AskResult>[] = [];
      for (let i = 0; i < WIDTH; i++) asks.push(router.ask(createMessage(to, "say", index + i)));
      return Promise.all(asks);
    };
    const isDone = (replies: readonly AskResult[], index: number) =>
      replies.length === WIDTH && replies.every((reply, i) => echoed(reply, index + i));
    return (await timeEach(count, { operation, isDone })).told("µs");
  });

const FILES = address("files");
const SIZE = 100;
const text = (index: number): string => String(index).padEnd(SIZE, ".");

/** The value of a file actor's reply; the router knows no types, the protocol says that it is one of these two. */
function replied(answer: AskResult): { content?: string; size?: number } | undefined {
  if (answer.isErr()) return undefined;
  const reply = answer.value as { ok: true; value: { content?: string; size?: number } } | { ok: false };
  return reply.ok ? reply.value : undefined;
}

/** Times requests of a file actor below a folder of its own, which is removed. */
async function withFiles(
  place: Place,
  count: number,
  message: (index: number) => ReturnType<typeof createMessage>,
  isDone: (answer: AskResult, index: number) => boolean,
): Promise<Charted> {
  const { path, remove } = makeFolder(place);
  const system = createSystem();
  const { router } = system;
  try {
    writeFileSync(join(path, "read.txt"), text(0));
    spawnFileSystem(system, { root: path });
    return (await timeEach(count, { operation: (index) => router.ask(message(index)), isDone })).told("µs");
  } finally {
    await system.shutdown();
    remove();
  }
}

const reads = (place: Place, count: number): Promise<Charted> =>
  withFiles(
    place,
    count,
    () => createMessage(FILES, "read", { path: "read.txt" }),
    (answer) => replied(answer)?.content === text(0),
  );

const writes = (place: Place, count: number): Promise<Charted> =>
  withFiles(
    place,
    count,
    (index) => createMessage(FILES, "write", { path: "written.txt", content: text(index) }),
    (answer) => replied(answer)?.size === SIZE,
  );

function inMemory(): Place {
  if ("none" in tmpfs) throw new Error(tmpfs.none);
  return tmpfs;
}

export const readsOnDisk = (count: number): Promise<Charted> => reads(disk, count);
export const writesOnDisk = (count: number): Promise<Charted> => writes(disk, count);
export const readsInMemory = (count: number): Promise<Charted> => reads(inMemory(), count);
export const writesInMemory = (count: number): Promise<Charted> => writes(inMemory(), count);

async function executions(isolation: "sandbox" | "trusted", count: number): Promise<Charted> {
  const { router } = await openActors(isolation);
  const { code, value } = arithmetic;
  const operation = () => execute(router, code);
  return (await timeEach(count, { operation, isDone: (answer) => ran(answer).value === value })).told("µs");
}

export const sandboxExecutions = (count: number): Promise<Charted> => executions("sandbox", count);
export const trustedExecutions = (count: number): Promise<Charted> => executions("trusted", count);
