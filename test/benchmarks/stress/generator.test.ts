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
  const pass = (milliseconds: number, eachTick = () => {}) => {
    for (const end = now + milliseconds; now < end; ) {
      now++;
      eachTick();
      generator.tick();
    }
  };
  return { generator, sent, pass, at: () => now };
}

test("requests are due at the rate, in the parts of the mix, at times that are independent of each other", async () => {
  const { generator, sent, pass } = virtual(100, { ask: 6, never: 0, code: 2 });
  const gaps: number[] = [];
  let last = 0;
  for (let at = 1; at <= 200_000; at++) {
    const before = sent.length;
    pass(1);
    if (sent.length > before) gaps.push(at - last);
    if (sent.length > before) last = at;
    for (const [id] of sent.slice(before)) generator.settle(id, undefined);
  }
  expect(sent.length / 200_000).toBeCloseTo(0.1, 2);
  const share = (name: string) => sent.filter(([, operation]) => operation === name).length / sent.length;
  expect([share("ask"), share("code"), share("never")]).toEqual([expect.closeTo(0.75, 1), expect.closeTo(0.25, 1), 0]);
  // A share of 1/e of exponentially distributed gaps is longer than their mean.
  expect(gaps.filter((gap) => gap > 10).length / gaps.length).toBeCloseTo(1 / Math.E, 1);
  generator.change(0);
  const { length } = sent;
  pass(100);
  expect(sent).toHaveLength(length);
});

test("a stall of 200 ms is seen in the percentiles as it is: times count from when requests were due", async () => {
  const { generator, sent, pass, at } = virtual(500);
  const seeing = generator.window(4_000);
  // A server that does two requests a millisecond, and nothing for 200 ms.
  let done = 0;
  pass(6_000, () => {
    if (at() >= 1_000 && at() < 1_200) return;
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

test("a generator that is held up says so by its lag", async () => {
  let now = 0;
  const generator: Generator = new Generator({
    patience: PATIENCE,
    now: () => now,
    send(requests) {
      for (const [id] of requests) generator.settle(id, undefined);
    },
  });
  generator.change(1_000, { ask: 1 });
  const seeing = generator.window(1_000);
  for (now of [100, 400, 1_000, 1_001]) generator.tick();
  expect(await seeing).toMatchObject({ lag: expect.closeTo(590, -2), p99: expect.closeTo(590, -2) });
});

test("a request is in the window in which it was due, wherever its answer is, with the kind of its error", async () => {
  const { generator, sent, pass } = virtual(100);
  const [first, second] = [generator.window(100), Promise.resolve().then(() => generator.window(100))];
  pass(100);
  const early = sent.length;
  await Promise.resolve();
  pass(101);
  for (const [id] of sent.slice(early)) generator.settle(id, "busy");
  for (const [id] of sent.slice(0, early)) generator.settle(id, undefined);
  generator.change(0);
  expect(await first).toMatchObject({ due: early, ok: early, errors: {} });
  const { due, errors } = await second;
  expect(errors).toEqual({ "ask busy": due });
});

test("an answer that is not there in time is given up, and does not count when it comes late", async () => {
  const { generator, sent, pass } = virtual(100);
  const seeing = generator.window(100);
  pass(100);
  generator.change(0);
  pass(PATIENCE);
  expect(generator.open).toBe(0);
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
      expect({ due, open: generator.open }).toEqual({ due: sent.filter(([id]) => id < due).length, open: 0 });
    }),
    runs(20),
  );
});
