import { expect, test } from "bun:test";
import type { Window } from "../../../benchmarks/stress/results";
import { climb, complaints, errorShare, judge } from "../../../benchmarks/stress/trouble";
import { trouble, window } from "./sample";

const late = { lag: 51 };
const broken = { ok: 28_500, errors: { "ask busy": 300, "ask mailbox-full": 1_200 } };

test("a load holds while less than 5 % of it goes wrong and a p99 of 500 ms is kept", () => {
  expect(judge(window(1, { ok: 28_501, p99: 500 })).kind).toBe("held");
  expect(judge(window(1, { p99: 501 }))).toEqual({ kind: "broke", why: "one in 100 requests took 501 ms" });
  expect(judge(window(1, { p99: null, p95: 501 }))).toEqual({ kind: "broke", why: "one in 20 requests took 501 ms" });
  const why = "5 % of the requests went wrong, most of them: ask mailbox-full";
  expect(judge(window(1, broken))).toEqual({ kind: "broke", why });
  expect(judge(window(1, { ...broken, ...late }))).toMatchObject({ kind: "void" }); // The generator was the limit.
  expect(errorShare(window(1, { due: 0, ok: 0 }))).toBe(0);
});

test("the load rises by fixed steps until one breaks or says nothing, twice: once, the machine may have faltered", async () => {
  /** Climbs from 1,000 by doubling, and tells what was tried. */
  const climbed = async (changes: (rate: number, tries: number) => Partial<Window>) => {
    const tried: number[] = [];
    const found = await climb({ from: 1_000, factor: 2 }, async (rate) => {
      tried.push(rate);
      return window(rate, changes(rate, tried.filter((each) => each === rate).length));
    });
    return { ...found, tried };
  };
  const { tried, ...found } = await climbed((rate) => (rate <= 5_000 ? {} : broken));
  expect(found).toMatchObject({ held: 4_000, broke: 8_000, kind: "broke" });
  expect(tried).toEqual([1_000, 2_000, 4_000, 8_000, 8_000]);
  expect(await climbed((rate, tries) => (rate > 5_000 || tries === 1 ? broken : {}))).toMatchObject({ held: 4_000 });
  expect(await climbed((rate) => (rate < 3_000 ? {} : late))).toMatchObject({ held: 2_000, kind: "void" });
  expect(await climbed(() => broken)).toMatchObject({ held: 0, broke: 1_000, kind: "broke" });
});

test("what should hold of a trouble and does not is told, a sentence each", () => {
  const of = (changes: Partial<typeof trouble>) => complaints({ ...trouble, ...changes });
  expect(of({})).toEqual([]);
  expect(of({ happened: { crashes: 0 } })).toEqual(["Nothing went wrong, so this was no trouble."]);
  expect(of({ before: window(100, { ok: 29_999 }) })).toEqual(["Something went wrong before it began."]);
  const slow = "After it, the p95 was 9.1 ms with 0.0 % errors; before it was 2.0 ms.";
  expect(of({ after: window(100, { p95: 9.1 }) })).toEqual([slow]);
  expect(of({ recovery: 10_000 })).toEqual(["It was not as before 10 s after."]);
  const growing = "The heap went on growing meanwhile, from 12.0 MB to 40.0 MB.";
  expect(of({ heap: [8e6, 12e6, 40e6, 8e6] })).toEqual([growing]);
  expect(of({ heap: [8e6, 12e6, 30e6] })).toEqual(["The heap had 8.0 MB before, and 30.0 MB after."]);
  expect(of({ audit: { ...trouble.audit, handled: 80_999 } })).toEqual(["The audit does not balance."]);
  const waiting = "2 messages wait or run, though nothing is asked.";
  expect(of({ audit: { ...trouble.audit, dead: 18_998, queued: 2 } })).toEqual([waiting]);
});
