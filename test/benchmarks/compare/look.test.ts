import { afterAll, beforeAll, expect, test } from "bun:test";
import { cp, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Looked, lookAt } from "../../../benchmarks/compare/measure";
import { residentBytes } from "../../../benchmarks/harness/processes";

const root = join(import.meta.dir, "../../..");

/** A suite that needs no envoi. What it does is told by the build that it is in. */
const SUITE = `
const isHere = import.meta.dir.includes("/here/");
const timed = (name, setup) => ({ kind: "timed", name, operations: 1, per: 1, floor: { none: "none" }, setup });
const counting = (work) => {
  let completed = 0;
  return { run: () => { work(); completed++; }, completed: () => completed };
};
const rows = [
  timed("dies", () => (isHere ? process.exit(3) : counting(() => {}))),
  timed("idle here", () => (isHere ? { run: () => {}, completed: () => 0 } : counting(() => {}))),
  timed("works", () => counting(() => { for (let i = 0; i < (isHere ? 40_000 : 2_000); i++) Math.sqrt(i); })),
];
export const suite = { name: "own", about: "", rows };
`;
const rows = ["dies", "idle here", "works"].map((row) => ({ suite: "own", row }));

let folder = "";
const builds = { base: "", present: "" };
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "envoi-look-")));
  builds.base = join(folder, "then");
  builds.present = join(folder, "here");
  for (const build of Object.values(builds)) {
    for (const part of ["benchmarks/harness", "benchmarks/compare"])
      await cp(join(root, part), join(build, part), { recursive: true });
    await Bun.write(join(build, "benchmarks/suites/own.bench.ts"), SUITE);
    await symlink(join(root, "node_modules"), join(build, "node_modules"));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a look measures each row in pairs of processes; one that is refused, or takes its process with it, spares the others", async () => {
  const seen: Looked = new Map();
  const begun: string[] = [];
  const look = { name: "look", pairs: 2, fewest: 1, minutes: 5 };
  await lookAt(rows, look, builds, new AbortController().signal, seen, (text) => begun.push(text.split(": ")[2] ?? ""));
  expect(begun).toEqual(["dies", "idle here", "works", "works"]); // What failed is not tried again.
  const [dies, idle, works] = [...seen.values()];
  expect(dies?.failed).toEqual({ why: "its process ended (3)", by: "present" });
  expect(idle?.failed).toEqual({ why: expect.stringContaining("it did nothing"), by: "present" });
  expect(works?.pairs.length).toBe(2);
  for (const { base, present } of works?.pairs ?? []) {
    expect(present["time"]).toBeGreaterThan(2 * (base["time"] ?? Number.POSITIVE_INFINITY));
    for (const { time, p99 = Number.POSITIVE_INFINITY } of [base, present]) expect(p99).toBeGreaterThan(time ?? p99);
  }
}, 60_000);

test("a comparison that is killed leaves no process that measures", async () => {
  const code = `
    const { startBuild } = await import(${JSON.stringify(join(root, "benchmarks/compare/measure.ts"))});
    const { descendants } = await import(${JSON.stringify(join(root, "benchmarks/harness/processes.ts"))});
    const worker = startBuild(${JSON.stringify(builds.base)}, "own", new AbortController().signal);
    await worker.ask({ order: "begin", row: "works", warmUp: 1 }, 60_000);
    process.stdout.write(descendants(process.pid).join(" ") + "\\n");
    await new Promise(() => {});
  `;
  const killed = Bun.spawn([process.execPath, "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const { value } = await killed.stdout.getReader().read();
  const pids = new TextDecoder().decode(value).trim().split(" ").map(Number);
  expect(pids.filter((pid) => residentBytes(pid) > 0).length).toBeGreaterThan(0);
  killed.kill("SIGKILL");
  await killed.exited;
  while (pids.some((pid) => residentBytes(pid) > 0)) await new Promise((resolve) => setImmediate(resolve));
}, 60_000);
