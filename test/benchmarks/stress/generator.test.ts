import { expect, test } from "bun:test";
import fc from "fast-check";
import { Generator, type Mix, type Request } from "../../../benchmarks/stress/generator";
import { runs } from "../../property/runs";

const PATIENCE = 1_000;

/** A generator in virtual time. */
function virtual(rate: number, mix: Mix = { ask: 1 }) {
  const sent: Request[] = [];
  let now = 0;
  const generator = new Generator({ patience: PATIENCE, send: (requests) => sent.push(...requests), now: () => now });
  generator.change(rate, mix);
  /** Lets time pass at once. */
  const jump = (milliseconds: number) => {
    now += milliseconds;
    generator.tick();
  };
  /** Lets time pass millisecond by millisecond. */
  const pass = (milliseconds: number, eachTick: (at: number) => void = () => {}) => {
    for (const end = now + milliseconds; now < end; jump(1)) eachTick(now);
  };
  return { generator, sent, pass, jump };
}

test("requests are due at the rate, in the parts of the mix, at times that are independent of each other", () => {
  const { generator, sent, pass } = virtual(100, { ask: 6, never: 0, code: 2 });
  const times: number[] = [];
  pass(200_000, (at) => {
    for (; times.length < sent.length; times.push(at)) generator.settle(times.length, undefined);
  });
  const share = (name: string) => sent.filter(([, operation]) => operation === name).length / sent.length;
  expect([share("ask"), share("code"), share("never")]).toEqual([expect.closeTo(0.75, 1), expect.closeTo(0.25, 1), 0]);
  expect(sent.length / 200_000).toBeCloseTo(0.1, 2);
  // A share of 1/e of exponentially distributed gaps is longer than their mean.
  const gaps = times.map((time, index) => time - (times[index - 1] ?? 0));
  expect(gaps.filter((gap) => gap > 10).length / gaps.length).toBeCloseTo(1 / Math.E, 1);
  generator.change(0);
  const { length } = sent;
  pass(100);
  expect(sent).toHaveLength(length);
});

test("a stall of 200 ms is seen in the percentiles as it is: times count from when requests were due", async () => {
  const { generator, sent, pass } = virtual(500);
  const seeing = generator.window(4_000);
  // A server that does two requests a millisecond, and nothing for 200 ms.
  let done = 0;
  pass(6_000, (at) => {
    if (at >= 1_000 && at < 1_200) return;
    for (let i = 0; i < 2 && done < sent.length; i++) generator.settle(sent[done++]?.[0] ?? -1, undefined);
  });
  const { p50, p95, p99, due, ok, lag } = await seeing;
  expect(ok).toBe(due);
  expect(lag).toBeLessThanOrEqual(1.01);
  // The stall is felt for some 270 ms of 4 s, evenly from 200 ms down.
  expect(p50).toBeWithin(0.5, 2.5);
  expect(p95).toBeWithin(30, 90);
  expect(p99).toBeWithin(140, 200);
});

test("an answer that is not there in time is given up, and does not count when it comes late", async () => {
  const { generator, sent, pass } = virtual(100);
  const seeing = generator.window(100);
  pass(100);
  generator.change(0);
  pass(PATIENCE);
  expect(generator.isBusy).toBe(false);
  for (const [id] of sent) generator.settle(id, undefined);
  const { due, ok, errors, p50 } = await seeing;
  expect({ ok, errors }).toEqual({ ok: 0, errors: { "ask unanswered": due } });
  expect(p50).toBeWithin(PATIENCE, PATIENCE + 2);
});

test("each request settles once: what was due is what went well, went wrong, or was given up", async () => {
  const step = fc.oneof(
    fc.record({ id: fc.nat(60), error: fc.option(fc.constant("busy")) }),
    fc.record({ wait: fc.nat(400) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { generator, sent, pass } = virtual(50);
      const seeing = generator.window(10_000);
      for (const each of steps) {
        if ("wait" in each) pass(each.wait);
        else generator.settle(each.id, each.error ?? undefined);
      }
      generator.change(0);
      pass(10_000 + PATIENCE);
      const { due, ok, errors } = await seeing;
      expect(ok + Object.values(errors).reduce((sum, times) => sum + times, 0)).toBe(due);
      expect([due, generator.isBusy]).toEqual([sent.length, false]);
    }),
    runs(20),
  );
});
