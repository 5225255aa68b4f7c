import { describe, expect, test } from "bun:test";
import * as floors from "../../benchmarks/harness/floors";
import { Proof } from "../../benchmarks/harness/proof";
import * as raw from "../../benchmarks/harness/raw-floors";
import { RawMailbox } from "../../benchmarks/harness/raw-mailbox";

const { rawAsks, rawTells, rawMixed, rawChain, rawFanOut, rawAggregation, ...plain } = raw;
const wide = [rawAsks, rawTells, rawMixed, rawChain, rawFanOut, rawAggregation].map((floor) => floor(10));

describe("each floor does the work that it says, and no more", () => {
  for (const floor of [...Object.values(floors), ...Object.values(plain), ...wide]) {
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
