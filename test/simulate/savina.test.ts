import { describe, expect, test } from "bun:test";
import { isDeliveryError } from "../../src/index";
import { SimulatedFault, simulate } from "../../src/testing/index";
import { runs } from "../property/runs";
import { scenarios } from "../savina/scenarios";

const seeds = runs(40, 2_000).numRuns;

describe("whatever the order of turns, and however long somebody waits for his, the answer is exact:", () => {
  for (const { name, small } of scenarios) {
    test(name, async () => {
      for (const faults of [{}, { delay: 0.05 }]) {
        await simulate(async ({ system }) => expect(await small.run(system)).toEqual(small.answer), { seeds, faults });
      }
    });
  }
});

/** Whether a program ended because of what was done to it. */
const isOfFaults = (thrown: unknown): boolean =>
  thrown instanceof SimulatedFault || (thrown instanceof Error && isDeliveryError(thrown.cause));

describe("whatever goes wrong, no message is unaccounted for, and the shutdown leaves nobody and no timer:", () => {
  for (const { name, small } of scenarios) {
    test(name, async () => {
      const { faults } = await simulate(
        async ({ system }) => {
          try {
            await small.run(system);
          } catch (thrown) {
            if (!isOfFaults(thrown)) throw thrown;
          }
        },
        { seeds, faults: { throw: 0.01, stop: 0.005, delay: 0.02, expire: 0.01 }, unfinished: "allow" },
      );
      for (const kind of ["throw", "stop", "delay", "expire"] as const) expect(faults[kind]).toBeGreaterThan(0);
    });
  }
});
