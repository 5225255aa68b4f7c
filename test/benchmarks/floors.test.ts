import { describe, expect, test } from "bun:test";
import { RawMailbox } from "../../benchmarks/harness/raw-mailbox";
import { Proof } from "../../benchmarks/harness/sampling";
import { watchTimer } from "../../benchmarks/harness/timer";
import { rawPingPong } from "../../benchmarks/suites/patterns.bench";

test("the raw mailbox keeps the order, runs nothing on the caller's stack, and survives a million hops", async () => {
  const seen: number[] = [];
  const mailbox = new RawMailbox<number>((payload) => seen.push(payload));
  mailbox.tell(1);
  mailbox.tell(2);
  expect(seen).toEqual([]);
  expect(await mailbox.ask(3)).toBe(3);
  expect(seen).toEqual([1, 2, 3]);

  const proof = new Proof("hops", 500_000, await rawPingPong.setup(500_000));
  await proof.call();
});

describe("a timer beside work", () => {
  test("gets ticks that are counted for the time that was asked for, however late the work ends", async () => {
    const { ticks, gap, hops } = await watchTimer(5, () => Bun.sleep(200).then(() => 40));
    expect(ticks).toBeLessThanOrEqual(5); // Of some forty; a slow machine has fewer.
    expect(gap).toBeGreaterThan(0);
    expect(hops).toBe(40);
  });

  test("is not looked at where nothing is done", async () => {
    await expect(watchTimer(1, async () => 1)).rejects.toThrow("1 hops were counted: no work");
  });
});
