import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Look, type Looked, lookAt, type Seen } from "../../../benchmarks/compare/look";
import { makePlan } from "../../../benchmarks/compare/plan";
import { Workshop } from "../../../benchmarks/compare/workshop";

const root = join(import.meta.dir, "../../..");
const MS = 1e6;
const LOOK: Look = {
  name: "look",
  pairs: 2,
  fewest: 2,
  time: 60_000,
  turns: 2,
  turn: 2 * MS,
  warmUp: { least: MS, most: 2 * MS },
};

/** A suite that needs no envoi; `base` and `here` differ in what they are told. */
const SUITE = `
const isHere = import.meta.dir.includes("/here/");
const floor = { none: "none" };
const timed = (name, setup) => ({ kind: "timed", name, operations: 1, per: 1, floor, setup });
const counting = (work) => {
  let completed = 0;
  return { run: () => { work(); completed++; }, completed: () => completed };
};
const nothing = { run: () => {}, completed: () => 0 };
const figures = [
  { name: "time", unit: "ms", ratio: false },
  { name: "rate", unit: "/s", ratio: false },
  { name: "count", unit: "", ratio: false },
];
const readings = { time: isHere ? 2 : 1, rate: isHere ? 20 : 10, count: 7 };
const rows = [
  timed("dies", () => (isHere ? process.exit(3) : counting(() => {}))),
  timed("idle here", () => (isHere ? nothing : counting(() => {}))),
  timed("works", () => counting(() => { for (let i = 0; i < (isHere ? 20_000 : 2_000); i++) Math.sqrt(i); })),
  { kind: "probe", name: "reads", figures, floor, measure: async () => readings },
  { kind: "probe", name: "reads, with a chart", figures, floor, measure: async () => ({ readings, series: [] }) },
  { kind: "probe", name: "counts", figures: figures.slice(2), floor, measure: async () => readings },
  ...(isHere ? [timed("new", () => counting(() => {})), timed("left out", () => nothing)] : [timed("lost", () => nothing), timed("gone", () => nothing)]),
];
const leftOut = isHere ? [{ row: "lost", why: "the sandbox is broken" }, { row: "never", why: "there is no disk" }] : [{ row: "left out", why: "there is no tmpfs" }];
export const suite = { name: "own", about: "", rows, leftOut };
`;

