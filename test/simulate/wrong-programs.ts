import { defineProtocol, Type } from "../../src/index";
import type { SimulatedProgram } from "../../src/testing/index";
import { answered } from "../savina/answered";

// Programs with the faults that programs have. Each goes well in the order in which actors take turns otherwise.

const Log = defineProtocol("log", { write: { payload: Type.String() }, read: { reply: Type.Array(Type.String()) } });
const Work = defineProtocol("work", { go: {} });
const Cell = defineProtocol("cell", { read: { reply: Type.Number() }, write: { payload: Type.Number() } });
const Counter = defineProtocol("counter", { add: { payload: Type.Number() }, total: { reply: Type.Number() } });
const Lock = defineProtocol("lock", { take: {}, leave: {} });
const Step = defineProtocol("step", { first: {}, second: {} });

/** Takes it that what one sender sends comes before what another one does. */
export const orderOfTwoSenders: SimulatedProgram = async ({ system, settle }) => {
  const log = system.spawn("log", Log, () => {
    const lines: string[] = [];
    return { write: (line) => void lines.push(line), read: () => lines };
  });
  for (const name of ["first", "second"]) {
    system.spawn(name, Work, () => ({ go: () => log.tell("write", name) })).tell("go");
  }
  await settle();
  const lines = answered(await log.ask("read"));
  if (lines[0] !== "first") throw new Error(`the log begins with ${lines[0]}`);
};

/** Two clients read, add one and write; one may read before the other has written. */
export const lostUpdate: SimulatedProgram = async ({ system, settle }) => {
  const cell = system.spawn("cell", Cell, () => {
    let value = 0;
    return {
      read: () => value,
      write(next) {
        value = next;
      },
    };
  });
  const clients = ["a", "b"].map((name) =>
    system.spawn(name, Work, (ctx) => ({
      async go() {
        ctx.tell(cell, "write", answered(await ctx.ask(cell, "read")) + 1);
      },
    })),
  );
  for (const client of clients) {
    client.tell("go");
    await Promise.resolve();
  }
  await settle();
  const value = answered(await cell.ask("read"));
  if (value !== clients.length) throw new Error(`${clients.length} clients added one each, and it is ${value}`);
};

/** Two clients take the same two locks, in opposite orders, and wait for ever. */
export const deadlock: SimulatedProgram = async ({ system }) => {
  const locks = ["left", "right"].map((name) =>
    system.spawn(name, Lock, (ctx) => {
      let isTaken = false;
      return {
        take() {
          if (isTaken) return ctx.stash();
          isTaken = true;
          return undefined;
        },
        leave() {
          isTaken = false;
          ctx.unstash();
        },
      };
    }),
  );
  const useBoth = async (order: typeof locks): Promise<void> => {
    for (const lock of order) answered(await lock.ask("take", { timeout: Number.POSITIVE_INFINITY }));
    for (const lock of order) lock.tell("leave");
  };
  await Promise.all([
    ...[locks, [...locks].reverse()].map((order, client) => {
      const done = Promise.withResolvers<void>();
      const user = system.spawn(`client-${client}`, Step, (ctx) => ({
        first: () => ctx.tell(ctx.self, "second"),
        second: () => void useBoth(order).then(done.resolve, done.reject),
      }));
      user.tell(client === 0 ? "second" : "first");
      return done.promise;
    }),
  ]);
};

/** Keeps its sum in its closure, where a restart begins at 0 again. */
export const forgetsOnRestart: SimulatedProgram = async ({ system, eventually }) => {
  const counter = system.spawn("counter", Counter, () => {
    let total = 0;
    return {
      add(n) {
        total += n;
      },
      total: () => total,
    };
  });
  let acknowledged = 0;
  for (let i = 0; i < 10; i++) if ((await counter.ask("add", 1)).isOk()) acknowledged++;
  eventually(async () => {
    const total = answered(await counter.ask("total"));
    if (total < acknowledged) throw new Error(`${acknowledged} were acknowledged, and ${total} are there`);
  });
};

/** Asks again after a timeout, as if what got no reply in time could not have been handled. */
export const handlesTwice: SimulatedProgram = async ({ system, eventually }) => {
  const disk = system.spawn("disk", Work, () => ({ go: () => undefined }));
  const counter = system.spawn("counter", Counter, (ctx) => {
    let total = 0;
    return {
      async add(n) {
        total += n;
        await ctx.ask(disk, "go");
      },
      total: () => total,
    };
  });
  const till = system.spawn("till", Work, (ctx) => ({
    async go() {
      while ((await ctx.ask(counter, "add", 1, { timeout: 100 })).isErr());
    },
  }));
  eventually(async () => {
    const total = answered(await counter.ask("total"));
    if (total > 1) throw new Error(`it was to be counted once, and was ${total} times`);
  });
  await till.ask("go", { timeout: Number.POSITIVE_INFINITY });
};

/** Waits for an answer by tell, which never comes when the one who should send it has died. */
export const waitsForTheDead: SimulatedProgram = async ({ system }) => {
  const done = Promise.withResolvers<void>();
  const second = system.spawn("second", Work, () => ({ go: () => done.resolve() }));
  system.spawn("first", Work, () => ({ go: () => second.tell("go") })).tell("go");
  await done.promise;
};
