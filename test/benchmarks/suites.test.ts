import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { loadSuites } from "../../benchmarks/harness/load";
import { publishedRows } from "../../benchmarks/harness/published";
import { expectTargetsExist } from "../../benchmarks/harness/target";
import { targets } from "../../benchmarks/targets";

const suites = await loadSuites(join(import.meta.dir, "../../benchmarks/suites"));

test("each target names a row and a figure that exist", () => {
  expect(() => expectTargetsExist(targets, suites)).not.toThrow();
});

describe("each published row is in its suite:", () => {
  for (const name of ["message-creation", "routing", "patterns", "files", "code"]) {
    test(name, () => {
      const rows = suites.find((suite) => suite.name === name)?.rows.map((row) => row.name) ?? [];
      expect(publishedRows(name)).not.toBeEmpty();
      for (const { row } of publishedRows(name)) expect(rows).toContain(row);
    });
  }
});
