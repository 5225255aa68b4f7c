/** The probes of the suite record. Its servers are processes of their own; the recorded asks have one together. */
import { join } from "node:path";
import { createSystem, defineProtocol, Type } from "envoi";
import { recorder } from "envoi/record";
import { Latencies } from "../harness/latency";
import { disk, makeFolder } from "../harness/places";
import { median, ratios } from "../harness/statistics";
import type { Readings, Scale } from "../harness/suite";
import { type Exchange, openAll, repeat, times } from "./http-load";
import { startServer } from "./http-process";
import { kindsIn, MODES, type Mode } from "./record-servers";

const NAMES = { off: "off", record: "record", "with transforms": "transformed" } as const;
const modes = Object.keys(MODES) as Mode[]; // The keys of a literal.
const SERVERS = new URL("record-servers.ts", import.meta.url).href;

/**
 * The turns of each server that are counted, and those before them, which are not: a gateway takes three times as long for its first
 * requests, and the compiler is done with it after some 25 turns of 1,200 small ones. A turn of larger ones has as many fewer.
 */
const [WARM_UP, TURNS] = [25, 10];

interface Times {
  readonly user: number;
  readonly system: number;
}

/** Requests to three servers, in turns of so many, of which so many are under way at once. */
export interface Load {
  readonly exchange: Exchange;
  readonly turn: number;
  readonly width: number;
}

/** The three servers take turns. Each mode has its readings; its lines are counted in its files. */
export async function beside({ exchange, turn, width }: Load, scale: Scale): Promise<Record<Mode, Readings>> {
  await using servers = new AsyncDisposableStack();
  const sides = [];
  for (const mode of modes) {
    const server = servers.use(await startServer(SERVERS, NAMES[mode]));
    const clients = await openAll(server.port, width);
    sides.push({
      mode,
      server,
      clients,
      latencies: new Latencies(),
      user: [] as number[],
      system: [] as number[],
      cpu: [] as number[],
      rate: [] as number[],
      asked: 0,
    });
  }
  const [count, warmUp, turns] = scale === "smoke" ? [width, 0, 1] : [turn, WARM_UP, TURNS];
  for (let index = -warmUp; index < turns; index++) {
    for (const side of sides) {
      const { server, clients, latencies } = side;
      const before = await server.call<Times>("times");
      const begun = performance.now();
      await repeat(clients, exchange, times(count), index < 0 ? undefined : (taken) => latencies.record(taken));
      const wall = performance.now() - begun;
      const after = await server.call<Times>("times");
      side.asked += count;
      if (index < 0) continue;
      side.user.push((after.user - before.user) / count);
      side.system.push((after.system - before.system) / count);
      side.cpu.push((after.user + after.system - before.user - before.system) / count);
      side.rate.push((count * 1_000) / wall);
    }
  }
  const readings = {} as Record<Mode, Readings>; // All modes follow.
  for (const { mode, server, latencies, user, system, cpu, rate, asked } of sides) {
    const { rss } = await server.call<{ readonly rss: number }>("memory");
    const { message = 0, end = 0, dropped } = await server.call<Record<string, number>>("recorded");
    const due = mode === "off" ? 0 : asked;
    if (message !== due || end !== due || dropped !== 0) {
      throw new Error(
        `of ${due} asks, ${message} messages and ${end} ends are in the files; ${dropped} lines were dropped`,
      );
    }
    const under = sides[0]?.cpu ?? [];
    readings[mode] = {
      ...{ cpu: median(cpu), "times off": ratios(cpu, under).median, user: median(user), system: median(system) },
      ...{ rate: median(rate), ...latencies.told("ms"), RSS: rss / 1e6 },
    };
  }
  return readings;
}

const Counter = defineProtocol("counter", {
  add: { payload: Type.Object({ n: Type.Number() }), reply: Type.Number() },
});

/** The turns of asks that are not counted: an ask is recorded in half the time of the first turns after some 100,000. */
const ASK_WARM_UP = 16;

/** Microseconds of an ask of one process, in turns: without a recording, with one, and with one that has transforms. */
export async function asks(turn: number): Promise<Readings> {
  const sides = modes.map((mode) => {
    const system = createSystem();
    const folder = makeFolder(disk, "envoi-record-");
    recorder(system, {
      ...MODES[mode],
      to: join(folder.path, "run.ndjson"),
      rotate: { keep: Number.POSITIVE_INFINITY },
    });
    let total = 0;
    const ref = system.spawn("counter", Counter, () => ({
      add: ({ n }) => {
        total += n;
        return total;
      },
    }));
    return { mode, system, folder, ref, taken: [] as number[], asked: 0 };
  });
  for (let index = -ASK_WARM_UP; index < TURNS; index++) {
    for (const side of sides) {
      const begun = Bun.nanoseconds();
      for (let i = 0; i < turn; i++) {
        const reply = await side.ref.ask("add", { n: 1 });
        side.asked++;
        if (reply.isErr() || reply.value !== side.asked) throw new Error("an ask was not answered right");
      }
      if (index >= 0) side.taken.push((Bun.nanoseconds() - begun) / turn / 1_000);
      await Bun.sleep(25); // Its last lines are written 20 ms later, beside the turn of the next one otherwise.
    }
  }
  for (const { system, mode, folder, asked } of sides) {
    await system.shutdown();
    const { message = 0, end = 0 } = await kindsIn(folder.path);
    const due = mode === "off" ? 0 : asked;
    if (message !== due || end !== due)
      throw new Error(`${message} messages and ${end} ends of ${due} are in the files`);
    folder.remove();
  }
  const [off = [], record = [], transformed = []] = sides.map(({ taken }) => taken);
  // The fastest turns: in the others something else had the processor.
  const least = (all: readonly number[]): number => Math.min(...all);
  const added = (all: readonly number[]): number => Math.max(0, least(all) - least(off));
  return {
    ...{ off: least(off), record: least(record), "with transforms": least(transformed) },
    ...{ added: added(record), "added with transforms": added(transformed) },
  };
}
