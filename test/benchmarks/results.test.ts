import { describe, expect, test } from "bun:test";
import { parseResults, parseRun, type RunResult, serialise } from "../../benchmarks/harness/results";
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
    ["a field that is not there", changed("rows", 0, "curve", undefined), "/rows/0/curve is required"],
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

test("each schema of results is published, and no schema takes another's results", () => {
  const { actorPeerResultsSchema, codePeerResultsSchema, filePeerResultsSchema, stressResultsSchema } = published;
  for (const schema of [actorPeerResultsSchema, codePeerResultsSchema, filePeerResultsSchema, stressResultsSchema]) {
    expect(() => parseJson(schema, text, "routing.json", "something else")).toThrow("is required");
  }
  expect(parseJson(published.suiteResultSchema, text, "routing.json", "results of a suite")).toEqual(whole);
});
