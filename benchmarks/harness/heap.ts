import { heapStats } from "bun:jsc";
import { type Point, trend } from "./statistics";
import type { Charted, Readings } from "./suite";

/** The live heap in bytes, after a forced collection. Repeated in fresh processes it varies by less than a byte in a hundred thousand. */
export function liveHeap(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}

export type Work = (count: number) => Promise<void>;

/** Bytes of heap that each of `count` things keeps alive. `create` runs once on a hundred before, for code and shapes. */
export async function heapOfEach(
  count: number,
  create: (count: number) => object | Promise<object>,
): Promise<Readings> {
  const held = [await create(100)];
  const before = liveHeap();
  held.push(await create(count));
  const bytes = (liveHeap() - before) / count;
  for (const each of held) Reflect.ownKeys(each); // The collector may not take it before.
  return { bytes };
}

export async function growth(count: number, work: Work): Promise<Readings> {
  const [heap, rss] = [liveHeap(), process.memoryUsage.rss()];
  await work(count);
  return { "heap growth": (liveHeap() - heap) / 1e6, "RSS growth": (process.memoryUsage.rss() - rss) / 1e6 };
}

const READINGS = 100;
const SETTLED = 0.5; // The share of the way after which the compiler is done, and heap and RSS have found their size.

/** Bytes of the heap, after a forced collection, and of the process. */
export const memoryHere = () => ({ heap: liveHeap(), rss: process.memoryUsage.rss() });

/**
 * How heap and RSS go on growing with each piece of work, in bytes, over `count` of them (`along` names them): read 100 times on the
 * way, each time after a forced collection; the trend is that of the second half. `read` may read another process.
 */
export async function slopes(
  along: string,
  count: number,
  work: Work,
  read: () => ReturnType<typeof memoryHere> | Promise<ReturnType<typeof memoryHere>> = memoryHere,
): Promise<Charted> {
  // Of a fixed size: what keeps the readings would otherwise grow by 130 bytes with each, and be found.
  const [done, heap, rss] = [0, 0, 0].map(() => new Float64Array(READINGS + 1)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (let reading = 0; reading <= READINGS; reading++) {
    const next = Math.round((count * reading) / READINGS);
    if (reading > 0) await work(next - (done[reading - 1] ?? 0));
    done[reading] = next;
    ({ heap: heap[reading], rss: rss[reading] } = await read());
  }
  const lines = Object.entries({ heap, RSS: rss }).map(([name, memory]) => {
    const points = Array.from(memory, (bytes, i): Point => [done[i] ?? 0, bytes]);
    const { slope, least, most } = trend(points.filter(([at]) => at >= count * SETTLED));
    return {
      readings: { [`${name} slope`]: slope, [`${name} slope, least`]: least, [`${name} slope, most`]: most },
      series: { name, along, unit: "MB", points: points.map(([at, bytes]): Point => [at, bytes / 1e6]) } as const,
    };
  });
  return {
    readings: Object.assign({}, ...lines.map(({ readings }) => readings)),
    series: lines.map(({ series }) => series),
  };
}

export const NO_COLLECTION: Readonly<Record<string, string>> = { BUN_JSC_useGC: "0" };

const STEPS = 20;
const PAUSE = 10; // Milliseconds for the compiler, which works beside the process; ten times.

/**
 * Bytes that each of `count` pieces of work allocates, in a process that never collects. The heap grows by blocks of 16 kB, each for one
 * kind of cell, so the trend is taken over many pieces. As many before are not counted: the compiler does away with some allocations.
 */
export async function allocationOfEach(count: number, work: Work): Promise<Readings> {
  for (let i = 0; i < 10; i++) {
    await work(Math.ceil(count / 10));
    await Bun.sleep(PAUSE);
  }
  const survived = heapStats().objectCount; // As the last collection counted them.
  const part = Math.ceil(count / STEPS);
  const points: Point[] = [];
  for (let done = 0; done < STEPS; done++) {
    points.push([done * part, process.memoryUsage().heapTotal]); // To read it allocates 64 bytes, and `heapStats()` 15,000.
    await work(part);
  }
  if (heapStats().objectCount !== survived) throw new Error("the collector ran: what it took was not counted");
  return { bytes: trend(points).slope };
}
