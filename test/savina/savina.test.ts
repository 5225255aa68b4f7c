import { describe, expect, test } from "bun:test";
import { type TestOptions, testSystems } from "../actor/test-system";
import { type ScenarioRun, scenarios } from "./scenarios";
import { skynet } from "./skynet";
import { threadRing } from "./thread-ring";

const { createTestSystem } = testSystems();

/** Holds a run to its answer, and to a system in which nothing is left to do; tells how many messages it took. */
async function expectAnswer({ run, answer }: ScenarioRun, options?: TestOptions): Promise<number> {
  const { system, router } = createTestSystem(options);
  expect(await run(system)).toEqual(answer);
  const { accepted } = router.audit();
  expect(router.audit()).toEqual({ accepted, handled: accepted, failed: 0, dead: 0, queued: 0, running: 0 });
  expect(await system.shutdown()).toEqual({ unfinished: [] });
  return accepted;
}

describe("each problem comes to its known answer, and leaves the system idle:", () => {
  for (const { name, full } of scenarios) {
    test(name, async () => {
      await expectAnswer(full);
    });
  }
});

describe("each small one takes some hundreds of messages, all of which fit their schemas:", () => {
  for (const { name, small } of scenarios) {
    test(name, async () => {
      const messages = await expectAnswer(small, { validate: "always" });
      expect(messages).toBeGreaterThanOrEqual(50);
      expect(messages).toBeLessThan(600);
    });
  }
});

test("the thread ring of the Benchmarks Game ends at 498", async () => {
  await expectAnswer({ run: (system) => threadRing(system, { actors: 503, hops: 1_000 }), answer: 498 });
});

test("skynet of 1,000 leaves comes to 499500, and all of its nodes have stopped by then", async () => {
  const { system, router } = createTestSystem();
  expect(await skynet(system, { leaves: 1_000 })).toBe(499_500);
  expect(["top", "skynet", "skynet/9", "skynet/0/1/2"].filter((id) => router.has(`@(${id})`))).toEqual(["top"]);
});
