import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AskResult, System } from "envoi";
import { address, createMessage, createSystem, defineProtocol, isAddress, Type } from "envoi";
import { arithmetic } from "../harness/code-floors";
import { liveHeap } from "../harness/heap";
import { Latencies, sustain, timeEach } from "../harness/latency";
import { disk } from "../harness/places";
import { RawMailbox } from "../harness/raw-mailbox";
import type { Readings } from "../harness/suite";
import { execute, openActors, openByHand, ran, type Workbench } from "./code";
import { Sink, spawnEcho } from "./echo";
import { FILES, replied, withFiles } from "./files";

// The subjects of the suite latency. Each runs in a process of its own, for a number of operations or of milliseconds.

const times = async <Answer>(
  unit: "ns" | "µs",
  count: number,
  operation: (index: number) => Answer | Promise<Answer>,
  isDone: (answer: Answer, index: number) => boolean,
): Promise<Readings> => (await timeEach(count, { operation, isDone })).told(unit);

const isSame = (answer: number, index: number): boolean => answer === index;

/** The part of a time that is not the operation's: a call that does nothing, between two readings of the clock. */
export const clock = (count: number) => times("ns", count, (index) => index, isSame);
export const clockInMicroseconds = (count: number) => times("µs", count, (index) => index, isSame);

const echoTo = address("echo");

export const messages = (count: number) =>
  times(
    "ns",
    count,
    (index) => createMessage(echoTo, "say", index),
    (message, index) => message.payload === index && isAddress(message.to) && message.id.length > 0,
  );

const echoed = (reply: AskResult, index: number): boolean => reply.isOk() && reply.value === index;

async function withSystem<Read>(work: (system: System) => Promise<Read>): Promise<Read> {
  const system = createSystem();
  const read = await work(system);
  await system.shutdown();
  return read;
}

export const routerAsks = (count: number) =>
  withSystem((system) => {
    spawnEcho(system);
    return times("ns", count, (index) => system.router.ask(createMessage(echoTo, "say", index)), echoed);
  });

export const refAsks = (count: number) =>
  withSystem((system) => {
    const echo = spawnEcho(system);
    return times("ns", count, (index) => echo.ask("say", index), echoed);
  });

const WIDTH = 100;

export const hundredAsks = (count: number) =>
  withSystem((system) => {
    spawnEcho(system);
    const operation = (index: number) => {
      const asks: Promise<AskResult>[] = [];
      for (let i = 0; i < WIDTH; i++) asks.push(system.router.ask(createMessage(echoTo, "say", index + i)));
      return Promise.all(asks);
    };
    const isDone = (replies: readonly AskResult[], index: number) =>
      replies.every((reply, i) => echoed(reply, index + i));
    return times("µs", count, operation, isDone);
  });

const SIZE = 100;
const text = (index: number): string => String(index).padEnd(SIZE, ".");

export const reads = (count: number) =>
  withFiles(disk, ({ folder, router }) => {
    writeFileSync(join(folder, "read.txt"), text(0));
    const operation = () => router.ask(createMessage(FILES, "read", { path: "read.txt" }));
    return times("µs", count, operation, (answer) => replied(answer).content === text(0));
  });

export const writes = (count: number) =>
  withFiles(disk, ({ router }) => {
    const operation = (index: number) =>
      router.ask(createMessage(FILES, "write", { path: "written.txt", content: text(index) }));
    return times("µs", count, operation, (answer) => replied(answer).size === SIZE);
  });

export async function sandboxExecutions(count: number): Promise<Readings> {
  const { router } = await openActors("sandbox");
  const isDone = (answer: AskResult) => ran(answer).value === arithmetic.value;
  return times("µs", count, () => execute(router, arithmetic.code), isDone);
}

/** Messages that are sent before the last of them is awaited. */
const BATCH = 1_000;

/** Sends batches for so long; what hears of each message is told by `arrive`. */
function sustained(milliseconds: number, open: (arrive: () => void) => (index: number) => void): Promise<Readings> {
  let handled = 0;
  let finish = (_handled: number) => {};
  const send = open(() => {
    if (++handled === BATCH) finish(handled);
  });
  return sustain(milliseconds, () => {
    handled = 0;
    const { promise, resolve } = Promise.withResolvers<number>();
    finish = resolve;
    for (let index = 0; index < BATCH; index++) send(index);
    return promise;
  });
}

