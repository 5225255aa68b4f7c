import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, linkSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { PlannerFor } from "../../examples/agent-workspace/agent";
import { parseCommand, UsageError } from "../../examples/agent-workspace/command-line";
import { mayWrite } from "../../examples/agent-workspace/permission";
import type { Happening, PlanRequest, Step } from "../../examples/agent-workspace/protocols";
import { cellsOf } from "../../examples/agent-workspace/scripted/cells";
import { scriptedPlanner } from "../../examples/agent-workspace/scripted/planner";
import { questionOf } from "../../examples/agent-workspace/scripted/question";
import { transcriptOn } from "../../examples/agent-workspace/transcript";
import { work } from "../../examples/agent-workspace/work";
import { refusalOf } from "./refusal";
import { type Element, elementsOf } from "./well-formed";
import { all, children, filesIn, folderWith, only, sample } from "./workspace";

const project = join(import.meta.dir, "../..");
const main = join(project, "examples/agent-workspace/main.ts");
const tables = Object.fromEntries(
  ["penguins.csv", "weather.csv", "cars.csv"].map((name) => [`data/${name}`, sample(name)]),
);

const folders: string[] = [];
function folder(files: Readonly<Record<string, string>>): string {
  const made = folderWith(files);
  folders.push(made);
  return made;
}
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true });
});
afterEach(() => expect(children()).toEqual([]));

const quiet = { warn() {}, error() {} };
const scripted = (root: string, task: string) =>
  all(work({ folder: root, task, planner: scriptedPlanner, logger: quiet }));

async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  onStart?: (kill: () => void) => void,
) {
  const { npm_lifecycle_event, INIT_CWD, npm_config_local_prefix, OPENAI_BASE_URL, OPENAI_MODEL, ...plain } =
    process.env;
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: project,
    env: { ...plain, NO_COLOR: "1", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  const stderr = child.stderr.text();
  let stdout = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    if (stdout === "") onStart?.(() => child.kill("SIGINT"));
    stdout += chunk;
  }
  return { exitCode: await child.exited, stdout, stderr: await stderr };
}

/** The numbers of a column by the text of another one, counted without any of what the example does: the tables have no quotes. */
function byHand(table: string, group: string, value: string): Record<string, number[]> {
  const [names = [], ...rows] = sample(table)
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  const found: Record<string, number[]> = {};
  for (const row of rows) {
    const number = Number.parseFloat(row[names.indexOf(value)] ?? "");
    const name = row[names.indexOf(group)] ?? "";
    if (!Number.isNaN(number)) found[name] = [...(found[name] ?? []), number];
  }
  return found;
}
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each) / numbers.length;
const middle = (numbers: readonly number[]): number => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
};

/** The rows of a report's table, and the figures that they should have. */
const rowsOf = (report: string): string[] =>
  report
    .split("\n")
    .filter((line) => /^\| (?!---)/.test(line))
    .slice(1);
function expectedRows(groups: Record<string, number[]>, digits: number): string[] {
  const format = (value: number): string =>
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return Object.entries(groups).map(([name, numbers]) => {
    const figures = [mean(numbers), middle(numbers), Math.min(...numbers), Math.max(...numbers)];
    return `| ${[name, numbers.length, ...figures.map(format)].join(" | ")} |`;
  });
}

const ofClass = (elements: readonly Element[], kind: string): Element[] =>
  elements.filter(({ attributes }) => attributes["class"] === kind);

/** Where the marks of a chart are on its axis, by the ticks that it has. */
function scaleOf(elements: readonly Element[]): (x: number) => number {
  const ticks = ofClass(elements, "tick").map(({ attributes, text }) => [
    Number(attributes["x"]),
    Number(text.replaceAll(",", "")),
  ]);
  const [[x0 = 0, v0 = 0] = [], [x1 = 0, v1 = 0] = []] = [ticks[0], ticks.at(-1)];
  expect(ticks.length).toBeGreaterThan(3);
  return (x) => v0 + ((x - x0) / (x1 - x0)) * (v1 - v0);
}

