import { expect, test } from "bun:test";
import { climb, type Verdict } from "../../../benchmarks/stress/steps";

const held: Verdict = { kind: "held" };
const broke: Verdict = { kind: "broke", why: "it was too much" };
const nothing: Verdict = { kind: "void", why: "the generator was late" };

/** Climbs from 1,000 by doubling, and tells what was tried. */
async function climbed(judge: (rate: number, tries: number) => Verdict) {
  const tried: number[] = [];
  const step = async (rate: number) => {
    tried.push(rate);
    return judge(rate, tried.filter((each) => each === rate).length);
  };
  const found = await climb({ from: 1_000, factor: 2 }, step, (verdict) => verdict);
  return { ...found, tried };
}

test("the load rises by fixed steps until one breaks, twice", async () => {
  const { tried, ...found } = await climbed((rate) => (rate <= 5_000 ? held : broke));
  expect(found).toMatchObject({ held: 4_000, ended: 8_000, kind: "broke", why: "it was too much" });
  expect(tried).toEqual([1_000, 2_000, 4_000, 8_000, 8_000]);
});

test("a load that fails once has not broken: the machine may have faltered", async () => {
  const { held: most } = await climbed((rate, tries) => (rate > 5_000 || tries === 1 ? broke : held));
  expect(most).toBe(4_000);
});

test("a generator that is the limit ends it, and it says so; so does a first step that breaks", async () => {
  expect(await climbed((rate) => (rate < 3_000 ? held : nothing))).toMatchObject({ held: 2_000, kind: "void" });
  expect(await climbed(() => broke)).toMatchObject({ held: 0, ended: 1_000, kind: "broke" });
});
