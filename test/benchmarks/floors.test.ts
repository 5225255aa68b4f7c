import { expect, test } from "bun:test";
import { RawMailbox } from "../../benchmarks/harness/raw-mailbox";
import { Proof } from "../../benchmarks/harness/sampling";
import { rawPingPong } from "../../benchmarks/suites/patterns.bench";

test("the raw mailbox keeps the order, runs nothing on the caller's stack, and survives a million hops", async () => {
  const seen: number[] = [];
  const mailbox = new RawMailbox<number>((payload) => seen.push(payload));
  mailbox.tell(1);
  mailbox.tell(2);
  expect(seen).toEqual([]);
  expect(await mailbox.ask(3)).toBe(3);
  expect(seen).toEqual([1, 2, 3]);

  const proof = new Proof("hops", 500_000, rawPingPong.setup(500_000));
  await proof.call();
});
