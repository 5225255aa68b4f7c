import { heapStats } from "bun:jsc";
import { slope } from "./statistics";
import type { Readings } from "./suite";

/** The live heap in bytes, after a forced collection. Repeated in fresh processes it varies by less than a byte in a hundred thousand. */
export function liveHeap(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}

/**
 * Bytes of heap that each of `count` things keeps alive. `create` makes that many and returns what holds them; it runs once on a
 * hundred before, so that code and shapes are not counted as theirs.
 */
export async function heapOfEach(
  count: number,
  create: (count: number) => object | Promise<object>,
): Promise<Readings> {
  const rehearsal = await create(100);
  const before = liveHeap();
  const held = await create(count);
  const bytes = (liveHeap() - before) / count;
  keepAlive(rehearsal, held);
  return { bytes };
}

/**
 * How heap and RSS grow, in MB after the first `messages`, and how they go on: `heap slope` is bytes a message over 20 further
 * batches, by least squares. `send` completes that many messages, and throws when it does not.
 */
export async function growth(messages: number, send: (messages: number) => Promise<void>): Promise<Readings> {
  const heap = liveHeap();
  const rss = process.memoryUsage.rss();
  await send(messages);
  const points = [liveHeap()];
  const heapGrowth = ((points[0] ?? 0) - heap) / 1e6;
  const rssGrowth = (process.memoryUsage.rss() - rss) / 1e6;
  for (let i = 0; i < 20; i++) {
    await send(messages);
    points.push(liveHeap());
  }
  return { "heap growth": heapGrowth, "RSS growth": rssGrowth, "heap slope": slope(points) / messages };
}

// Reads something of each after the measurement, so that the collector may not take it before.
function keepAlive(...held: readonly object[]): void {
  for (const each of held) Reflect.ownKeys(each);
}
