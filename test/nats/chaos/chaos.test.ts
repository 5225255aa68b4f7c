import { describe, expect, test } from "bun:test";
import { createRandom } from "../../../src/testing";
import { threeServers } from "../faults/three-servers";
import { hasNats } from "../rooms";
import { type Breaks, Chaos, NODES, NOWHERE } from "./chaos";
import { planOf, play } from "./plan";

const isLong = process.env["ENVOI_LONG"] !== undefined;
const only = process.env["ENVOI_SEED"];
const SEEDS = only !== undefined ? [Number(only)] : Array.from({ length: isLong ? 20 : 1 }, (_, index) => index + 1);
/** No assertion: long enough for a busy machine. */
const WITHIN = 300_000;

describe.skipIf(!hasNats)("all faults together", async () => {
  const servers = hasNats ? await threeServers("", { config: NOWHERE }) : undefined;
  if (servers === undefined) return;
  /** Runs one, and ends it, also after a failure. */
  const run = async (name: string, breaks: Breaks, act: (chaos: Chaos) => Promise<void>): Promise<void> => {
    const chaos = new Chaos(servers, name, breaks);
    try {
      await chaos.start();
      await act(chaos);
    } finally {
      await chaos.close();
    }
  };

  test.each(SEEDS)(
    "seed %i: counters are linearizable, and no durable message is lost, out of order or repeated unmarked",
    (seed) => {
      const plan = planOf(createRandom(seed), isLong ? 3 : 1);
      const told = `seed ${seed}: ${JSON.stringify(plan)}\nRun it alone: ENVOI_SEED=${seed} ENVOI_LONG=1 bun test test/nats/chaos`;
      return run(`chaos-${seed}`, [], async (chaos) => {
        try {
          for (const round of plan) await play(chaos, servers, round);
        } catch (cause) {
          throw new Error(told, { cause });
        }
        const verdict = await chaos.verdict();
        expect(verdict.faults, told).toEqual([]);
        expect(verdict.refusal, told).toBeNull();
        expect(verdict.sharedEpochs, told).toEqual([]);
        expect(verdict.lateWrites, told).toBe(0);
      });
    },
    WITHIN,
  );

  test(
    "broken variants: nodes without the fence and a store that takes old epochs, unmarked repeats, and acknowledgements before anything is stored are found",
    () =>
      run("chaos-broken", ["fence", "marks", "outbox"], async (chaos) => {
        while (chaos.lateWrites === 0) {
          chaos.signal("b", "SIGSTOP");
          await chaos.isMember("b", false);
          await chaos.progress();
          chaos.signal("b", "SIGCONT");
          await chaos.isMember("b", true);
          // Its former actors are asked again, unless they were just then of a shard that had moved.
          for (let steps = 0; chaos.lateWrites === 0 && steps < 10; steps++) await chaos.progress();
        }
        await chaos.run(await chaos.crash());
        await chaos.progress();
        chaos.swallow("up", true); // What node c sends is not stored.
        const from = chaos.events.length;
        const acknowledged = () =>
          chaos.events.slice(from).filter(({ kind, sender }) => kind === "acknowledged" && sender.startsWith("c"));
        await chaos.until(() => acknowledged().length >= 20);
        await chaos.kill("c");
        chaos.swallow("up", false);
        await chaos.run("c");
        const verdict = await chaos.verdict();
        expect(verdict.refusal).not.toBeNull();
        const found = new Set(verdict.faults.map(({ fault }) => fault));
        expect(found).toContain("unmarked repeat");
        expect(found).toContain("lost");
      }),
    WITHIN,
  );

  test.skipIf(!isLong)(
    "a rolling restart, and a rolling upgrade to a program with an operation more and a wider schema, under load",
    () =>
      run("chaos-rolling", [], async (chaos) => {
        for (const isNext of [false, true]) {
          for (const node of NODES) {
            await chaos.end(node);
            await chaos.run(node, isNext);
            await chaos.progress();
          }
        }
        await chaos.until(() => chaos.peeked.size === NODES.length);
        const verdict = await chaos.verdict();
        expect(verdict).toMatchObject({ faults: [], refusal: null, sharedEpochs: [], lateWrites: 0 });
      }),
    WITHIN,
  );
});
