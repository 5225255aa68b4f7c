import { describe, expect, test } from "bun:test";
import { inFreshProcess } from "../../benchmarks/harness/fresh-process";
import { publishedReading, publishedRow } from "../../benchmarks/harness/published";
import { suite as startup } from "../../benchmarks/suites/startup.bench";

const memory = new URL("../../benchmarks/suites/memory.bench.ts", import.meta.url);

describe("a subject in its own process", () => {
  test("gives what it read", async () => {
    const { bytes } = await inFreshProcess(memory, "rawIdleHeap", 1000);
    expect(bytes).toBeGreaterThan(0);
  });

  test("that fails says so in its own words", async () => {
    await expect(inFreshProcess(memory, "nothing", 1)).rejects.toThrow("exports no function nothing");
  });
});

describe("published figures", () => {
  test("are found by suite and exact row name, since two suites share one", () => {
    expect(publishedRow("routing", "concurrent: 10 asks")?.avg).toBe(14400);
    expect(publishedRow("patterns", "concurrent: 10 asks")?.avg).toBe(16800);
    expect(publishedRow("routing", "ref.ask, 100 in flight")).toBeUndefined();
  });

  test("of memory are found by their figure", () => {
    expect(publishedReading("memory", "10,000 messages", "RSS growth")).toBe(415);
    expect(publishedReading("memory", "heap of an idle actor", "bytes")).toBeUndefined();
  });

  test("of a start are those of a row that there is", () => {
    const [first] = startup.rows;
    expect(publishedReading("startup", first?.name ?? "", "time")).toBe(29.3);
    expect(publishedReading("startup", first?.name ?? "", "over bare Bun")).toBeUndefined();
  });
});