describe("bun run demo", () => {
  test("without a folder, it reports on the sample tables, without a network", async () => {
    const { exitCode, stdout, stderr } = await run(["run", "demo"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const report = /^The report is (.*)\. It begins:$/m.exec(stdout)?.[1] ?? "";
    const root = dirname(dirname(report));
    folders.push(root);
    const { "report/report.md": written = "", "report/chart.svg": chart = "", ...others } = filesIn(root);
    expect(others).toEqual(tables); // Nothing else was written or changed.
    const groups = byHand("penguins.csv", "species", "body_mass_g");
    expect(rowsOf(written).sort()).toEqual(expectedRows(groups, 0).sort());
    const [gentoo = 0, adelie = 0] = ["Gentoo", "Adelie"].map((name) => Math.round(mean(groups[name] ?? [])));
    const [high, low, apart] = [gentoo, adelie, gentoo - adelie].map((each) => `${each.toLocaleString("en")} g`);
    expect(written).toContain(`species is Gentoo, ${high}, and lowest where it is Adelie, ${low}: ${apart} apart.`);
    expect(written).toContain("of 344 rows");
    expect(written).toContain("2 of the rows have no value");
    expect(written).toContain("](chart.svg)");
    expect(elementsOf(chart).length).toBeGreaterThan(342);
    expect(stdout).toContain("# How does body mass differ between the species of penguins?");
  });

  test("a folder that is given gets the report, and what went wrong on the way is seen in the transcript", async () => {
    const root = folder(tables);
    const { exitCode, stdout } = await run([main, root, "--task", "Compare the economy of cars by cylinders"]);
    expect(exitCode).toBe(0);
    const { "report/report.md": written = "", "report/chart.svg": _, ...others } = filesIn(root);
    expect(others).toEqual(tables);
    expect(rowsOf(written)).toEqual(expectedRows(byHand("cars.csv", "cylinders", "economy (mpg)"), 1));
    const [, line = ""] =
      /✗ runtime-error in line (\d+), column \d+: economy \(mpg\) of row 27 is ""/.exec(stdout) ?? [];
    expect(stdout).toContain("throw new RangeError");
    expect(stdout).toContain(`It stopped in line ${line}, as a cell has no value.`);
  });

  test("a folder without tables has no report, and status 1", async () => {
    const root = folder({ "notes.txt": "nothing" });
    const { exitCode, stdout } = await run([main, root]);
    expect(exitCode).toBe(1);
    expect(stdout).toContain("There is no report. There are no tables in this folder");
    expect(Object.keys(filesIn(root))).toEqual(["notes.txt"]);
  });

  test("where files cannot be served safely, one line says so and what to do, and the status is 1", async () => {
    const root = folder({ "elsewhere.ts": 'Object.defineProperty(process, "platform", { value: "darwin" });' });
    const { exitCode, stderr } = await run(["--preload", join(root, "elsewhere.ts"), main, root]);
    expect({ exitCode, lines: stderr.split("\n").length }).toEqual({ exitCode: 1, lines: 2 });
    expect(stderr).toMatch(/^There is no safe way to serve files here .*Use a Linux machine/);
  });

  test("Ctrl-C ends it, with status 130", async () => {
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: () => new Promise<Response>(() => {}),
    });
    const env = { OPENAI_BASE_URL: `http://127.0.0.1:${server.port}`, OPENAI_MODEL: "slow" };
    const { exitCode, stdout } = await run([main, folder(tables)], env, (kill) => kill());
    expect(exitCode).toBe(130);
    expect(stdout).toEndWith("Stopped.\n");
  });

  test("a wrong command line gets one sentence, and status 2", async () => {
    const wrong: [string[], Record<string, string>, string][] = [
      [["--colour"], {}, 'There is no option "--colour"; see --help.'],
      [["-x"], {}, 'There is no option "-x"; see --help.'],
      [["--help=3"], {}, "--help takes no value."],
      [["--task"], {}, "--task needs a text"],
      [["--task", "--planner"], {}, "--task needs a text"],
      [["--planner"], {}, "--planner needs to be told which"],
      [["a", "b"], {}, "Give one folder"],
      [[join(project, "missing")], {}, "cannot be read"],
      [["--task", " "], {}, "--task needs a text"],
      [["--planner", "oracle"], {}, "scripted or model"],
      [["--planner", "model"], {}, "needs OPENAI_BASE_URL"],
      [[], { OPENAI_BASE_URL: "http://localhost:1" }, "needs both OPENAI_BASE_URL"],
      [[], { OPENAI_MODEL: "some" }, "needs both OPENAI_BASE_URL"],
      [[], { OPENAI_MODEL: "some", OPENAI_BASE_URL: "localhost" }, "is a URL such as"],
    ];
    for (const [args, env, sentence] of wrong) {
      const at = args[0] === "a" ? [project, project] : args;
      const said = refusalOf(() => parseCommand(at, env), UsageError);
      expect({ at, said, lines: said.split("\n").length }).toEqual({
        at,
        said: expect.stringContaining(sentence),
        lines: 1,
      });
    }
    const stderr = 'There is no option "--colour"; see --help.\n';
    expect(await run([main, "--colour"])).toEqual({ exitCode: 2, stdout: "", stderr });
    expect(await run([main, "--help"])).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

const SPECIES = "How does body mass differ between the species of penguins?";
/** One run, of which several tests look at different sides. */
let penguins: { readonly happenings: Happening[]; readonly chart: Element[] };
beforeAll(async () => {
  const root = folder(tables);
  const happenings = await scripted(root, SPECIES);
  penguins = { happenings, chart: elementsOf(filesIn(root)["report/chart.svg"] ?? "") };
});

describe("the chart", () => {
  async function chartFor(task: string, files: Readonly<Record<string, string>> = tables): Promise<Element[]> {
    const root = folder(files);
    expect((await scripted(root, task)).at(-1)).toMatchObject({ kind: "finished", report: "report/report.md" });
    return elementsOf(filesIn(root)["report/chart.svg"] ?? "");
  }

  test("is a well-formed SVG with a mark for each row and each group, where their values are", () => {
    const elements = penguins.chart;
    const groups = byHand("penguins.csv", "species", "body_mass_g");
    const numbers = Object.values(groups).flat();
    expect(elements[0]).toMatchObject({ name: "svg", attributes: { xmlns: "http://www.w3.org/2000/svg" } });
    for (const kind of ["group", "box", "mean", "name", "value"]) expect(ofClass(elements, kind).length).toBe(3);
    expect(ofClass(elements, "label").map(({ text }) => text)).toEqual(["body mass (g)"]);
    expect(ofClass(elements, "name").map(({ text }) => text)).toEqual(["Gentoo", "Chinstrap", "Adelie"]);

    expect(ofClass(elements, "row").every(({ name }) => name === "circle")).toBe(true);
    const valueAt = scaleOf(elements);
    const near = (found: number[], wanted: number[]): void => {
      expect(found.length).toBe(wanted.length);
      found.forEach((value, index) => void expect(Math.abs(value - (wanted[index] ?? Number.NaN))).toBeLessThan(1));
    };
    const sorted = (values: number[]): number[] => values.sort((a, b) => a - b);
    near(
      sorted(ofClass(elements, "row").map(({ attributes }) => Math.round(valueAt(Number(attributes["cx"])) / 5) * 5)),
      sorted(numbers),
    );
    const means = ["Gentoo", "Chinstrap", "Adelie"].map((name) => mean(groups[name] ?? []));
    near(
      ofClass(elements, "mean").map(({ attributes }) => valueAt(Number(attributes["x1"]))),
      means,
    );
  });

  test("has colours of its own on light and on dark ground", () => {
    const elements = penguins.chart;
    const style = elements.find(({ name }) => name === "style")?.text ?? "";
    const [light = "", dark = ""] = style.split("@media (prefers-color-scheme: dark)");
    const classes = new Set(elements.map(({ attributes }) => attributes["class"]).filter((kind) => kind !== undefined));
    classes.delete("group"); // It has marks, and is none.
    for (const kind of classes) {
      for (const part of [light, dark]) expect(part).toMatch(new RegExp(`\\.${kind}\\b[^{}]*\\{[^}]*(fill|stroke): #`));
    }
    const luminance = (colour = ""): number => {
      const [red = 0, green = 0, blue = 0] = [1, 3, 5]
        .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    for (const part of [light, dark]) {
      const ground = luminance(/\.ground \{ fill: (#\w{6})/.exec(part)?.[1]);
      for (const kind of ["title", "note", "label", "tick"]) {
        const ink = luminance(new RegExp(`\\.${kind}\\b[^{}]*\\{ fill: (#\\w{6})`).exec(part)?.[1]);
        const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
        expect(contrast).toBeGreaterThan(4.5); // What WCAG 2.2 asks of text.
      }
    }
  });

  test("of more than a thousand rows has boxes alone", async () => {
    const elements = await chartFor("Compare temp_max between each location");
    expect([ofClass(elements, "row").length, ofClass(elements, "box").length]).toEqual([0, 2]);
    const valueAt = scaleOf(elements);
    const groups = byHand("weather.csv", "location", "temp_max");
    const means = ofClass(elements, "mean").map(({ attributes }) => valueAt(Number(attributes["x1"])));
    expect(means.map((value) => value.toFixed(1))).toEqual(
      ["New York", "Seattle"].map((name) => mean(groups[name] ?? []).toFixed(1)),
    );
  });

  test("shows names with markup, and the groups with most rows where there are many", async () => {
    const odd = 'kind;size\n"<b>&""x""";1\n"<b>&""x""";2\nb\u0007;2\n';
    const few = await chartFor("Compare size by kind", { "odd.csv": odd });
    expect(ofClass(few, "name").map(({ text }) => text)).toEqual(["b\uFFFD", '<b>&"x"']);
    const many = Array.from({ length: 30 }, (_, index) => `group ${index}\t${index}\n`.repeat(index + 1)).join("");
    const root = folder({ "many.tsv": `kind\tsize\n${many}` });
    await scripted(root, "Compare size by kind");
    const { "report/chart.svg": chart = "", "report/report.md": report = "" } = filesIn(root);
    expect(ofClass(elementsOf(chart), "group").length).toBe(20);
    expect(report).toContain("10 more groups, those with the fewest rows, are left out.");
  });
});

describe("the scripted planner", () => {
  test("mends its code once, in front of the line where it threw, and runs it again", () => {
    const { happenings } = penguins;
    const [first, second, ...more] = only(happenings, "step").flatMap(({ step }) =>
      step.do === "run" ? [step.code] : [],
    );
    expect(more).toEqual([]);
    const [error] = only(happenings, "observed").flatMap(({ observation }) =>
      observation.kind === "error" ? [observation] : [],
    );
    expect(error).toMatchObject({ error: "runtime-error", message: 'body_mass_g of row 4 is "NaN"' });
    const before = first?.split("\n") ?? [];
    const after = second?.split("\n") ?? [];
    const at = (error?.line ?? 0) - 1;
    expect(before[at]?.slice(0, (error?.column ?? 0) - 1)).toMatch(/throw new RangeError$|throw $/);
    const added = after.length - before.length;
    expect(added).toBeGreaterThan(0);
    expect([...after.slice(0, at), ...after.slice(at + added)]).toEqual(before);
  });

  test("expects gaps from the start where it sees one in the first lines, and mends nothing where there are none", async () => {
    const runs = async (content: string): Promise<number> => {
      const happenings = await scripted(folder({ "table.csv": content }), "Compare size by kind");
      expect(happenings.at(-1)?.kind).toBe("finished");
      return only(happenings, "step").filter(({ step }) => step.do === "run").length;
    };
    expect(await runs("kind,size\na,1\na,\nb,3\n")).toBe(1);
    expect(await runs("kind,size\na,1\na,2\nb,3\n")).toBe(1);
    expect(await runs("kind,size\na,1\na,2\nb,3\nb,NA\nb,-\n")).toBe(2);
  });

  test("does not guess at a cell that is no number and no gap", async () => {
    const root = folder({ "table.csv": "kind,size\na,1\na,2\nb,3\nb,12 kg\n" });
    const happenings = await scripted(root, "Compare size by kind");
    expect(only(happenings, "step").filter(({ step }) => step.do === "run").length).toBe(1);
    expect(happenings.at(-1)).toEqual({ kind: "failed", why: 'The analysis failed: size of row 4 is "12 kg"' });
    expect(Object.keys(filesIn(root))).toEqual(["table.csv"]);
  });

  test("takes what is in report/ for no table", async () => {
    const root = folder({ "report/old.csv": "kind,size\na,1\na,2\nb,3\n" });
    expect((await scripted(root, "Compare size by kind")).at(-1)).toMatchObject({ kind: "failed" });
  });

  test("says so where no table can be compared", async () => {
    const root = folder({ "a.csv": "name,place\nx,y\n", "b.csv": "", "c.csv": 'a,b\n"x' });
    expect((await scripted(root, "Compare")).at(-1)).toEqual({
      kind: "failed",
      why: "No table has both a column of numbers and a column that makes groups.",
    });
  });

  test("says so where a table cannot be read, and why", async () => {
    const root = folder({ "a.csv": "kind,size\na,1\n" });
    linkSync(join(root, "a.csv"), join(root, "b.txt")); // Another name may be outside of the folder.
    const reason = /^No table has .* groups\. Not all could be read: .*"a\.csv"/;
    expect((await scripted(root, "Compare")).at(-1)).toEqual({ kind: "failed", why: expect.stringMatching(reason) });
  });

  test("a task that the rules do not understand is told so, with what they do understand, and no report is written", async () => {
    const root = folder(tables);
    for (const task of ["Write a poem about penguins", "Delete everything", "Compare Goethe with Schiller", "42"]) {
      const happenings = await scripted(root, task);
      const { kind, why } = happenings.at(-1) as Extract<Happening, { kind: "failed" }>;
      expect({ task, kind, why }).toEqual({
        task,
        kind: "failed",
        why: expect.stringContaining("do not understand this"),
      });
      expect(why).toContain("data/penguins.csv has species, island, ");
      expect(why).toContain("--planner model");
    }
    expect(existsSync(join(root, "report"))).toBe(false);
  });

  test.each([
    ["semicolons and decimal commas", "table.csv", "art;masse\nPinguin;3,5\nPinguin;1.004,5\nEule;1,25\nEule;2\n"],
    [
      "semicolons, and a decimal comma below the first rows",
      "table.csv",
      "art;masse\nEule;1\nEule;2\nPinguin;4\nPinguin;1004,6\n",
    ],
    ["semicolons", "table.csv", '"art; name";masse\nPinguin;3.5\nPinguin;1004.5\nEule;1.25\nEule;2\n'],
    ["tabs", "table.csv", "art\tmasse\nPinguin\t3,5\nPinguin\t1004,5\nEule\t1,25\nEule\t2\n"],
  ])("a table with %s between its cells is read", async (_, name, content) => {
    const root = folder({ [name]: content });
    expect((await scripted(root, "Compare masse by art")).at(-1)).toMatchObject({ kind: "finished" });
    const report = await Bun.file(join(root, "report/report.md")).text();
    expect(report).toContain("| Pinguin | 2 | 504 | 504 | 4 | 1,005 |");
    expect(report).toContain("| Eule | 2 | 2 | 2 | 1 | 2 |");
  });

  test("chooses table and columns by the words of the task, and by what is in the columns", () => {
    const heads = Object.entries(tables).map(([path, content]) => ({
      path,
      content: content.split("\n").slice(0, 4).join("\n"),
    }));
    const chosen = (task: string) => {
      const { path, value, group } = questionOf(task, heads) ?? {};
      return { path, value, group };
    };
    const [path, weather, cars] = ["data/penguins.csv", "data/weather.csv", "data/cars.csv"];
    const flipper = { path, value: "flipper_length_mm", group: "island" };
    expect(chosen("Which island has the longest flippers?")).toEqual(flipper);
    expect(chosen("What is the wind per kind of weather?")).toEqual({ path: weather, value: "wind", group: "weather" });
    expect(chosen("Compare power by year")).toEqual({ path: cars, value: "power (hp)", group: "year" });
    // Numbers make groups only where the task says so.
    expect(chosen("Compare the years of cars")).toEqual({ path: cars, value: "year", group: "name" });
    // Nothing is named: a column whose texts repeat makes groups, rather than the names of cars.
    expect(chosen("How do the groups differ?")).toEqual({ path, value: "culmen_length_mm", group: "species" });
  });
});

describe("what an agent may write", () => {
  /** A planner that takes these steps, one after the other. */
  const following =
    (...steps: readonly Step[]): PlannerFor =>
    () =>
    () => ({
      *plan({ turns }: PlanRequest) {
        const step = steps[turns.length] ?? { do: "giveUp", why: "That was all." };
        yield { kind: "step", step };
      },
    });

  test("is below report/, whatever a path looks like", () => {
    const allowed = ["report/a.md", "report/charts/a.svg", "report/..a"];
    const refused = [
      "a.md",
      "report",
      "report/",
      "Report/a",
      "report/../a",
      "report/./a",
      "report//a",
      "/report/a",
      "./report/a",
      "reports/a",
      "",
    ];
    expect(allowed.filter((path) => !mayWrite(path))).toEqual([]);
    expect(refused.filter(mayWrite)).toEqual([]);
    expect([undefined, null, 7, ["report/a"]].filter(mayWrite)).toEqual([]);
  });

  test("is refused to its planner, and to its code, which read the reason and have no other way", async () => {
    const root = folder({ "data/a.csv": "kind,size\na,1\n" });
    const code = `
      const reasons = [];
      for (const path of ["data/a.csv", "report/../data/a.csv", "new.txt"]) {
        await tools.files.write({ path, content: "" }).catch(({ name, kind, message }) => reasons.push([name, kind, message]));
      }
      const fine = await tools.files.write({ path: "report/b.txt", content: "b" });
      return { reasons, fine: fine.ok, tools: Object.keys(tools), files: Object.keys(tools.files).sort() };`;
    const steps: Step[] = [
      { do: "write", path: "data/a.csv", content: "" },
      { do: "write", path: "report/../b.txt", content: "" },
      { do: "run", code },
    ];
    const happenings = await all(work({ folder: root, task: "", planner: following(...steps), logger: quiet }));
    const [first, second, ran] = only(happenings, "observed").map(({ observation }) => observation);
    for (const refused of [first, second]) expect(refused).toMatchObject({ kind: "error", error: "refused" });
    const reason = expect.stringContaining("Nothing is written outside of report/");
    expect(ran).toMatchObject({
      kind: "value",
      value: {
        reasons: Array(3).fill(["ToolError", "refused", reason]),
        fine: true,
        tools: ["files"],
        files: ["list", "read", "write"],
      },
    });
    expect(filesIn(root)).toEqual({ "data/a.csv": "kind,size\na,1\n", "report/b.txt": "b" });
    expect(happenings.at(-1)).toEqual({ kind: "failed", why: "That was all." });
  });

  test("does not count as a report before it is there", async () => {
    const steps: Step[] = [
      { do: "finish", report: "report/r.md", summary: "" },
      { do: "write", path: "report/r.md", content: "# R" },
      { do: "finish", report: "report/r.md", summary: "R" },
    ];
    const happenings = await all(work({ folder: folder({}), task: "", planner: following(...steps), logger: quiet }));
    expect(only(happenings, "observed")[0]?.observation).toMatchObject({ kind: "error", error: "not-found" });
    expect(happenings.at(-1)).toEqual({ kind: "finished", report: "report/r.md", summary: "R", content: "# R" });
  });

  test("takes at most so many steps, and a loop that is left leaves nothing running", async () => {
    const steps = Array<Step>(9).fill({ do: "run", code: "1" });
    const options = { folder: folder({}), task: "", planner: following(...steps), maxSteps: 3, logger: quiet };
    const happenings = await all(work(options));
    expect(only(happenings, "step").length).toBe(3);
    expect(happenings.at(-1)).toEqual({ kind: "failed", why: "The task was not done after 3 steps." });
    for await (const happening of work(options)) if (happening.kind === "observed") break;
    expect(children()).toEqual([]);
  });
});

test("the cells of a table are read as they were written, quoted or not", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", "é", " ", ",", ";", "\t", '"', "\n", "\r") });
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
  fc.assert(
    fc.property(
      rows,
      fc.constantFrom(",", ";", "\t"),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      (table, delimiter, end, hasEnd) => {
        const written = (text: string): string =>
          /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
        const text = table.map((row) => row.map(written).join(delimiter)).join(end) + (hasEnd ? end : "");
        expect(cellsOf(text, delimiter)).toEqual(table);
        expect(cellsOf(`\uFEFF${text}`, delimiter)).toEqual(table);
      },
    ),
  );
  expect(() => cellsOf('a,b\n"c', ",")).toThrow("after row 1 is not quoted well");
});

test("the transcript has the pieces of a thought in one line, a mark below the place of an error, and nothing that a terminal obeys", () => {
  let written = "";
  const transcript = transcriptOn((text) => {
    written += text;
  });
  transcript.show({ kind: "thought", text: "I thi" });
  transcript.show({ kind: "thought", text: "nk\u001b[2J." });
  transcript.show({ kind: "step", number: 1, step: { do: "run", code: "const a = 1;\na.b.c" } });
  const observation = { kind: "error", error: "runtime-error", message: "no b", line: 2, column: 3 } as const;
  transcript.show({ kind: "observed", observation: { ...observation, logs: ["one"] } });
  expect(written).toBe(`
I think\\u{1b}[2J.
1. run code in the sandbox
   │ const a = 1;
   │ a.b.c
   · one
   ✗ runtime-error in line 2, column 3: no b
   │ a.b.c
   │   ^
`);
});
