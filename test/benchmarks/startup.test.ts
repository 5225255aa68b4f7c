import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { putAway } from "../../benchmarks/harness/places";
import { installation, startsOf } from "../../benchmarks/subjects/installation";

test("starts of a process are those of a program and of an empty one, and are refused where it does not do its work", async () => {
  const { time = 0, "bare Bun": bare = 0, "over bare Bun": over = 0 } = await startsOf("reply", 1);
  expect(bare).toBeGreaterThan(0);
  expect(time - bare).toBeCloseTo(over, 6);
  await expect(startsOf("empty", 1)).rejects.toThrow("empty.ts ended with 0, not 42");
  await expect(startsOf("nothing", 1)).rejects.toThrow("nothing.ts ended with 1, not 42");
  const folder = await installation();
  putAway();
  expect(existsSync(folder)).toBe(false);
}, 120_000);
