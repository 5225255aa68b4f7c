import { describe, expect, test } from "bun:test";
import { type ActorOptions, defineProtocol, type RefTo, StreamError, Type } from "../../src/index";
import { type Faults, SimulatedFault, type SimulatedProgram, simulate } from "../../src/testing/index";
import { runs } from "../property/runs";
import { expectBalanced } from "./balanced";

/** How a producer goes about it, and where it throws. */
interface Order {
  readonly id: number;
  readonly items: number;
  readonly throwsAt: number | null;
}

const Source = defineProtocol("source", {
  count: { payload: Type.Unsafe<Order>({}), stream: Type.Number() },
  ping: { reply: Type.Number() },
});
const Reader = defineProtocol("reader", { read: { payload: Type.Unsafe<Order>({}), reply: Type.Number() } });

class Breakdown extends Error {}

const STREAMS = 8;

/** What became of the streams. */
interface Seen {
  whole: number;
  left: number;
  failed: number;
  gaveUp: number;
}

/** One stream, as it is seen from both of its ends. */
interface Channel {
  produced: number;
  read: number;
  readonly credit: number;
  opened: number;
  closed: number;
}

/** Readers of streams that leave them, give up and break; what their producers do is watched. */
const reading =
  (seen: Seen): SimulatedProgram =>
  async ({ system, random, always, advance, eventually }) => {
    const channels = new Map<number, Channel>();
    let open = 0;
    always(() => {
      expectBalanced(system);
      // P12: what its reader has not taken is never more than its credit, and one that is on its way.
      for (const { produced, read, credit } of channels.values()) {
        if (produced - read > credit + 1)
          throw new Error(`${produced} were produced, and ${read} read at credit ${credit}`);
      }
    });

    const options: ActorOptions = random.pick([{}, { concurrency: 3 }, { capacity: 2, overflow: "wait" }]);
    const source: RefTo<typeof Source> = system.spawn(
      "source",
      Source,
      () => ({
        async *count({ id, items, throwsAt }) {
          const channel = channels.get(id);
          if (channel === undefined) throw new Error("It was not asked for.");
          channel.opened++;
          try {
            for (let item = 0; item < items; item++) {
              if (item === throwsAt) throw new Breakdown();
              if (random.chance(0.3)) await advance(random.below(3));
              channel.produced++;
              yield item;
            }
          } finally {
            channel.closed++;
          }
        },
        ping: () => 1,
      }),
      options,
    );

    /** Reads a stream to its end, or until it has enough. */
    const readAll = async (
      order: Order,
      stream: AsyncIterable<number>,
      enough: number,
      signal?: AbortSignal,
    ): Promise<number> => {
      let next = 0;
      try {
        for await (const item of stream) {
          expect(item).toBe(next++); // In order, none twice, none left out.
          const channel = channels.get(order.id);
          if (channel !== undefined) channel.read++;
          if (next === enough) {
            seen.left++;
            return next;
          }
          if (random.chance(0.3)) await advance(random.below(4));
        }
        seen.whole++;
        expect(next).toBe(order.items);
        expect(order.throwsAt === null || order.throwsAt >= order.items).toBe(true);
      } catch (thrown) {
        if (!(thrown instanceof StreamError)) throw thrown;
        if (thrown.kind === "handler-failed") {
          seen.failed++;
          expect(thrown.cause instanceof Breakdown || thrown.cause instanceof SimulatedFault).toBe(true);
          // Who gives up leaves what was produced; anybody else has all of it first.
          if (thrown.cause instanceof Breakdown && signal?.aborted !== true) expect(next).toBe(order.throwsAt ?? -1);
        } else {
          seen.gaveUp++;
          expect(["timeout", "cancelled", "stopped"]).toContain(thrown.kind);
        }
      }
      return next;
    };

    const readers = Array.from({ length: 2 }, (_, own) =>
      system.spawn(`reader-${own}`, Reader, (ctx) => ({
        read: (order) =>
          readAll(order, ctx.stream(source, "count", order, { credit: channels.get(order.id)?.credit ?? 1 }), -1),
      })),
    );

    await Promise.all(
      Array.from({ length: STREAMS }, async (_, id) => {
        await advance(random.below(10));
        const items = random.below(12);
        const order = { id, items, throwsAt: random.chance(0.3) ? random.below(items + 1) : null };
        const credit = random.pick([1, 2, 4, 16]);
        channels.set(id, { produced: 0, read: 0, credit, opened: 0, closed: 0 });
        open++;
        if (random.chance(0.3)) await random.pick(readers).ask("read", order, { timeout: 5 + random.below(40) });
        else {
          const controller = random.chance(0.2) ? new AbortController() : null;
          if (controller !== null) void advance(random.below(20)).then(() => controller.abort());
          const stream = source.stream("count", order, {
            credit,
            ...(random.chance(0.2) ? { timeout: 1 + random.below(3) } : {}),
            ...(controller === null ? {} : { signal: controller.signal }),
          });
          await readAll(order, stream, random.chance(0.3) ? random.below(items) + 1 : -1, controller?.signal);
        }
        open--;
      }),
    );
    eventually(async () => {
      expect(open).toBe(0);
      for (const { opened, closed } of channels.values()) {
        expect(closed).toBe(opened); // Each producer's finally has run.
        expect(opened).toBeLessThanOrEqual(1);
      }
      if (system.router.has(source.address)) expect((await source.ask("ping"))._unsafeUnwrap()).toBe(1);
    });
  };

const rows: [name: string, faults: Faults][] = [
  ["without faults", {}],
  ["with turns that come late", { delay: 0.1 }],
  ["with waits that expire", { expire: 0.05 }],
  ["with all faults", { throw: 0.03, stop: 0.002, delay: 0.05, expire: 0.02 }],
];

describe("P12: a producer is never further ahead than its credit, and ends with its reader:", () => {
  for (const [name, faults] of rows) {
    test(name, async () => {
      const seen: Seen = { whole: 0, left: 0, failed: 0, gaveUp: 0 };
      await simulate(reading(seen), {
        seeds: runs(200).numRuns,
        faults,
        expected: ({ error }) => error instanceof Breakdown,
      });
      for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
    });
  }
});
