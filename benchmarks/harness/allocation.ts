import { heapStats } from "bun:jsc";
import type { Work } from "./heap";
import type { Readings } from "./suite";
import { type Point, trend } from "./trend";

/** What a process is started with that is never to collect: an option of the engine. */
export const NO_COLLECTION: Readonly<Record<string, string>> = { BUN_JSC_useGC: "0" };

/** How often the heap's size is read on the way. */
const READINGS = 20;
/** Bytes that the heap has taken so far. To read it allocates 64, where `heapStats()` allocates 15,000. */
const heapTotal = (): number => process.memoryUsage().heapTotal;

/** Milliseconds that the compiler is given on a busy machine, ten times: it works beside the process. */
const PAUSE = 10;

/**
 * Bytes that each of `count` pieces of work allocates, in a process that never collects: all that is allocated makes the heap
 * grow. It grows by blocks of 16 kB, each for one kind of cell, so the trend is taken over many pieces; fresh processes agree
 * to half a percent. As many pieces before are not counted: the compiler does away with some allocations once it knows the
 * code.
 *
 * @throws Error when something was collected all the same.
 */
export async function allocationOfEach(count: number, work: Work): Promise<Readings> {
  for (let i = 0; i < 10; i++) {
    await work(Math.ceil(count / 10));
    await Bun.sleep(PAUSE);
  }
  const survived = heapStats().objectCount; // As the last collection counted them.
  const part = Math.ceil(count / READINGS);
  const points: Point[] = [];
  for (let done = 0; done < READINGS; done++) {
    points.push([done * part, heapTotal()]);
    await work(part);
  }
  if (heapStats().objectCount !== survived) throw new Error("the collector ran: what it took was not counted");
  return { bytes: trend(points).slope };
}
