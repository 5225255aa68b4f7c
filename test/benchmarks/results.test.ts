import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Type } from "envoi";
import { parseResults, parseRun, type RunResult, readResults, serialise } from "../../benchmarks/harness/results";
import { parseJson } from "../../benchmarks/harness/schema";
import * as published from "../../benchmarks/index";
import { result } from "./sample-result";

const text = serialise(result({}));
/** As it is once its figures have five digits. */
const whole = JSON.parse(text);
/** The same with one value changed, or taken away. */
const changed = (...path: readonly [...(string | number)[], unknown]): string => {
  const copy = JSON.parse(text);
  const [value, name, ...way] = path.toReversed() as [unknown, string | number, ...(string | number)[]];
  const place = way.reduceRight((at, step) => at[step], copy);
  if (value === undefined) delete place[name];
  else place[name] = value;
  return JSON.stringify(copy);
};

describe("results of a suite", () => {
  test("are read as they were written", () => {
    expect(parseResults(text)).toEqual(whole);
  });

  const cases: [string, string, string][] = [
    ["a field that is not there", changed("rows", 0, "mean", undefined), "/rows/0/mean is required"],
    ["one of a probe", changed("rows", 2, "seconds", undefined), "/rows/2/seconds is required"],
    [
      "a field of another type",
      changed("rows", 2, "figures", 0, "median", "39"),
      "/rows/2/figures/0/median must be a number",
    ],
    ["a unit that is none", changed("rows", 2, "figures", 0, "unit", "lb"), '/rows/2/figures/0/unit must be "B", "kB"'],
    [
      "a floor without its rounds",
      changed("rows", 0, "floor", "rounds", undefined),
      "/rows/0/floor/rounds is required",
    ],
    ["another kind of thing", "[]", "it must be an object"],
  ];
  for (const [what, wrong, fault] of cases) {
    test(`that do not fit say where, and what to do: ${what}`, () => {
      expect(() => parseResults(wrong, "benchmarks/results/routing.json")).toThrow(
        `benchmarks/results/routing.json does not fit: ${fault}`,
      );
      expect(() => parseResults(wrong)).toThrow("run `bun run bench` again");
    });
  }

  test("that are no JSON at all say so", () => {
    expect(() => parseResults(text.slice(0, 100), "routing.json")).toThrow("routing.json is no JSON");
  });
});

test("a whole run is read as it was printed", () => {
  const run: RunResult = {
    results: [whole],
    missed: ["routing: …"],
    undecided: [],
    failed: [{ suite: "routing", row: "ref.tell", why: "it did nothing" }],
    noise: { spread: 0.02, floors: 1, isNoisy: false },
    seconds: 12.5,
    interrupted: true,
  };
  expect(parseRun(serialise(run))).toEqual(run);
  expect(() => parseRun("{}")).toThrow("is required");
});

describe("each file of benchmarks/results", () => {
  const folder = join(import.meta.dir, "../../benchmarks/results");
  const schemas: Readonly<Record<string, Type.TSchema>> = {
    "peers-actors.json": published.peerResultsSchema,
    "peers-code.json": published.peerResultsSchema,
    "peers-files.json": published.peerResultsSchema,
    "stress.json": published.stressResultsSchema,
  };
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".json"))) {
    test(`is as the published schema says: ${name}`, async () => {
      const text = await Bun.file(join(folder, name)).text();
      parseJson(schemas[name] ?? published.suiteResultSchema, text, name, "as it is published");
    });
  }
});

test("each schema of results is published, and no schema takes another's results", () => {
  for (const schema of [published.peerResultsSchema, published.stressResultsSchema]) {
    expect(() => parseJson(schema, text, "routing.json", "something else")).toThrow("is required");
  }
  expect(parseJson(published.suiteResultSchema, text, "routing.json", "results of a suite")).toEqual(whole);
});

test("a folder with a file of another version is not read: the error says which file, and what to do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "envoi-results-"));
  try {
    await Bun.write(join(folder, "routing.json"), changed("rows", 0, "mean", undefined));
    const reading = readResults(folder);
    await expect(reading).rejects.toThrow(`${join(folder, "routing.json")} does not fit: /rows/0/mean is required`);
    await expect(reading).rejects.toThrow("run `bun run bench` again");
    await Bun.write(join(folder, "routing.json"), text);
    await Bun.write(join(folder, "stress.json"), "{}");
    await Bun.write(join(folder, "peers-actors.json"), "{}");
    expect(await readResults(folder)).toEqual([whole]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
