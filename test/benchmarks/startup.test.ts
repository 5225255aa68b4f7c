import { describe, expect, test } from "bun:test";
import { startsOf } from "../../benchmarks/subjects/starts";

const BUILD = 120_000;

describe("starts of a process", () => {
  test(
    "are those of a program and of an empty one, in turns, and what they differ by",
    async () => {
      const { time = 0, "bare Bun": bare = 0, "over bare Bun": over = 0 } = await startsOf("reply", 1);
      expect(bare).toBeGreaterThan(0);
      expect(time - bare).toBeCloseTo(over, 6);
    },
    BUILD,
  );

  test(
    "are refused where the program does not do its work, or is none",
    async () => {
      await expect(startsOf("empty", 1)).rejects.toThrow("empty.ts ended with 0, not 42");
      await expect(startsOf("nothing", 1)).rejects.toThrow("nothing.ts ended with 1, not 42");
    },
    BUILD,
  );
});
