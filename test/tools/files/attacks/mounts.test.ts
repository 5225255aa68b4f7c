import { describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resultOf } from "../../../../src/tools";
import { besideOf, noteOf } from "../../../../src/tools/files/write/notes";
import { Staging } from "../../../../src/tools/files/write/staging";
import { withWatched } from "../watch/watched";
import { everyWay, rootWays, withFiles, withRoot } from "../ways";
import { createYard, ways } from "./yard";

const program = (name: string): string => join(import.meta.dir, "programs", `${name}.ts`);

/** A command in mounts of its own, which end with it, with a file system in memory at `mnt` below the root. */
const withMount = (root: string, size: string, command: readonly string[]): string[] => [
  "unshare",
  "-Urm",
  "sh",
  "-c",
  `set -e; mount -t tmpfs -o size=${size} none "$1/mnt"; shift; exec "$@"`,
  "sh",
  root,
  ...command,
];

const mayMount = ((): boolean => {
  using yard = createYard();
  mkdirSync(join(yard.root, "mnt"));
  return Bun.spawnSync(withMount(yard.root, "1m", ["true"])).exitCode === 0;
})();

async function onMount(root: string, resolution: string, part: string, size = "20m"): Promise<unknown> {
  mkdirSync(join(root, "mnt"));
  const running = Bun.spawn(withMount(root, size, [process.execPath, program("on-mount"), root, resolution, part]), {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, complained] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
  ]);
  expect({ exit: await running.exited, complained }).toEqual({ exit: 0, complained: "" });
  return JSON.parse(said);
}

// Skipped where this user may mount nothing, not even in a namespace of its own.
describe.each(ways)("a file system that is mounted below the root, by %s", (resolution) => {
  test.skipIf(!mayMount)("is written, edited, uploaded and copied to, as anything else", async () => {
    using yard = createYard();
    expect(await onMount(yard.root, resolution, "work")).toEqual({
      kinds: Array(14).fill("done"),
      contents: {
        small: "new small",
        large: 700_000,
        durable: "durable",
        edited: "new text",
        uploaded: "one two",
        copied: "inside",
        "copied large": 700_000,
        "tree/a/b/deep.txt": "inside",
      },
      mode: "640",
      conflicts: ["changed", "exists", "exists"],
      names: ["copied", "copied large", "durable", "edited", "large", "small", "tree", "uploaded"],
      litter: [],
    });
  });

  test.skipIf(!mayMount)("keeps the old content of what does not fit, and nothing is left of the new one", async () => {
    using yard = createYard();
    expect(await onMount(yard.root, resolution, "full", "400k")).toEqual({
      kinds: ["io", "io", "io", "io"],
      content: "old",
      names: ["file"],
      litter: [],
    });
  });

  test.skipIf(process.getuid?.() !== 0)("a setgid directory gives its group also where the user may not", async () => {
    using yard = createYard();
    chmodSync(yard.place, 0o755);
    chownSync(yard.root, 65_534, 65_534);
    mkdirSync(join(yard.root, "shared"));
    chownSync(join(yard.root, "shared"), 65_534, 54_321);
    chmodSync(join(yard.root, "shared"), 0o2777);
    const asked = JSON.stringify([["write", { path: "shared/new", content: "new" }]]);
    const { stdout } = Bun.spawnSync([process.execPath, program("as-user"), yard.root, resolution, "65534", asked]);
    expect(JSON.parse(stdout.toString())).toMatchObject([{ ok: true }]);
    expect(statSync(join(yard.root, "shared/new")).gid).toBe(54_321);
    expect(readdirSync(join(yard.root, "shared"))).toEqual(["new"]);
  });
});

describe.each(rootWays.filter((way) => way !== "memory"))(
  "what a killed process leaves beside a name, by %s",
  (way) => {
    test("is found by its note, and removed at the next start; nothing else is", () =>
      withRoot(way, (root, directory) => {
        const ids = ["0123456789ab.0", "0123456789ab.1", "0123456789ab.2", "0123456789ab.3"] as const;
        mkdirSync(join(directory, ".envoi"));
        mkdirSync(join(directory, "a/b"), { recursive: true });
        mkdirSync(join(directory, "a/b", besideOf(ids[1]), "inner"), { recursive: true });
        for (const [id, place] of [
          [ids[0], "a/b"],
          [ids[1], "a/b"],
          [ids[2], ""],
          [ids[3], "../outside"],
        ] as const) {
          writeFileSync(join(directory, ".envoi", noteOf(id)), place);
        }
        for (const name of [besideOf(ids[0]), `${besideOf(ids[1])}/inner/x`, "kept"]) {
          writeFileSync(join(directory, "a/b", name), "");
        }
        writeFileSync(join(directory, besideOf(ids[2])), "");
        new Staging(root).sweep();
        expect(readdirSync(join(directory, ".envoi"))).toEqual([]);
        expect(readdirSync(join(directory, "a/b"))).toEqual(["kept"]);
        expect(readdirSync(directory).sort()).toEqual([".envoi", "a"]);
      }));
  },
);

describe.each(everyWay)("what is staged beside its name, by %s", (way) => {
  const hidden = besideOf("0123456789ab.7");
  const secret = "the secret";

  test("is neither shown, nor read, found, copied or changed, by any spelling", () =>
    withFiles(way, async ({ files, directory, disk }) => {
      for (const path of ["", "a", "a/b"]) {
        disk.mkdirSync(join(directory, path, `${hidden}1`), { recursive: true });
        for (const name of [hidden, `${hidden}1/x`]) disk.writeFileSync(join(directory, path, name), secret);
      }
      disk.writeFileSync(join(directory, "a/shown"), "shown");
      const listed = resultOf(await files.ask("list", { recursive: true, details: true }))._unsafeUnwrap();
      expect(listed.entries.map(({ path }) => path)).toEqual(["a", "a/b", "a/shown"]);
      const found: unknown[] = [];
      for await (const item of files.stream("search", { text: secret })) found.push(item);
      expect(found).toHaveLength(1);
      expect(resultOf(await files.ask("copy", { from: "a", to: "c" }))._unsafeUnwrap()).toMatchObject({ files: 1 });
      expect(disk.readdirSync(join(directory, "c"))).toEqual(expect.not.arrayContaining([hidden]));
      for (const path of [hidden, `a/${hidden}`, `a/b/${hidden}1/x`, `a/${hidden.toUpperCase()}`]) {
        for (const [operation, payload] of [
          ["read", { path }],
          ["write", { path, content: "" }],
          ["delete", { path, recursive: true }],
          ["move", { from: path, to: "d" }],
        ] as const) {
          const refused = resultOf(await files.ask(operation as "read", payload as { path: string }));
          expect([operation, refused._unsafeUnwrapErr().kind]).toEqual([operation, "denied"]);
        }
      }
    }));

  test("is not told by a watch", () =>
    withWatched(way, async ({ directory, disk, watch }) => {
      disk.mkdirSync(join(directory, "a"));
      const watching = await watch();
      await watching.look();
      const path = join(directory, "a", hidden);
      disk.writeFileSync(path, "new");
      expect((await watching.look()).join()).not.toContain(hidden);
      disk.renameSync(path, join(directory, "a/shown"));
      const told = await watching.look();
      expect(told).toContain("created a/shown");
      expect(told.join()).not.toContain(hidden);
    }));
});
