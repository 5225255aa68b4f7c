import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { resultOf } from "../../../../src/tools";
import { isChange, operations, perform, WRITTEN } from "./operations";
import { attack, createYard, snapshot, ways } from "./yard";

const program = (name: string): string => join(import.meta.dir, "programs", `${name}.ts`);

/** Runs a command, and gives what its last line says. */
async function answerOf<Answer>(command: string[]): Promise<Answer> {
  const running = Bun.spawn(command, { stdout: "pipe", stderr: "pipe", timeout: 200_000, killSignal: "SIGKILL" });
  const [said, complained] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
  ]);
  expect({ exit: await running.exited, complained }).toEqual({ exit: 0, complained: "" });
  return JSON.parse(said.trim().split("\n").at(-1) ?? "") as Answer;
}

/** A shell in mounts of its own, which end with it; `$1` is the root. */
const withMounts = (script: string, root: string, command: string[]): string[] => [
  "unshare",
  "-Urm",
  "sh",
  "-c",
  `set -e; ${script}; shift; exec "$@"`,
  "sh",
  root,
  ...command,
];

const mayMount = ((): boolean => {
  using yard = createYard();
  return Bun.spawnSync(withMounts('mount -t tmpfs -o size=1m none "$1"', yard.root, ["true"])).exitCode === 0;
})();
const isRoot = process.getuid?.() === 0;

interface Told {
  readonly name: string;
  readonly kind: string;
  readonly path?: string;
  readonly free?: number;
  readonly value?: unknown;
}

const isChangeNamed = (name: string): boolean => operations.some((each) => each.name === name && isChange(each));

