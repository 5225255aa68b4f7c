import { describe, expect, test } from "bun:test";
import { watchTimer } from "../../benchmarks/harness/timer";

describe("a timer beside work", () => {
  test("gets ticks that are counted for the time that was asked for, however late the work ends", async () => {
    const { ticks, gap, pieces } = await watchTimer(5, () => Bun.sleep(200).then(() => 40), "pieces");
    expect(ticks).toBeLessThanOrEqual(5); // Of some forty; a slow machine has fewer.
    expect(gap).toBeGreaterThan(0);
    expect(pieces).toBe(40);
  });

  test("is not looked at where nothing is done", async () => {
    await expect(watchTimer(1, async () => 1, "lists")).rejects.toThrow("1 lists were counted: no work");
  });
});
