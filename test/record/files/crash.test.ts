import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../../src/testing/index";
import { isLong } from "../../property/runs";
import { createFolder, idsOf, readAll, upTo } from "./folder";

const KILLS = isLong ? 100 : 12; // Of each form.
/** Holds the programs, each as one file: so they start in a third of the time. */
const built = createFolder();
const program = (name: string): string => built.at(`${name}.js`);
beforeAll(async () => {
  const entrypoints = ["writer", "ending", "ending-in-a-write"].map((name) =>
    join(import.meta.dir, "programs", `${name}.ts`),
  );
  await Bun.build({ entrypoints, outdir: built.path, target: "bun" });
}, 60_000);
afterAll(() => built[Symbol.dispose]());

/** Kills a recording process after some turns. */
async function killWriter(folder: string, form: string, seed: number): Promise<void> {
  const writer = Bun.spawn([process.execPath, program("writer"), folder, form, String(seed)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = writer.stdout.getReader();
  const turns = createRandom(seed).below(60);
  for (let seen = 0; seen <= turns; ) seen += (await reader.read()).value?.length ?? turns;
  writer.kill("SIGKILL");
  await writer.exited;
}

describe.each(["plain", "zstd"])("a recording process that is killed: %s", (form) => {
  test("leaves files that are read up to their last whole line, and the torn end is told", async () => {
    let [messages, parts, torn] = [0, 0, 0];
    const once = async (seed: number): Promise<void> => {
      using folder = createFolder();
      await killWriter(folder.path, form, seed);
      const [name = ""] = readdirSync(folder.path).sort();
      const { lines, reader } = await readAll(folder.at(name));
      const ids = idsOf(lines);
      expect(ids).toEqual(upTo(ids.length)); // None is missing in the middle.
      expect(reader.faults.filter(({ kind }) => kind !== "torn")).toEqual([]);
      expect(reader.faults.length).toBeLessThanOrEqual(1);
      expect([reader.isClosed, reader.paths.length + (reader.torn?.line === 1 ? 1 : 0)]).toEqual([
        false,
        // The next part may have been opened, and not begun.
        readdirSync(folder.path).filter((each) => statSync(folder.at(each)).size > 0).length,
      ]);
      messages += ids.length;
      parts += reader.paths.length;
      torn += reader.faults.length;
    };
    for (let seed = 0; seed < KILLS; seed += 2) await Promise.all([once(seed), once(seed + 1)]);
    expect(messages).toBeGreaterThan(KILLS);
    expect(parts).toBeGreaterThan(KILLS); // Some were rotated.
    if (isLong) console.log(`${form}: ${KILLS} kills, ${messages} messages in ${parts} parts, ${torn} torn`);
  }, 120_000);

  test("that exits when the disk has a write, before the recording knows, writes nothing twice", async () => {
    using folder = createFolder();
    const ended = Bun.spawn([process.execPath, program("ending-in-a-write"), folder.path, form], { stderr: "ignore" });
    expect(await ended.exited).toBe(0);
    const { lines, reader } = await readAll(folder.at(form === "zstd" ? "run.ndjson.zst" : "run.ndjson"));
    expect([idsOf(lines), reader.faults]).toEqual([upTo(100), []]);
  });

  test.each(["process.exit", "an error that nobody catches", "having nothing more to do"])(
    "that ends by %s loses nothing",
    async (way) => {
      using folder = createFolder();
      const ended = Bun.spawn([process.execPath, program("ending"), folder.path, form, way], { stderr: "ignore" });
      expect(await ended.exited).toBe(way.startsWith("an error") ? 1 : 0);
      const { lines, reader } = await readAll(folder.at(form === "zstd" ? "run.ndjson.zst" : "run.ndjson"));
      expect(idsOf(lines)).toEqual(upTo(1_000));
      expect([reader.faults, reader.isClosed]).toEqual([[], false]);
    },
  );
});
