import { describe, expect, test } from "bun:test";
import {
  type ActorOptions,
  type Address,
  defineProtocol,
  type Factory,
  type RefTo,
  type Routing,
  type SignaturesOf,
  spawnPool,
  Type,
} from "../../src/index";
import { type SeededRandom, type SimulatedProgram, simulate } from "../../src/testing/index";
import { runs } from "../property/runs";

/** What a handler does: it asks others, one after the other or all at once, each with work of its own. */
interface Work {
  readonly to: number;
  /** Who passes it on before it comes there. */
  readonly via: readonly number[];
  readonly parts: readonly Work[];
  readonly isParallel: boolean;
}

const Worker = defineProtocol("worker", { work: { payload: Type.Unsafe<Work>({}), reply: Type.Number() } });

const NEVER = { timeout: Number.POSITIVE_INFINITY };
const workerNumbers = [0, 1, 2, 3, 4];
const last = workerNumbers.length - 1;

/** How a graph of asks is drawn. */
interface Setting {
  readonly name: string;
  /** How often a message is passed on. */
  readonly forwards: number;
  readonly options: (random: SeededRandom) => ActorOptions;
  /** Where each is a pool. */
  readonly routings?: readonly Routing[];
}

/** Draws work for one worker; the parts of it `upwards` for higher numbers alone, so that no circle can come of it. */
function drawWork(random: SeededRandom, depth: number, from: number, upwards: boolean, forwards: number): Work {
  const to = upwards ? from + 1 + random.below(last - from) : random.below(last + 1);
  const between = workerNumbers.filter((other) => other !== to && (!upwards || (other > from && other < to)));
  const via = random.chance(forwards) ? random.shuffle(between).slice(0, 1 + random.below(2)) : [];
  const count = depth === 0 || (upwards && to === last) ? 0 : random.below(3);
  return {
    to,
    via: upwards ? via.sort() : via,
    parts: Array.from({ length: count }, () => drawWork(random, depth - 1, to, upwards, forwards)),
    isParallel: random.chance(0.3),
  };
}

const sizeOf = (work: Work): number => work.parts.reduce((sum, part) => sum + sizeOf(part), 1);

/** Workers that do work at random; each refusal is told, with who waited for whom when it came. */
const graph =
  (
    upwards: boolean,
    { forwards, options, routings }: Setting,
    onRefused: (path: readonly Address[], waits: ReadonlySet<string>) => void,
  ): SimulatedProgram =>
  async ({ system, random }) => {
    const waits: string[] = [];
    const workers: RefTo<typeof Worker>[] = workerNumbers.map((own) => {
      const factory: Factory<SignaturesOf<typeof Worker>> = (ctx) => {
        const refTo = (other: number): RefTo<typeof Worker> => workers[other] ?? expect.unreachable();
        const ask = async (part: Work): Promise<number> => {
          const to = refTo(part.via[0] ?? part.to);
          const wait = `${ctx.self.address} → ${to.address}`;
          waits.push(wait);
          const result = await ctx.ask(to, "work", part, NEVER);
          const standing = new Set(waits);
          waits.splice(waits.indexOf(wait), 1);
          if (result.isOk()) return result.value;
          if (result.error.kind === "cancelled") return 0; // Another worker has answered first.
          if (result.error.kind !== "ask-cycle") throw new Error(result.error.message);
          onRefused(result.error.path, standing);
          return 0;
        };
        return {
          async work({ to, via, parts, isParallel }) {
            const hop = via.indexOf(own);
            if (hop >= 0) return ctx.forward(refTo(via[hop + 1] ?? to));
            let done = 1;
            if (isParallel) for (const each of await Promise.all(parts.map(ask))) done += each;
            else for (const part of parts) done += await ask(part);
            return done;
          },
        };
      };
      if (routings === undefined) return system.spawn(`w${own}`, Worker, factory, options(random));
      const routing = random.pick(routings);
      return spawnPool(system, `w${own}`, Worker, factory, {
        ...options(random),
        size: 1 + random.below(3),
        routing,
        ...(routing === "consistent-hash" ? { key: () => random.below(3) } : {}),
      });
    });
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        const work = drawWork(random, 3, -1, upwards, forwards);
        const reply = await workers[work.via[0] ?? work.to]?.ask("work", work, NEVER);
        if (upwards) expect(reply?._unsafeUnwrap()).toBe(sizeOf(work));
      }),
    );
  };

const settings: readonly Setting[] = [
  { name: "plain actors", forwards: 0, options: () => ({}) },
  {
    name: "actors whose askers wait for room",
    forwards: 0,
    options: (random) => ({ capacity: 1 + random.below(2), overflow: "wait" }),
  },
  {
    name: "actors that handle several messages at once",
    forwards: 0,
    options: (random) => ({ concurrency: 1 + random.below(3) }),
  },
  { name: "actors that pass on what they are asked", forwards: 0.3, options: () => ({}) },
  {
    name: "actors that do all of that",
    forwards: 0.3,
    options: (random) => ({ concurrency: 1 + random.below(3), capacity: 1 + random.below(2), overflow: "wait" }),
  },
  {
    name: "pools of which one worker answers",
    forwards: 0,
    options: () => ({}),
    routings: ["round-robin", "least-busy", "consistent-hash"],
  },
  { name: "pools that answer together", forwards: 0, options: () => ({}), routings: ["broadcast", "first-answer"] },
  {
    name: "pools that pass on what they are asked",
    forwards: 0.3,
    options: (random) => ({ concurrency: 1 + random.below(2) }),
    routings: ["round-robin", "least-busy", "consistent-hash", "broadcast"],
  },
  {
    name: "pools of all kinds, whose workers handle several messages at once",
    forwards: 0,
    options: (random) => ({ concurrency: 1 + random.below(3) }),
    routings: ["round-robin", "least-busy", "consistent-hash", "broadcast", "first-answer"],
  },
];

describe("P8: actors that ask each other at random never wait for ever, and only a circle is refused:", () => {
  for (const setting of settings) {
    test(setting.name, async () => {
      let refused = 0;
      const program = graph(false, setting, (path, waits) => {
        refused++;
        expect(path.length).toBeGreaterThanOrEqual(2);
        expect(path.at(-1)).toBe(path[0]);
        if (setting.forwards > 0 || setting.routings !== undefined) return; // Who is waited for is not who was asked.
        for (let i = 0; i < path.length - 1; i++) expect(waits).toContain(`${path[i]} → ${path[i + 1]}`);
      });
      await simulate(program, { seeds: runs(200, 10_000).numRuns, faults: { delay: 0.02 } });
      expect(refused).toBeGreaterThan(200);
    });
  }
});

describe("P8: actors that ask only those above them are never refused:", () => {
  for (const setting of settings) {
    test(setting.name, async () => {
      await simulate(
        graph(true, setting, (path) => expect(path).toBeUndefined()),
        { seeds: runs(100, 5_000).numRuns },
      );
    });
  }
});
