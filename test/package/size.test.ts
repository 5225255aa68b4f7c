import { afterAll, expect, test } from "bun:test";
import { putAway } from "../../benchmarks/harness/places";
import { sizeOf } from "../../benchmarks/subjects/installation";
import { targets } from "../../benchmarks/targets";

const ENTRIES = { "bytes of the core": "index", "bytes of the tools, the core included": "tools" } as const;

afterAll(putAway);

for (const [row, entry] of Object.entries(ENTRIES)) {
  test(`${row}: within the budget that benchmarks/targets.ts gives them, minified and compressed`, async () => {
    const budget = targets.filter((target) => target.suite === "startup" && target.row === row);
    expect(budget.map(({ figure }) => figure)).toEqual(["minified", "gzip"]);
    const size = await sizeOf(entry);
    for (const target of budget) {
      const kilobytes = size[target.figure] ?? Number.NaN;
      expect(kilobytes).toBeGreaterThan(10);
      expect(kilobytes).toBeLessThanOrEqual("atMost" in target ? target.atMost : Number.NaN);
    }
    expect(size["minified, our own"]).toBeLessThan(size["minified"] ?? 0);
    expect(size["gzip, our own"]).toBeLessThan(size["gzip"] ?? 0);
  }, 120_000);
}