describe.each(ways)("what fails underneath, by %s", (resolution) => {
  // Skipped where this user may mount nothing, not even in a namespace of its own: then no disk can be made to be full.
  test.skipIf(!mayMount)(
    "a full disk is told; the old content is there, no litter, and all works once there is room",
    async () => {
      using yard = createYard();
      const { isFull, whileFull, afterwards, names, tried, failed } = await answerOf<{
        isFull: boolean;
        whileFull: { name: string; kind: string; isAsBefore: boolean; litter: string[] }[];
        afterwards: { name: string; kind: string; litter: string[] }[];
        names: string[];
        tried: string[];
        failed: number;
      }>(
        withMounts('mount -t tmpfs -o size=4m none "$1"', yard.root, [
          process.execPath,
          program("disk-full"),
          yard.root,
          resolution,
        ]),
      );
      expect({ isFull, failed }).toEqual({ isFull: true, failed: 0 });
      const full = tried.filter((name) => name !== "upload"); // It writes a few bytes, which may fit.
      expect(whileFull.filter(({ name }) => name !== "upload")).toEqual(
        full.map((name) => ({ name, kind: "io", isAsBefore: true, litter: [] })),
      );
      for (const { litter } of whileFull) expect(litter).toEqual([]);
      expect(afterwards.map(({ name, kind, litter }) => ({ name, kind, litter }))).toEqual(
        tried.map((name) => ({ name, kind: "served", litter: [] })),
      );
      expect(names).toEqual([".envoi", "ballast", "source", ...tried].sort());
    },
    240_000,
  );

  test.skipIf(!mayMount)(
    "a file system that takes no changes is told as read-only, and is read",
    async () => {
      using yard = createYard();
      const { told, failed } = await answerOf<{ told: Told[]; failed: number }>(
        withMounts('mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"', yard.root, [
          process.execPath,
          program("no-rights"),
          yard.root,
          resolution,
          "the same user",
          "file.txt",
          "new.txt",
        ]),
      );
      expect(failed).toBe(0);
      for (const { path, name, kind } of told) {
        if (!isChangeNamed(name)) continue;
        // An operation may also fail for a reason of its own.
        const others =
          path === "new.txt"
            ? /^(read-only|not-found|changed)$/
            : /^(read-only|changed|exists|no-match|not-a-directory)$/;
        expect({ path, name, kind }).toEqual({ path, name, kind: expect.stringMatching(others) });
      }
      expect(told.find(({ name }) => name === "read")?.kind).toBe("served");
      for (const name of ["write", "append", "delete"]) {
        const one = told.find((each) => each.name === name && each.path === "file.txt");
        if (one !== undefined) expect(one.kind).toBe("read-only");
      }
    },
    240_000,
  );

  test("what the operating system does not allow is told as denied, and nothing is written", async () => {
    using yard = createYard();
    chmodSync(yard.place, 0o755);
    chmodSync(yard.root, 0o755);
    yard.put("closed.txt", "closed");
    yard.put("closed/file.txt", "closed");
    yard.put("locked/file.txt", "locked");
    if (isRoot) chownSync(yard.root, 65_534, 65_534);
    chmodSync(join(yard.root, "closed.txt"), 0);
    chmodSync(join(yard.root, "closed"), 0);
    chmodSync(join(yard.root, "locked"), 0o555);
    if (isRoot) for (const name of ["locked", "locked/file.txt"]) chownSync(join(yard.root, name), 0, 0);
    try {
      const { told, failed } = await answerOf<{ told: Told[]; failed: number }>([
        process.execPath,
        program("no-rights"),
        yard.root,
        resolution,
        isRoot ? "nobody" : "the same user",
        "closed/file.txt",
        "closed/new.txt",
        "locked/new.txt",
        "closed.txt",
      ]);
      expect(failed).toBe(0);
      const of = (path: string): Told[] => told.filter((each) => each.path === path);
      for (const { path, name, kind, value } of [...of("closed/file.txt"), ...of("closed/new.txt")]) {
        if (name === "exists" && kind === "served") expect({ path, value }).toEqual({ path, value: false });
        else expect({ path, name, kind }).toEqual({ path, name, kind: "denied" });
      }
      for (const { name, kind } of of("locked/new.txt").filter(({ name }) => isChangeNamed(name))) {
        expect({ name, kind }).toEqual({ name, kind: expect.stringMatching(/^(denied|changed|not-found)$/) });
      }
      for (const { name, kind } of of("closed.txt").filter(({ name }) => /^(read|append|edit)/.test(name))) {
        // Its owner may delete it, after which it is not there.
        expect({ name, kind }).toEqual({
          name,
          kind: expect.stringMatching(name === "readStream" ? /denied|not-found/ : /denied/),
        });
      }
    } finally {
      for (const name of ["closed", "locked"]) chmodSync(join(yard.root, name), 0o755); // Or nobody but root could remove them.
    }
    expect(readdirSync(join(yard.root, "closed"))).toEqual(["file.txt"]);
    expect(readFileSync(join(yard.root, "closed/file.txt"), "utf8")).toBe("closed");
    expect(readdirSync(join(yard.root, "locked"))).toEqual(["file.txt"]);
  }, 240_000);

  test("too many open files are told, nothing is left open or lying about, and all works afterwards", async () => {
    using yard = createYard();
    const { told, recovered, leaked, litter, failed } = await answerOf<{
      told: Told[];
      recovered: Told[];
      leaked: number;
      litter: string[];
      failed: number;
    }>([
      "sh",
      "-c",
      'ulimit -n 256; exec "$@"',
      "sh",
      process.execPath,
      program("too-many-files"),
      yard.root,
      resolution,
    ]);
    expect({ failed, leaked, litter }).toEqual({ failed: 0, leaked: 0, litter: [] });
    for (const { free, name, kind } of told) {
      expect({ free, name, kind }).toEqual({
        free,
        name,
        kind: expect.stringMatching(
          /^(served|io|changed|no-match|exists|not-found|not-a-directory|is-directory|denied)$/,
        ),
      });
    }
    expect(told.find(({ free, name }) => free === 0 && name === "read")?.kind).toBe("io");
    expect(told.find(({ free, name }) => free === 0 && name === "write")?.kind).toBe("io");
    for (const { name, kind } of recovered) {
      expect({ name, kind }).toEqual({ name, kind: name.includes("ifMatch") ? "changed" : "served" });
    }
  }, 240_000);

  test("the root removed under the actor: told, and made nowhere anew", async () => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      await files.ask("write", { path: "first", content: "it" });
      rmSync(yard.root, { recursive: true });
      for (const operation of operations) {
        const told = await perform(files, operation, "file.txt");
        const isNothing = operation.operation === "exists" && told.ok && told.value === false;
        expect({ name: operation.name, kind: told.ok && !isNothing ? "served" : "told" }).toEqual({
          name: operation.name,
          kind: "told",
        });
        if (!told.ok)
          expect({ name: operation.name, kind: told.error.kind }).toEqual({
            name: operation.name,
            kind: expect.stringMatching(/^(not-found|changed|io)$/),
          });
      }
      for (const path of ["", ".", "./"]) {
        const told = resultOf(await files.ask("list", { path }))._unsafeUnwrapErr();
        expect(told).toMatchObject({
          kind: "not-found",
          message: expect.stringContaining("make it, and spawn the actor"),
        });
      }
      expect(readdirSync(yard.place).sort()).toEqual(["outside", "ws-secret"]);
    });
  });

  test.each(["a directory", "a link to what is outside"])(
    "the root replaced by %s: nothing is written or read there",
    async (by) => {
      using yard = createYard();
      using other = createYard();
      await attack(
        yard,
        { resolution },
        async ({ files }) => {
          await files.ask("write", { path: "first", content: "it" });
          renameSync(yard.root, join(yard.place, "ws-secret/was-ws"));
          if (by === "a directory") mkdirSync(yard.root);
          else symlinkSync(other.place, yard.root);
          const before = snapshot(other.place);
          for (const operation of operations) await perform(files, operation, "outside/secret.txt");
          for (const operation of operations) await perform(files, operation, "new.txt");
          if (by === "a directory") expect(readdirSync(yard.root)).toEqual([]);
          expect(snapshot(other.place)).toEqual(before);
          // It is still the directory that was given, wherever that is now.
          const read = resultOf(await files.ask("read", { path: "a/b/deep.txt" }));
          if (read.isOk()) expect(read.value.content).toBe("inside");
          rmSync(yard.root, { recursive: true });
          renameSync(join(yard.place, "ws-secret/was-ws"), yard.root);
        },
        { isMoved: true },
      );
    },
  );

  test.skipIf(!isRoot)("a file that is replaced keeps its rights, but does not run as its new owner", async () => {
    using yard = createYard();
    const path = yard.put("tool", "#!/bin/sh\n");
    chownSync(path, 65_534, 65_534);
    chmodSync(path, 0o6755);
    await attack(yard, { resolution }, async ({ files }) => {
      expect(resultOf(await files.ask("write", { path: "tool", content: WRITTEN })).isOk()).toBe(true);
      expect((statSync(path).mode & 0o7777).toString(8)).toBe("755");
    });
  });
});
