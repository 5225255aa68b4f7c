import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../../../src/testing";
import { litterIn } from "./litter";
import { attack, createYard, ways, type Yard } from "./yard";

const KILLS = process.env["ENVOI_LONG"] ? 100 : 3;
const SIZES: ReadonlySet<number> = new Set([10, 5_000, 100_000, 400_000]);

/**
 * Kills a process while at least so many staged files lie below the root. It is stopped before they are counted, so that none of
 * them is placed between the count and the kill. A process that ends by itself is left alone.
 */
async function killAmid(program: Bun.Subprocess, yard: Yard, least: number): Promise<void> {
  for (let count = 0; count < least && program.exitCode === null && program.signalCode === null; ) {
    if (litterIn(yard.root).length >= least) {
      program.kill("SIGSTOP");
      while (program.exitCode === null && !isStopped(program.pid)) await nextTurn();
      count = litterIn(yard.root).length;
      if (count < least) program.kill("SIGCONT");
    }
    await nextTurn();
  }
  program.kill("SIGKILL");
  await program.exited;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The state of a process stands behind its name in parentheses. */
const isStopped = (pid: number): boolean =>
  / [TtXZ] /.test(readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\)/, ""));

/** Runs the writer, and kills it after so many rounds of four writes, in the middle of the next one. */
async function killAt(yard: Yard, way: string, seed: number, rounds: number): Promise<void> {
  const writer = Bun.spawn(
    [process.execPath, join(import.meta.dir, "programs/writer.ts"), yard.root, way, String(seed)],
    { stdout: "pipe", stderr: "inherit" },
  );
  const reader = writer.stdout.getReader();
  for (let seen = 0; seen <= rounds; ) seen += (await reader.read()).value?.length ?? rounds;
  await killAmid(writer, yard, 1);
}

/** Fails if a file holds anything but one whole content. */
function expectWhole(yard: Yard): number {
  const paths = [...new Bun.Glob("d*/*").scanSync({ cwd: yard.root })];
  for (const path of paths) {
    const content = readFileSync(join(yard.root, path), "latin1");
    const isWhole = SIZES.has(content.length) && content === (content[0] ?? "").repeat(content.length);
    expect({ path, size: content.length, isWhole }).toEqual({ path, size: content.length, isWhole: true });
  }
  return paths.length;
}

describe.each(ways)("a process killed in the middle of 1,000 writes, by %s", (resolution) => {
  test("each file is old or new, and the next start sweeps what was left", async () => {
    using yard = createYard();
    const random = createRandom(7);
    let litter = 0;
    for (let seed = 0; seed < KILLS; seed++) {
      await killAt(yard, resolution, seed, random.below(100));
      litter += litterIn(yard.root).length;
      expect(expectWhole(yard)).toBeGreaterThan(0);
      // The next start is that of a process which does nothing else.
      await attack(yard, { resolution }, async ({ files }) => {
        expect((await files.ask("read", { path: "file.txt" }))._unsafeUnwrap()).toMatchObject({ ok: true });
      });
      expect(litterIn(yard.root, { isRunning: false })).toEqual([]);
      const below = readdirSync(yard.root).filter((name) => !/^d\d$/.test(name));
      expect(below.sort()).toEqual([".envoi", "a", "c", "file.txt"]);
      for (const name of readdirSync(yard.root).filter((each) => /^d\d$/.test(each))) {
        expect(readdirSync(join(yard.root, name)).filter((file) => !/^file-\d+$/.test(file))).toEqual([]);
      }
    }
    expect(litter).toBeGreaterThan(0); // Some were killed while they wrote: else nothing was shown.
    yard.expectUntouched();
  }, 120_000);
});

describe.each(ways)("a process killed in the middle of changes of forty files at once, by %s", (resolution) => {
  test("leaves some of them done, each file whole, and the next start sweeps what was left", async () => {
    using yard = createYard();
    const random = createRandom(11);
    let litter = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const program = join(import.meta.dir, "programs/changer-of-several.ts");
      const changer = Bun.spawn([process.execPath, program, yard.root, resolution], {
        stdout: "pipe",
        stderr: "inherit",
      });
      const reader = changer.stdout.getReader();
      const rounds = random.below(20);
      for (let seen = 0; seen <= rounds; ) seen += (await reader.read()).value?.length ?? rounds;
      await killAmid(changer, yard, 1 + random.below(39));
      litter += litterIn(yard.root).length;
      const paths = [...new Bun.Glob("d*/*").scanSync({ cwd: yard.root })];
      expect(paths.filter((path) => path.includes("file-"))).toHaveLength(40);
      expect(paths.filter((path) => !path.includes("file-")).length).toBeGreaterThan(0); // That which is moved is there.
      for (const path of paths) {
        expect(readFileSync(join(yard.root, path), "latin1")).toMatch(/^([a-z])\1{1999}$/);
      }
      await attack(yard, { resolution }, async ({ files }) => {
        expect((await files.ask("read", { path: "file.txt" }))._unsafeUnwrap()).toMatchObject({ ok: true });
      });
      expect(litterIn(yard.root, { isRunning: false })).toEqual([]);
      for (const path of ["d0/x", "d1/y"]) rmSync(join(yard.root, path), { force: true });
    }
    expect(litter).toBeGreaterThan(0); // Some were killed while they changed: else nothing was shown.
    yard.expectUntouched();
  }, 120_000);
});
