import { expect, test } from "bun:test";
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  parseResults,
  parseRun,
  type RunResult,
  readResults,
  serialise,
  writeResults,
} from "../../benchmarks/harness/results";
import { parseJson } from "../../benchmarks/harness/schema";
import * as published from "../../benchmarks/index";
import { result } from "./sample-result";

const text = serialise(result({}));
/** As it is once its figures have five digits. */
const whole = JSON.parse(text);

test("results are read as they were written, a line for each row; so is a whole run", () => {
  expect(parseResults(text)).toEqual(whole);
  expect(text.split("\n").filter((line) => line.startsWith('{"kind"'))).toHaveLength(3);
  const run: RunResult = {
    ...{ results: [whole], missed: ["routing: …"], undecided: [], seconds: 12.5, interrupted: true },
    failed: [{ suite: "routing", row: "ref.tell", why: "it did nothing" }],
    noise: { spread: 0.02, floors: 1, isNoisy: false },
  };
  expect(parseRun(serialise(run))).toEqual(run);
  expect(() => parseRun("{}")).toThrow("is required");
});

const without = text.replace('"mean":140,', "");
const wrong: [string, string][] = [
  [without, "routing.json does not fit: /rows/0/mean is required"],
  [
    text.replace('"median":39', '"median":"39"'),
    "routing.json does not fit: /rows/2/figures/0/median must be a number",
  ],
  [text.replace('"rounds": 9', '"rounds": 0'), "routing.json does not fit: /rounds must be"],
  ["[]", "routing.json does not fit: it must be an object"],
  [text.slice(0, 100), "routing.json is no JSON"],
];
for (const [bad, fault] of wrong) {
  test(`results that do not fit say where, and what to do: ${fault}`, () => {
    expect(() => parseResults(bad, "routing.json")).toThrow(fault);
    expect(() => parseResults(bad)).toThrow("run `bun run bench` again");
  });
}

test("each file of benchmarks/results is as the published schema says, and no schema takes another's results", async () => {
  const { suiteResultSchema, peerResultsSchema, stressResultsSchema } = published;
  const folder = join(import.meta.dir, "../../benchmarks/results");
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".json"))) {
    const other = name.startsWith("peers-") ? peerResultsSchema : stressResultsSchema;
    const schema = /^peers-|^stress\./.test(name) ? other : suiteResultSchema;
    parseJson(schema, await Bun.file(join(folder, name)).text(), name, "as it is published");
  }
  for (const schema of [peerResultsSchema, stressResultsSchema]) {
    expect(() => parseJson(schema, text, "routing.json", "something else")).toThrow("is required");
  }
});

test("results are written whole or not at all, all or none: what was there before is replaced, and nothing is left where that fails", async () => {
  const folder = mkdtempSync(join(tmpdir(), "envoi-results-"));
  const [file, before] = [join(folder, "routing.json"), join(folder, "before")];
  try {
    await Bun.write(file, "before");
    linkSync(file, before);
    await expect(readResults(folder)).rejects.toThrow(`${file} is no JSON`);
    await writeResults(folder, [whole]);
    for (const other of ["stress.json", "peers-actors.json"]) await Bun.write(join(folder, other), "{}");
    expect(await readResults(folder)).toEqual([whole]);
    expect(readFileSync(before, "utf8")).toBe("before"); // The file itself was not touched.
    await Bun.write(join(folder, "copy.json"), text);
    await expect(readResults(folder)).rejects.toThrow(`${join(folder, "copy.json")} has the results of routing`);
    rmSync(file);
    mkdirSync(file);
    await expect(writeResults(folder, [whole])).rejects.toThrow("EISDIR");
    rmSync(file, { recursive: true });
    mkdirSync(`${file}.${process.pid}.tmp`);
    await expect(writeResults(folder, [{ ...whole, suite: "files" }, whole])).rejects.toThrow("EISDIR");
    const unfit = { ...whole, suite: "files", rounds: Number.NaN };
    await expect(writeResults(folder, [unfit])).rejects.toThrow("/rounds must be a number");
    expect(readdirSync(folder)).not.toContain("files.json");
    expect(readdirSync(folder).filter((name) => name.includes("tmp"))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
