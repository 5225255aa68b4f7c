import { defineProtocol, type System, Type } from "../../src/index";
import { answered } from "./answered";
import { seededRandom } from "./random";

const Dictionary = defineProtocol("dictionary", {
  /** Adds one to what stands under a key, and tells what stands there now. */
  add: { payload: Type.Number(), reply: Type.Number() },
  read: { payload: Type.Number(), reply: Type.Number() },
  sum: { reply: Type.Number() },
});
const Counts = Type.Object({ reads: Type.Number(), writes: Type.Number(), stale: Type.Number() });
const Worker = defineProtocol("worker", { work: { payload: Type.Number(), reply: Counts } });

export interface ConcurrentDictionarySizes {
  readonly workers?: number;
  /** Of each worker. */
  readonly operations?: number;
  readonly keys?: number;
  readonly writePercentage?: number;
  readonly seed?: number;
}

export interface ConcurrentDictionaryAnswer {
  readonly operations: number;
  readonly lostWrites: number;
  /** How often a worker found less under a key than it knew to be there. */
  readonly stale: number;
}

/**
 * Workers read and write one dictionary, which an actor keeps. What each read finds is open; but no write is lost, and
 * no worker finds less under a key than it found or wrote there before.
 */
export async function concurrentDictionary(
  system: System,
  { workers = 20, operations = 5_000, keys = 512, writePercentage = 10, seed = 1 }: ConcurrentDictionarySizes = {},
): Promise<ConcurrentDictionaryAnswer> {
  const dictionary = system.spawn("dictionary", Dictionary, () => {
    const entries = new Map<number, number>();
    return {
      add(key) {
        const value = (entries.get(key) ?? 0) + 1;
        entries.set(key, value);
        return value;
      },
      read: (key) => entries.get(key) ?? 0,
      sum: () => entries.values().reduce((sum, value) => sum + value, 0),
    };
  });

  const crew = Array.from({ length: workers }, (_, index) =>
    system.spawn(`worker-${index}`, Worker, (ctx) => ({
      async work(count) {
        const random = seededRandom(seed + index);
        const known = new Map<number, number>();
        const counts = { reads: 0, writes: 0, stale: 0 };
        for (let i = 0; i < count; i++) {
          const key = random(keys);
          const isWrite = random(100) < writePercentage;
          const least = (known.get(key) ?? 0) + (isWrite ? 1 : 0);
          const found = answered(await ctx.ask(dictionary, isWrite ? "add" : "read", key));
          if (found < least) counts.stale++;
          known.set(key, found);
          if (isWrite) counts.writes++;
          else counts.reads++;
        }
        return counts;
      },
    })),
  );

  const total = { reads: 0, writes: 0, stale: 0 };
  for (const counts of await Promise.all(crew.map((worker) => worker.ask("work", operations)))) {
    const { reads, writes, stale } = answered(counts);
    total.reads += reads;
    total.writes += writes;
    total.stale += stale;
  }
  const sum = answered(await dictionary.ask("sum"));
  return { operations: total.reads + total.writes, lostWrites: total.writes - sum, stale: total.stale };
}
