import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnFileSystem } from "../../../../src/tools";
import { isLong } from "../../../property/runs";
import { byRealpath, createNaiveServer } from "./naive";
import { addLine } from "./programs/line-writers";
import { attack, createYard, ways, type Yard } from "./yard";

const ROUNDS = isLong ? 20 : 2;

const expectAllLines = (yard: Yard, names: string[]): void => {
  const expected = names.flatMap((name) => Array.from({ length: ROUNDS }, (_, round) => `${name}/${round}`));
  const lines = readFileSync(join(yard.root, "shared.txt"), "utf8").trimEnd().split("\n");
  expect(lines.sort()).toEqual(expected.sort());
};

/** Five processes of ten writers each, by these ways in turn; gives how many conflicts they were told. */
async function inFiveProcesses(yard: Yard, by: readonly string[]): Promise<number> {
  const processes = Array.from({ length: 5 }, (_, i) =>
    Bun.spawn(
      [
        process.execPath,
        join(import.meta.dir, "programs/line-writers.ts"),
        yard.root,
        by[i % by.length] ?? "",
        String(i),
        "10",
        String(ROUNDS),
      ],
      { stdin: "pipe", stdout: "pipe", stderr: "inherit", timeout: 100_000 },
    ),
  );
  const readers = processes.map(({ stdout }) => stdout.getReader());
  for (const reader of readers) await reader.read();
  for (const { stdin } of processes) {
    stdin.write("go\n");
    stdin.flush();
  }
  const said = await Promise.all(readers.map(async (reader) => new TextDecoder().decode((await reader.read()).value)));
  for (const each of processes) expect(await each.exited).toBe(0);
  return said.reduce((sum, each) => sum + (JSON.parse(each) as { conflicts: number }).conflicts, 0);
}

const fifty = Array.from({ length: 5 }, (_, i) => Array.from({ length: 10 }, (_, writer) => `${i}/${writer}`)).flat();

describe.each(ways)("fifty writers on one file, by %s", (resolution) => {
  test("in one process: every conflict is told, and no line is lost", async () => {
    using yard = createYard();
    yard.put("shared.txt", "");
    await attack(yard, { resolution }, async ({ files }) => {
      const conflicts = await Promise.all(
        fifty.map(async (name) => {
          let count = 0;
          for (let round = 0; round < ROUNDS; round++) count += await addLine(files, "shared.txt", `${name}/${round}`);
          return count;
        }),
      );
      expect(conflicts.reduce((sum, each) => sum + each)).toBeGreaterThan(0);
    });
    expectAllLines(yard, fifty);
  }, 120_000);

  test("in one process, by two actors over one root", async () => {
    using yard = createYard();
    yard.put("shared.txt", "");
    await attack(yard, { resolution }, async ({ files, system }) => {
      const others = spawnFileSystem(system, { root: yard.root, resolution, name: "others" });
      await Promise.all(
        fifty.map(async (name, i) => {
          for (let round = 0; round < ROUNDS; round++) {
            await addLine(i % 2 === 0 ? files : others, "shared.txt", `${name}/${round}`);
          }
        }),
      );
    });
    expectAllLines(yard, fifty);
  }, 120_000);

  // In the short verification, five processes write by both ways at once, below.
  test.skipIf(!isLong && ways.length > 1)(
    "in five processes",
    async () => {
      using yard = createYard();
      yard.put("shared.txt", "");
      expect(await inFiveProcesses(yard, [resolution])).toBeGreaterThan(0);
      expectAllLines(yard, fifty);
    },
    120_000,
  );

  test("a file of more than one piece: no line is lost, either", async () => {
    using yard = createYard();
    const head = `${"x".repeat(300_000)}\n`;
    yard.put("shared.txt", head);
    await attack(yard, { resolution }, async ({ files }) => {
      await Promise.all(Array.from({ length: 10 }, (_, i) => addLine(files, "shared.txt", String(i))));
    });
    const lines = readFileSync(join(yard.root, "shared.txt"), "utf8").slice(head.length).trimEnd().split("\n");
    expect(lines.sort()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  }, 120_000);

  test("appends of fifty at once are all there, each whole", async () => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      const contents = fifty.map(
        (name, i) => `${name.replace("/", "-")}:${"y".repeat(i % 10 === 0 ? 200_000 : 100)}\n`,
      );
      await Promise.all(contents.map((content) => files.ask("append", { path: "log.txt", content })));
      const lines = readFileSync(join(yard.root, "log.txt"), "utf8").trimEnd().split("\n");
      expect(lines.sort()).toEqual(contents.map((content) => content.trimEnd()).sort());
    });
  }, 120_000);
});

test.skipIf(ways.length < 2)(
  "in five processes that resolve in different ways",
  async () => {
    using yard = createYard();
    yard.put("shared.txt", "");
    await inFiveProcesses(yard, ways);
    expectAllLines(yard, fifty);
  },
  120_000,
);

test("reading and writing by path loses lines where two write at once", async () => {
  using yard = createYard();
  const naive = createNaiveServer(yard.root, byRealpath);
  writeFileSync(join(yard.root, "shared.txt"), "");
  const add = async (line: string): Promise<void> => {
    const content = naive.read("shared.txt");
    await Promise.resolve(); // As any program does that asks, and then writes.
    naive.write("shared.txt", `${content}${line}\n`);
  };
  await Promise.all(fifty.map(add));
  expect(naive.read("shared.txt").trimEnd().split("\n").length).toBeLessThan(50);
});