let folder = "";
const builds = { base: { folder: "", missing: [] }, present: { folder: "", missing: [] } };
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "envoi-look-")));
  for (const [build, name] of [
    ["base", "then"],
    ["present", "here"],
  ] as const) {
    builds[build].folder = join(folder, name);
    const benchmarks = join(folder, name, "benchmarks");
    for (const part of ["harness", "compare"]) {
      await cp(join(root, "benchmarks", part), join(benchmarks, part), { recursive: true });
    }
    await cp(join(root, "benchmarks/published-figures.json"), join(benchmarks, "published-figures.json"));
    await Bun.write(join(benchmarks, "suites/own.bench.ts"), SUITE);
    await symlink(join(root, "node_modules"), join(folder, name, "node_modules"));
    await mkdir(join(folder, name, "tmp"));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function withWorkshop<T>(use: (workshop: Workshop) => Promise<T>): Promise<T> {
  const workshop = new Workshop(new AbortController().signal);
  try {
    return await use(workshop);
  } finally {
    await workshop.close();
  }
}

const plan = (filter?: string) =>
  withWorkshop((workshop) => makePlan(builds.present.folder, builds, { suites: [], filter }, [], workshop));

describe("the plan", () => {
  test("has the rows that both builds have, with the figures that are better one way, and says why others are not in it", async () => {
    const { rows, notCompared } = await plan();
    expect(rows.map(({ row }) => row)).toEqual(["dies", "idle here", "works", "reads", "reads, with a chart"]);
    expect(rows.at(-1)?.figures.map(({ name, better }) => [name, better])).toEqual([
      ["time", "lower"],
      ["rate", "higher"],
    ]);
    expect(notCompared.map(({ row, why, isBroken }) => [row, why, isBroken])).toEqual([
      ["lost", "the sandbox is broken", true],
      ["never", "there is no disk", false],
      ["gone", "this tree has no such row", true],
      ["counts", "none of its figures is better when it is lower, or higher", false],
      ["new", "the base has no such row", false],
      ["left out", "there is no tmpfs", false],
    ]);
  });

  test("keeps rows whose name contains the filter, in any case, and refuses one that no row has", async () => {
    expect((await plan("READS")).rows.map(({ row }) => row)).toEqual(["reads", "reads, with a chart"]);
    await expect(plan("xyz")).rejects.toThrow('No row of own contains "xyz".');
  });

  test("refuses a suite that is not there", async () => {
    const chosen = { suites: ["other"] };
    await withWorkshop(async (workshop) => {
      const planned = makePlan(builds.present.folder, builds, chosen, [], workshop);
      await expect(planned).rejects.toThrow('There is no suite "other". There are own.');
    });
  });
});

test("a look measures each row in pairs of processes; one that is refused, or takes its process with it, spares the others", async () => {
  const { rows } = await plan();
  const seen: Looked = new Map();
  const begun: string[] = [];
  await withWorkshop((workshop) => lookAt(rows, LOOK, builds, workshop, seen, (text) => begun.push(text)));
  const of = (name: string): Seen => [...seen].find(([{ row }]) => row === name)?.[1] ?? { pairs: [], took: 0 };

  const counted = Map.groupBy(begun, (text) => text.slice(text.lastIndexOf(": ") + 2)).values();
  expect([...counted].map((times) => times.length)).toEqual([1, 1, 2, 2, 2]); // What failed is not tried again.
  expect(of("dies").failed).toEqual({ why: "its process ended (3)", by: "present" });
  expect(of("idle here").failed?.by).toBe("present");
  expect(of("idle here").failed?.why).toContain("it did nothing");
  const { pairs } = of("works");
  expect(pairs.length).toBe(2);
  for (const { base, present } of pairs) expect(present["time"]).toBeGreaterThan(2 * (base["time"] ?? Infinity));
  for (const name of ["reads", "reads, with a chart"]) {
    const each = { base: { time: 1, rate: 10, count: 7 }, present: { time: 2, rate: 20, count: 7 } };
    expect(of(name).pairs).toEqual([each, each]);
  }
}, 240_000);

test("a look that has no time for all rows leaves out those that take longest, and ends", async () => {
  const { rows } = await plan("reads");
  const [cheap, dear] = rows.map((row, index) => ({
    ...row,
    kind: "probe" as const,
    reading: index === 0 ? 1 : 60_000,
  }));
  if (cheap === undefined || dear === undefined) throw new Error("there are two");
  const seen: Looked = new Map();
  await withWorkshop((workshop) => lookAt([cheap, dear], LOOK, builds, workshop, seen, () => {}));
  expect([seen.get(cheap)?.pairs.length, seen.get(dear)?.pairs.length]).toEqual([2, 0]);
}, 240_000);

test("a comparison that is killed leaves no process that measures", async () => {
  const code = `
    const { Workshop } = await import(${JSON.stringify(join(root, "benchmarks/compare/workshop.ts"))});
    const { BuildProcess } = await import(${JSON.stringify(join(root, "benchmarks/compare/worker.ts"))});
    const { descendants } = await import(${JSON.stringify(join(root, "benchmarks/harness/processes.ts"))});
    const workshop = new Workshop(new AbortController().signal);
    const worker = new BuildProcess(workshop, ${JSON.stringify(builds.base)});
    await worker.ask({ order: "load", suite: "own" });
    process.stdout.write(descendants(process.pid).join(" ") + "\\n");
    await new Promise(() => {});
  `;
  const tmp = await mkdtemp(join(folder, "tmp-")); // What it cannot remove any more.
  const env = { ...process.env, TMPDIR: tmp };
  const killed = Bun.spawn([process.execPath, "-e", code], { env, stdio: ["ignore", "pipe", "ignore"] });
  const reader = killed.stdout.getReader();
  const { value } = await reader.read();
  const pids = new TextDecoder().decode(value).trim().split(" ").map(Number);
  expect(pids.length).toBeGreaterThan(0);
  killed.kill("SIGKILL");
  await killed.exited;
  for (const pid of pids) while (isThere(pid)) await new Promise((resolve) => setImmediate(resolve));
}, 240_000);

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
