import { expect, test } from "bun:test";
import { judge } from "../../../benchmarks/stress/steps";

const latency = { count: 2_000, p50: 1, p95: 2, p99: 3, p999: null, max: 4 };
const window = (ok: number, errors: Record<string, number> = {}, times: Partial<typeof latency> = {}) => ({
  all: { due: 2_000, ok, errors, latency: { ...latency, ...times } },
  generator: { lag: 1, processor: 0.2 },
});

test("a load holds while less than 5 % of it goes wrong and a p99 of 500 ms is kept", () => {
  expect(judge(window(1_901, { busy: 99 }, { p99: 500 }))).toEqual({ kind: "held" });
});

test("a load has broken with 5 % of errors, and the one that is most often is named", () => {
  expect(judge(window(1_900, { busy: 20, "mailbox-full": 80 }))).toEqual({
    kind: "broke",
    why: "5 % of the requests went wrong, most of them: mailbox-full",
  });
});

test("a load has broken with a p99 above 500 ms; of few requests, with one of them", () => {
  expect(judge(window(2_000, {}, { p99: 501 }))).toMatchObject({ kind: "broke" });
  const few = {
    all: { ...window(500).all, due: 500, latency: { ...latency, p99: null, max: 600 } },
    generator: { lag: 1, processor: 0 },
  };
  expect(judge(few)).toMatchObject({ kind: "broke", why: "one in 100 requests took 600 ms" });
});

test("a step says nothing when the generator was late or had no time left, whatever else was", () => {
  expect(judge({ ...window(0), generator: { lag: 51, processor: 0 } })).toMatchObject({ kind: "void" });
  expect(judge({ ...window(2_000), generator: { lag: 1, processor: 0.91 } })).toMatchObject({ kind: "void" });
});
