/** The rows of the suite workers: envoi's side and the bare one of each. */
import { createSystem, type RefTo, type System } from "envoi";
import { spawnWorkers, type Workers } from "envoi/workers";
import { Latencies } from "../harness/latency";
import { counted, slowSteps } from "../harness/rows";
import { Completion, type Floor, type Prepared, type Readings } from "../harness/suite";
import { Desk, type Order, order, Sleeper } from "./desk";
import { ASK_TEXT, type BareSide, type Form, openBare } from "./workers/bare-sides";

const ENTRY = new URL("workers/worker.ts", import.meta.url);
const SILENT = { warn() {}, error() {} };

interface Side {
  readonly system: System;
  readonly workers: Workers;
  readonly desk: RefTo<typeof Desk>;
}

async function open(as: Form): Promise<Side> {
  const system = createSystem({ logger: SILENT });
  const supervision = { backoff: { initial: 1, max: 1 }, beyondLimit: "hold" as const };
  const workers = await spawnWorkers(system, { entry: ENTRY, size: 1, as, supervision });
  return { system, workers, desk: workers.ref("desk", Desk) };
}

const isSame = (reply: Awaited<ReturnType<Side["desk"]["ask"]>>, sent: Order): boolean => {
  return reply.isOk() && (reply.value as Order).at === sent.at; // Its protocol says so.
};

const close = ({ system }: Side) => ({ teardown: () => system.shutdown() });
const closeBare = (side: BareSide) => ({ teardown: () => side.end() });

// Asks

export async function asks(operations: number, as: Form): Promise<Prepared> {
  const side = await open(as);
  const ask = async (index: number) => isSame(await side.desk.ask("say", order(index)), order(index));
  return slowSteps(operations, ask, close(side));
}

export async function asksAtOnce(operations: number, width: number, as: Form): Promise<Prepared> {
  const side = await open(as);
  return counted(async () => {
    let done = 0;
    for (let sent = 0; sent < operations; sent += width) {
      const replies = await Promise.all(Array.from({ length: width }, (_, i) => side.desk.ask("say", order(sent + i))));
      for (const [i, reply] of replies.entries()) if (isSame(reply, order(sent + i))) done++;
    }
    return done;
  }, close(side));
}

const WAY = { thread: "`postMessage`", process: "`send` of Bun's IPC" } as const;

export const echo = (as: Form, width: number): Floor => ({
  name: width === 1 ? `bare echo, ${as}` : `bare echo, ${as}, ${width} in flight`,
  about: `${WAY[as]} of a text of as many bytes as an ask is in envoi, which comes back as it is; nothing is read or made of it${width === 1 ? "" : `; ${width} one by one, then the next ${width}`}`,
  async setup(operations) {
    const side = await openBare(as);
    const completion = new Completion();
    side.onText = (text) => {
      if (text.length === ASK_TEXT.length) completion.arrive();
    };
    const run = async () => {
      for (let sent = 0; sent < operations; sent += width) {
        const done = completion.expect(width);
        for (let i = 0; i < width; i++) side.post(ASK_TEXT);
        await done;
      }
    };
    return { run, completed: completion.completed, ...closeBare(side) };
  },
});

// Tells

/** Orders that are told; the other side says how many it took, once the last of them is there. */
export async function tells(operations: number, as: Form): Promise<Prepared> {
  const side = await open(as);
  let before = 0;
  return counted(async () => {
    for (let i = 0; i < operations; i++) side.desk.tell("take", order(i));
    const taken = (await side.desk.ask("taken"))._unsafeUnwrap();
    const done = taken - before;
    before = taken;
    return done;
  }, close(side));
}

export const posts = (as: Form): Floor => ({
  name: `bare post, ${as}`,
  about: `${WAY[as]} of the JSON of each, one by one, which the other side parses; it says at the end how many they were`,
  async setup(operations) {
    const side = await openBare(as);
    let before = 0;
    return counted(async () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      side.onText = (text) => resolve(Number(text.slice(1)));
      for (let i = 0; i < operations; i++) side.post(JSON.stringify(order(i)));
      side.post("t");
      const taken = await promise;
      const done = taken - before;
      before = taken;
      return done;
    }, closeBare(side));
  },
});

// Streams

export async function items(operations: number, as: Form, credit: number): Promise<Prepared> {
  const side = await open(as);
  return counted(async () => {
    let done = 0;
    for await (const item of side.desk.stream("list", operations, { credit })) if (item.at === order(done).at) done++;
    return done;
  }, close(side));
}

export const flood = (as: Form): Floor => ({
  name: `bare flood, ${as}`,
  about: `${WAY[as]} of the JSON of each item by the other side, as fast as it can, which this one parses; nobody pushes back`,
  async setup(operations) {
    const side = await openBare(as);
    const completion = new Completion();
    side.onText = (text) => {
      if ((JSON.parse(text) as Order).item.length > 0) completion.arrive();
    };
    const run = async () => {
      const done = completion.expect(operations);
      side.post(`l${operations}`);
      await done;
    };
    return { run, completed: completion.completed, ...closeBare(side) };
  },
});

// Ends

/** How long a worker takes to end after it was told to, and how long that takes a bare one, in turns; and until there is another one. */
export async function ends(as: Form, count: number): Promise<Readings> {
  const [told, bare, again, started] = [new Latencies(), new Latencies(), new Latencies(), new Latencies()];
  const side = await open(as);
  const sleeper = side.workers.ref("sleeper", Sleeper);
  for (let index = 0; index < count; index++) {
    const [{ pid = 0 } = {}] = side.workers.members;
    const waiting = Array.from({ length: WAITING }, () => sleeper.ask("sleep", { timeout: 60_000 }));
    if ((await side.desk.ask("taken")).isErr()) throw new Error("the worker was not there");
    if (as === "thread") side.desk.tell("exit");
    const begun = Bun.nanoseconds();
    if (as === "process") process.kill(pid, "SIGKILL");
    const replies = await Promise.all(waiting);
    told.record(Bun.nanoseconds() - begun);
    if (!replies.every((reply) => reply.isErr() && reply.error.kind === "unreachable")) {
      throw new Error("an ask that waited was not told that its worker is unreachable");
    }
    while (side.workers.members.some(({ state }) => state !== "ready")) await Bun.sleep(0);
    if ((await side.desk.ask("taken")).unwrapOr(-1) !== 0) throw new Error("the new worker is not a new one");
    again.record(Bun.nanoseconds() - begun);
    const starts = Bun.nanoseconds();
    const floor = await openBare(as);
    started.record(Bun.nanoseconds() - starts);
    const gone = Promise.withResolvers<void>();
    floor.onEnd = gone.resolve;
    const ended = Bun.nanoseconds();
    if (as === "process") process.kill(floor.pid, "SIGKILL");
    else floor.post("x");
    await gone.promise;
    bare.record(Bun.nanoseconds() - ended);
  }
  await side.system.shutdown();
  const middle = (of: Latencies) => of.percentile(50) / 1e6;
  return {
    ...{ told: middle(told), "told at most": told.percentile(100) / 1e6, bare: middle(bare) },
    ...{ "there again": middle(again), "bare start": middle(started) },
  };
}

/** The asks that wait for a worker when it ends. */
const WAITING = 100;
