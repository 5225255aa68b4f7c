import { expect, test } from "bun:test";
import fc from "fast-check";
import { createSystem, defineProtocol, type StreamError, Type } from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { runs } from "./runs";

const Source = defineProtocol("source", {
  slow: { stream: Type.Number() },
  quick: { stream: Type.Number() },
  ping: { reply: Type.String() },
});

const scenario = fc.record({
  handler: fc.constantFrom("slow" as const, "quick" as const),
  credit: fc.integer({ min: 1, max: 6 }),
  /** For each item: whether the producer waits for a gate before it (where it can). */
  gates: fc.array(fc.boolean(), { maxLength: 40 }),
  isBroken: fc.boolean(),
  commands: fc.array(fc.constantFrom("read", "read", "read", "open", "settle", "tick"), { maxLength: 80 }),
  /** Before which command the reader leaves. */
  leavesAt: fc.option(fc.nat({ max: 80 })),
});

test("P12: whatever the order of reads, yields and ends, items come in order, none is lost, and credit holds", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ handler, credit, gates, isBroken, commands, leavesAt }) => {
      const clock = createManualClock();
      const system = createSystem({ clock });
      const seen = { begun: 0, produced: 0, ended: 0 };
      let open = (): void => {};
      const source = system.spawn("source", Source, () => ({
        async *slow() {
          seen.begun++;
          try {
            for (const [item, isGated] of gates.entries()) {
              if (isGated) {
                await new Promise<void>((resolve) => {
                  open = resolve;
                });
              }
              seen.produced++;
              yield item;
            }
            if (isBroken) throw new Error("broken");
          } finally {
            seen.ended++;
          }
        },
        *quick() {
          seen.begun++;
          try {
            for (const item of gates.keys()) {
              seen.produced++;
              yield item;
            }
            if (isBroken) throw new Error("broken");
          } finally {
            seen.ended++;
          }
        },
        ping: () => "pong",
      }));

      const stream = source.stream(handler, { credit });
      const outcomes: (number | "done" | "failed")[] = [];
      let reads = 0;
      const read = (): void => {
        const index = reads++;
        stream.next().then(
          ({ value, done }) => {
            outcomes[index] = done === true ? "done" : value;
          },
          (thrown) => {
            expect((thrown as StreamError).kind).toBe("handler-failed");
            outcomes[index] = "failed";
          },
        );
      };
      let hasLeft = false;
      const leave = async (): Promise<void> => {
        hasLeft = true;
        await stream.return();
      };
      for (const [index, command] of commands.entries()) {
        if (index === leavesAt) await leave();
        if (command === "read") read();
        else if (command === "open") open();
        else if (command === "tick") await null;
        else await clock.settle();
        expect(seen.produced - reads).toBeLessThanOrEqual(credit);
      }
      await clock.settle();

      if (!hasLeft) {
        for (let i = 0; i <= gates.length; i++) {
          open();
          await clock.settle();
        }
        const complete = gates.map((_, item): number | string => item).concat(isBroken ? ["failed"] : []);
        const expected = Array.from({ length: reads }, (_, index) => complete[index] ?? "done");
        expect(outcomes as (number | string)[]).toEqual(expected);
        await leave();
      }
      for (let i = 0; i <= gates.length; i++) {
        open();
        await clock.settle();
      }
      // Each read has its outcome: a first part of the items, in order, and then ends alone.
      expect(outcomes.filter((outcome) => outcome !== undefined)).toHaveLength(reads);
      const items = outcomes.filter((outcome) => typeof outcome === "number");
      expect(items).toEqual([...items.keys()]);
      expect(outcomes.slice(0, items.length)).toEqual(items);
      expect(outcomes.filter((outcome) => outcome === "failed").length).toBeLessThanOrEqual(1);

      expect(seen.begun).toBeLessThanOrEqual(1);
      expect(seen.ended).toBe(seen.begun);
      expect((await source.ask("ping")).isOk()).toBe(true);
      const { accepted, handled, failed, dead, queued, running } = system.router.audit();
      expect([queued, running, handled + failed + dead]).toEqual([0, 0, accepted]);
      expect(clock.timers).toBe(0);
    }),
    runs(300),
  );
});