export const byRouter = (milliseconds: number) =>
  withSystem(async (system) => {
    const { router } = system;
    const readings = await sustained(milliseconds, (arrive) => {
      const { address } = system.spawn("sink", Sink, () => ({ take: () => arrive() }));
      return (index) => router.tell(createMessage(address, "take", index));
    });
    const { accepted, handled } = router.audit();
    if (accepted !== handled) throw new Error(`${accepted} messages were accepted and ${handled} handled`);
    return readings;
  });

/** The least of it: the bare mailbox. */
export const raw = (milliseconds: number) =>
  sustained(milliseconds, (arrive) => {
    const mailbox = new RawMailbox<number>(arrive);
    return (index) => mailbox.tell(index);
  });

const [ITEMS, AT_ONCE, REHEARSED] = [10, 50, 200];
const PATHS = 120; // Messages that have a file each; the next ones write those files again.
/** A read is of what was written so many messages before: in an earlier batch, by a message that writes. */
const BEFORE = 57;

const Source = defineProtocol("source", { count: { payload: Type.Number(), stream: Type.Number() } });

function* count(from: number) {
  for (let i = 0; i < ITEMS; i++) yield from + i;
}

/** Messages of streams, files (written and read in turn) and code, a third each: a batch at once, each message timed by itself. */
export async function mixed<Answer>(
  messages: number,
  bench: Workbench<Answer>,
  stream: (from: number) => Iterable<unknown> | AsyncIterable<unknown>,
): Promise<Readings> {
  const path = (index: number) => `mixed-${index % PATHS}.txt`;
  const kinds: Record<string, (index: number) => Promise<boolean>> = {
    async streaming(index) {
      let next = index;
      for await (const item of stream(index)) if (item === next) next++;
      return next === index + ITEMS;
    },
    async files(index) {
      if (index % 2 === 1) return (await bench.read(path(index - BEFORE))) === text(index - BEFORE);
      await bench.write(path(index), text(index));
      return true; // A read sees it.
    },
    code: async (index) => bench.told(await bench.run("2 * 9 + input", index)).value === 18 + index,
  };
  const all = Object.entries(kinds).map(([name, work]) => ({ name, work, times: new Latencies() }));
  let [heap, begun] = [0, 0];
  const send = async (index: number) => {
    const kind = all[index % all.length];
    const start = Bun.nanoseconds();
    if (!(await kind?.work(index))) throw new Error(`message ${index}, of ${kind?.name}, did not do its work`);
    if (begun > 0) kind?.times.record(Bun.nanoseconds() - start);
  };
  for (let index = 0; index < PATHS; index++) await bench.write(path(index), text(index));
  const first = PATHS + REHEARSED;
  for (let sent = PATHS; sent < first + messages; sent += AT_ONCE) {
    if (sent === first) [heap, begun] = [liveHeap(), Bun.nanoseconds()];
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => send(sent + i)));
  }
  const rate = messages / ((Bun.nanoseconds() - begun) / 1e9);
  const p95 = all.map(({ name, times }) => [`${name} p95`, times.percentile(95) / 1e6]);
  return { rate, "heap growth": (liveHeap() - heap) / 1e6, ...Object.fromEntries(p95) };
}

const mixedByActors = async (isolation: "sandbox" | "trusted", messages: number) => {
  const bench = await openActors(isolation);
  const { address } = bench.system.spawn("source", Source, () => ({ count }));
  return mixed(messages, bench, (from) => bench.router.stream(createMessage(address, "count", from)));
};
export const sandboxMixed = (messages: number) => mixedByActors("sandbox", messages);
export const trustedMixed = (messages: number) => mixedByActors("trusted", messages);
export const sandboxMixedByHand = (messages: number) => mixed(messages, openByHand("sandbox"), count);
export const trustedMixedByHand = (messages: number) => mixed(messages, openByHand("trusted"), count);
