/** The probes of the suite record. Its servers are processes of their own; the recorded asks have one together. */
import { join } from "node:path";
import { createSystem, defineProtocol, Type } from "envoi";
import { readRecording, recorder } from "envoi/record";
import { Latencies } from "../harness/latency";
import { disk, makeFolder } from "../harness/places";
import { median, ratios } from "../harness/statistics";
import type { Readings, Scale } from "../harness/suite";
import { type Exchange, openAll, repeat, times, WIDTH } from "./http-load";
import { startServer } from "./http-process";
import { MODES, type Mode } from "./record-servers";

const NAMES = { off: "off", record: "record", "with transforms": "transformed" } as const;
const modes = Object.keys(MODES) as Mode[]; // The keys of a literal.
const SERVERS = new URL("record-servers.ts", import.meta.url).href;

/** The turns of each server that are counted. */
const TURNS = 6;

interface Times {
  readonly user: number;
  readonly system: number;
}

/** The three servers take turns of so many requests. Each mode has its readings; its lines are counted in its files. */
export async function beside(exchange: Exchange, count: number, scale: Scale): Promise<Record<Mode, Readings>> {
  await using servers = new AsyncDisposableStack();
  const sides = [];
  for (const mode of modes) {
    const server = servers.use(await startServer(SERVERS, NAMES[mode]));
    const clients = await openAll(server.port, WIDTH);
    sides.push({
      mode,
      server,
      clients,
      latencies: new Latencies(),
      user: [0],
      system: [0],
      cpu: [0],
      rate: [0],
      asked: 0,
    });
  }
  const [turn, turns] = scale === "smoke" ? [WIDTH, 1] : [count, TURNS];
  for (let index = -2; index < turns; index++) {
    if (scale === "smoke" && index < 0) continue;
    for (const side of sides) {
      const { server, clients, latencies } = side;
      const before = await server.call<Times>("times");
      const begun = performance.now();
      await repeat(clients, exchange, times(turn), index < 0 ? undefined : (taken) => latencies.record(taken));
      const wall = performance.now() - begun;
      const after = await server.call<Times>("times");
      side.asked += turn;
      if (index <= 0) for (const all of [side.user, side.system, side.cpu, side.rate]) all.length = 0;
      side.user.push((after.user - before.user) / turn);
      side.system.push((after.system - before.system) / turn);
      side.cpu.push((after.user + after.system - before.user - before.system) / turn);
      side.rate.push((turn * 1_000) / wall);
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

/** Microseconds of an ask of one process, in turns: without a recording, with one, and with one that has transforms. */
export async function asks(turn: number): Promise<Readings> {
  const folder = makeFolder(disk, "envoi-record-");
  const sides = modes.map((mode) => {
    const system = createSystem();
    const to = join(folder.path, `${mode}.ndjson`);
    const recording = recorder(system, { ...MODES[mode], to });
    let total = 0;
    const ref = system.spawn("counter", Counter, () => ({
      add: ({ n }) => {
        total += n;
        return total;
      },
    }));
    return { mode, system, to, recording, ref, taken: [0], asked: 0 };
  });
  for (let index = -4; index < 8; index++) {
    for (const side of sides) {
      const begun = Bun.nanoseconds();
      for (let i = 0; i < turn; i++) {
        const reply = await side.ref.ask("add", { n: 1 });
        side.asked++;
        if (reply.isErr() || reply.value !== side.asked) throw new Error("an ask was not answered right");
      }
      if (index <= 0) side.taken.length = 0;
      side.taken.push((Bun.nanoseconds() - begun) / turn / 1_000);
      await Bun.sleep(5); // The file is written beside the next one's turn otherwise.
    }
  }
  for (const { system, mode, to, asked } of sides) {
    await system.shutdown();
    let ends = 0;
    if (mode !== "off") for await (const { kind } of readRecording(to)) if (kind === "end") ends++;
    if (ends !== (mode === "off" ? 0 : asked)) throw new Error(`${ends} of ${asked} asks are in the file`);
  }
  folder.remove();
  const [off = [], record = [], transformed = []] = sides.map(({ taken }) => taken);
  // The fastest turns: in the others something else had the processor.
  const least = (all: readonly number[]): number => Math.min(...all);
  const added = (all: readonly number[]): number => Math.max(0, least(all) - least(off));
  return {
    ...{ off: least(off), record: least(record), "with transforms": least(transformed) },
    ...{ added: added(record), "added with transforms": added(transformed) },
  };
}
