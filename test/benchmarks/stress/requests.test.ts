import { expect, test } from "bun:test";
import fc from "fast-check";
import { Requests } from "../../../benchmarks/stress/requests";
import { runs } from "../../property/runs";

const PATIENCE = 1_000;

test("a request's time counts from when it was due, whenever it was sent", () => {
  const requests = new Requests(PATIENCE, 4);
  const window = requests.begin();
  const id = requests.add("ask", 100); // Say, at 140.
  requests.settle(id, undefined, 150);
  requests.end(window);
  const { latency, ok } = window.all.outcomes();
  expect(ok).toBe(1);
  expect(latency.max).toBe(50);
  expect(latency.p50).toBeCloseTo(50, 0);
});

test("one without an answer is given up in time, counted as that, and its late answer is not", () => {
  const requests = new Requests(PATIENCE, 4);
  const window = requests.begin();
  const id = requests.add("ask", 0);
  requests.giveUp(999);
  expect(requests.open).toBe(1);
  requests.giveUp(1_000);
  requests.settle(id, undefined, 1_200);
  requests.end(window);
  expect(window.all.outcomes()).toMatchObject({ due: 1, ok: 0, errors: { unanswered: 1 }, latency: { max: 1_000 } });
});

test("a request is in the window in which it was due, wherever its answer is", async () => {
  const requests = new Requests(PATIENCE, 4);
  const first = requests.begin();
  const early = requests.add("ask", 0);
  requests.end(first);
  const second = requests.begin();
  const late = requests.add("code", 10);
  requests.settle(late, "busy", 20);
  requests.end(second);
  expect([first.isWhole, second.isWhole]).toEqual([false, true]);
  requests.settle(early, undefined, 30);
  await first.whole;
  expect(first.operations()).toEqual({ ask: expect.objectContaining({ due: 1, ok: 1, errors: {} }) });
  expect(second.operations()).toEqual({ code: expect.objectContaining({ due: 1, ok: 0, errors: { busy: 1 } }) });
});

test("more open requests than there is room for are an error, not one forgotten", () => {
  const requests = new Requests(PATIENCE, 2);
  for (let i = 0; i < 4; i++) {
    expect(requests.hasRoom).toBe(true);
    requests.add("ask", i);
  }
  expect(requests.hasRoom).toBe(false);
  expect(() => requests.add("ask", 4)).toThrow("More than 3 requests are open");
});

test("each request settles once: what was due is what went well, went wrong, or was given up", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("add" as const) }),
    fc.record({ kind: fc.constant("settle" as const), id: fc.nat(60), error: fc.option(fc.constant("busy")) }),
    fc.record({ kind: fc.constant("wait" as const), milliseconds: fc.nat(400) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const requests = new Requests(PATIENCE, 8);
      const window = requests.begin();
      let now = 0;
      let added = 0;
      for (const each of steps) {
        if (each.kind === "settle") requests.settle(each.id, each.error ?? undefined, now);
        else if (each.kind === "wait") {
          now += each.milliseconds;
          requests.giveUp(now);
        } else {
          requests.add("ask", now);
          added++;
        }
      }
      const { due, ok, errors, latency } = window.all.outcomes();
      const wrong = Object.values(errors).reduce((sum, times) => sum + times, 0);
      expect(due).toBe(added);
      expect(ok + wrong + requests.open).toBe(added);
      expect(latency.count).toBe(ok + wrong);
    }),
    runs(200),
  );
});
