import { describe, expect, test } from "bun:test";
import { createRandom } from "envoi/testing";
import { climb, highest, NotFound, type Verdict } from "../../../benchmarks/stress/ladder";

const held: Verdict = { kind: "held" };
const broke: Verdict = { kind: "broke", why: "it was too much" };
const nothing: Verdict = { kind: "void", why: "the generator was late" };
const judge = (verdict: Verdict): Verdict => verdict;

/** Bears so many requests a second. */
const bears =
  (capacity: number) =>
  async (rate: number): Promise<Verdict> =>
    rate <= capacity ? held : broke;

describe("the breaking point is found to a tenth, where it is", () => {
  for (const capacity of [7, 990, 12_345, 3_000_000]) {
    test(`at ${capacity} a second`, async () => {
      const found = await climb({ from: 1_000, step: bears(capacity), judge });
      expect(found.held).toBeLessThanOrEqual(capacity);
      expect(found.broke).toBeGreaterThan(capacity);
      expect(found.broke / found.held).toBeLessThanOrEqual(1.1);
      expect(found.why).toBe("it was too much");
    });
  }

  test("by few steps", async () => {
    const { steps } = await climb({ from: 1_000, step: bears(50_000), judge });
    expect(steps.length).toBeLessThan(20);
  });
});

test("a load that fails once has not broken: the machine may have faltered", async () => {
  const tried = new Set<number>();
  const falters = async (rate: number): Promise<Verdict> => {
    if (rate > 50_000) return broke;
    const isFirst = !tried.has(rate);
    tried.add(rate);
    return isFirst ? broke : held;
  };
  const found = await climb({ from: 1_000, step: falters, judge });
  expect(found.held).toBeGreaterThan(45_000);
  expect(found.broke).toBeGreaterThan(50_000);
});

test("on a machine of which a fifth of the steps fail for nothing, it is found near where it is in most of the searches", async () => {
  const random = createRandom(3);
  const near: boolean[] = [];
  for (let i = 0; i < 200; i++) {
    const step = async (rate: number) =>
      rate > 50_000 || random.chance(0.1) ? broke : random.chance(0.1) ? nothing : held;
    const found = await climb({ from: 1_000, step, judge });
    near.push(found.held > 40_000 && found.held <= 50_000);
  }
  expect(near.filter(Boolean).length).toBeGreaterThan(160);
});

describe("the search says why there is no breaking point:", () => {
  test("the generator is the limit", async () => {
    const step = async (rate: number) => (rate < 5_000 ? held : nothing);
    const found = climb({ from: 1_000, step, judge });
    const error = await found.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFound);
    expect(error).toMatchObject({ message: "At 6554 requests a second, the generator was late." });
  });

  test("it bears all", async () => {
    await expect(climb({ from: 1_000, most: 20_000, step: bears(1e9), judge })).rejects.toThrow(
      "It bore 16780 requests a second",
    );
  });

  test("it bears none", async () => {
    await expect(climb({ from: 1_000, step: bears(0), judge })).rejects.toThrow("It did not bear");
  });
});

test("the highest load that is borne is found without narrowing it down, and why there is no more", async () => {
  const tried: number[] = [];
  const step = async (rate: number) => {
    tried.push(rate);
    return rate <= 3_000 ? held : nothing;
  };
  const found = await highest({ from: 1_000, factor: 2, step, judge });
  expect(found).toMatchObject({ held: 2_000, why: "the generator was late" });
  expect(tried).toEqual([1_000, 2_000, 4_000, 4_000]);
});
