import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { resultOf } from "../../../../src/tools";
import { everyWay, withFiles } from "../ways";
import { attack, createYard, ways, type Yard } from "./yard";

const isRoot = process.getuid?.() === 0;
const [NOBODY, OTHER] = [65_534, 54_321];

interface Told {
  readonly ok: boolean;
  readonly error?: { readonly kind: string; readonly message: string };
}

/** Asks an actor that runs as a user. */
async function askAs(
  user: number,
  { root }: Yard,
  resolution: string,
  asked: readonly [string, object][],
): Promise<Told[]> {
  const program = join(import.meta.dir, "programs/as-user.ts");
  const running = Bun.spawn([process.execPath, program, root, resolution, String(user), JSON.stringify(asked)], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, complained] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
  ]);
  expect({ exit: await running.exited, complained }).toEqual({ exit: 0, complained: "" });
  return JSON.parse(said) as Told[];
}

function openToAll(yard: Yard, owner: number): void {
  chmodSync(yard.place, 0o755);
  chmodSync(yard.root, 0o755);
  chownSync(yard.root, owner, owner);
}

const write = (path: string): [string, object] => ["write", { path, content: "new" }];

describe.each(ways)("who owns what, by %s", (resolution) => {
  test.skipIf(!isRoot)("a root that the system's user has served can be served by its owner", async () => {
    using yard = createYard();
    openToAll(yard, NOBODY);
    expect(await askAs(0, yard, resolution, [write("new.txt")])).toMatchObject([{ ok: true }]);
    expect(
      await askAs(NOBODY, yard, resolution, [write("b.txt"), ["append", { path: "b.txt", content: "c" }]]),
    ).toMatchObject([{ ok: true }, { ok: true }]);
    const { uid, mode } = statSync(join(yard.root, ".envoi"));
    expect([uid, mode & 0o777]).toEqual([NOBODY, 0o700]);
    expect(await askAs(0, yard, resolution, [write("new.txt")])).toMatchObject([{ ok: true }]);
  });

  test.skipIf(!isRoot)("nothing that was there before is given away", async () => {
    using yard = createYard();
    openToAll(yard, NOBODY);
    mkdirSync(join(yard.root, ".envoi"), { mode: 0o700 });
    chownSync(join(yard.root, ".envoi"), NOBODY, NOBODY);
    const secret = join(yard.outside, "secret.txt");
    linkSync(secret, join(yard.root, ".envoi/lock"));
    linkSync(secret, join(yard.root, ".envoi/.gitignore"));
    await askAs(0, yard, resolution, [write("new.txt")]);
    expect(statSync(secret).uid).toBe(0);
  });

  test.skipIf(!isRoot)("a staging directory of another user's is named by the refusal", async () => {
    using yard = createYard();
    openToAll(yard, OTHER);
    chmodSync(yard.root, 0o777);
    await askAs(OTHER, yard, resolution, [write("new.txt")]);
    const [told] = await askAs(NOBODY, yard, resolution, [write("b.txt")]);
    expect(told?.error).toMatchObject({
      kind: "denied",
      message: expect.stringMatching(/^\.envoi below the root.*another user/),
    });
    expect(readdirSync(yard.root)).not.toContain("b.txt");
  });

  test.skipIf(!isRoot)(
    "a file that its user may not write is not replaced, edited, copied or uploaded over",
    async () => {
      using yard = createYard();
      openToAll(yard, NOBODY);
      for (const [name, owner] of [
        ["mine.txt", NOBODY],
        ["theirs.txt", 0],
      ] as const) {
        chownSync(yard.put(name, "old"), owner, owner);
        chmodSync(join(yard.root, name), owner === NOBODY ? 0o444 : 0o644);
      }
      chownSync(yard.put("source.txt", "new"), NOBODY, NOBODY);
      for (const path of ["mine.txt", "theirs.txt"]) {
        const told = await askAs(NOBODY, yard, resolution, [
          write(path),
          ["edit", { path, edits: [{ oldText: "old", newText: "new" }] }],
          ["copy", { from: "source.txt", to: path, ifExists: "replace" }],
          ["append", { path, content: "new" }],
        ]);
        expect(told.map(({ error }) => error?.kind)).toEqual(["denied", "denied", "denied", "denied"]);
        expect(readFileSync(join(yard.root, path), "utf8")).toBe("old");
      }
      // The system's user may write them all the same.
      expect(await askAs(0, yard, resolution, [write("mine.txt")])).toMatchObject([{ ok: true }]);
      expect(statSync(join(yard.root, "mine.txt")).mode & 0o777).toBe(0o444);
    },
  );

  test("what is in the place of the lock is told as what it is", async () => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      const refusal = async () =>
        resultOf(await files.ask("write", { path: "file.txt", content: "new" }))._unsafeUnwrapErr();
      mkdirSync(join(yard.root, ".envoi"), { mode: 0o700 });
      for (const [what, make] of [
        ["a symbolic link", (path: string) => symlinkSync("../file.txt", path)],
        ["a directory", (path: string) => mkdirSync(path)],
      ] as const) {
        const lock = join(yard.root, ".envoi/lock");
        make(lock);
        expect(await refusal()).toMatchObject({
          kind: "denied",
          message: expect.stringContaining(`.envoi/lock below the root is ${what}; remove it`),
        });
        rmSync(lock, { recursive: true });
      }
      expect(readFileSync(join(yard.root, "file.txt"), "utf8")).toBe("inside");
    });
  });

  test("a root that is gone is told, and no advice is given to list it", async () => {
    using yard = createYard();
    await attack(yard, { resolution }, async ({ files }) => {
      rmSync(yard.root, { recursive: true });
      for (const [operation, payload] of [
        ["read", { path: "a/b.txt" }],
        ["write", { path: "a.txt", content: "" }],
        ["append", { path: "a.txt", content: "" }],
        ["stat", { path: "a" }],
        ["mkdir", { path: "a" }],
        ["move", { from: "a", to: "b" }],
        ["delete", { path: "a" }],
      ] as const) {
        const refused = resultOf(await files.ask(operation as never, payload as never))._unsafeUnwrapErr();
        expect([operation, refused]).toEqual([
          operation,
          expect.objectContaining({ kind: "not-found", message: expect.stringContaining("is gone; make it") }) as never,
        ]);
      }
    });
  });
});

test.each(everyWay)("an upload id that is long is not given back, by %s", (way) =>
  withFiles(way, async ({ files }) => {
    const upload = "x".repeat(1_000_000);
    for (const operation of ["writeChunk", "finishWrite", "abortWrite"] as const) {
      const refused = resultOf(await files.ask(operation as "writeChunk", { upload, content: "" }))._unsafeUnwrapErr();
      expect([refused.kind, JSON.stringify(refused).length < 600]).toEqual(["not-found", true]);
    }
  }),
);
