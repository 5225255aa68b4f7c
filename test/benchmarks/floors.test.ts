import { describe, expect, test } from "bun:test";
import * as floors from "../../benchmarks/harness/floors";
import * as raw from "../../benchmarks/harness/raw-floors";
import { RawMailbox } from "../../benchmarks/harness/raw-mailbox";
import { Proof } from "../../benchmarks/harness/sampling";

const { rawAsks, rawTells, rawMixed, rawChain, rawFanOut, rawAggregation, rawOffers, rawPool, rawAskAll, ...plain } =
  raw;
const { rawStash, asyncGenerator, syncGenerator, ...others } = floors;
const wide = [
  rawAsks,
  rawTells,
  rawMixed,
  rawChain,
  rawFanOut,
  rawAggregation,
  rawStash,
  asyncGenerator,
  syncGenerator,
].map((floor) => floor(10));
const flowing = [rawOffers(4, 2), rawPool(2, 10), rawAskAll(2, false), rawAskAll(2, true)];

describe("each floor does the work that it says, and no more", () => {
  for (const floor of [...Object.values(others), ...Object.values(plain), ...wide, ...flowing]) {
    test(floor.name, async () => {
      const proof = new Proof(floor.name, 20, floor.setup(20));
      for (let i = 0; i < 3; i++) await proof.call();
    });
  }
});

test("the raw mailbox keeps the order, runs nothing on the caller's stack, and survives a million hops", async () => {
  const seen: number[] = [];
  const mailbox = new RawMailbox<number>((payload) => seen.push(payload));
  mailbox.tell(1);
  mailbox.tell(2);
  expect(seen).toEqual([]);
  expect(await mailbox.ask(3)).toBe(3);
  expect(seen).toEqual([1, 2, 3]);

  const proof = new Proof("hops", 500_000, raw.rawPingPong.setup(500_000));
  await proof.call();
});
