import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystem, type SystemEvent } from "../../../../src";
import { FileError, spawnFileSystem } from "../../../../src/tools";
import { openBelow } from "../ways";
import { byPrefix, byRealpath, createNaiveServer } from "./naive";
import { type Operation, operations, perform } from "./operations";
import { createYard, SECRET, snapshot, ways, type Yard } from "./yard";

/** Requests for each way. */
const REQUESTS = process.env["ENVOI_LONG"] ? 200_000 : 1_500;
/** Requests at once. */
const BATCH = 50;
const KINDS: ReadonlySet<string> = new Set(FileError.properties.kind.anyOf.map((each) => each.const));

/** True for operations that wait for the disk, or go through a whole tree again and again. They have fewer turns. */
const isCostly = ({ name }: Operation): boolean => /durably|watch|delete all|write much/.test(name);
const TURNS = [...Array.from({ length: 7 }, () => operations.filter((each) => !isCostly(each))).flat(), ...operations];

/** Paths that lead through what is swapped, or name it. */
const PATHS = [
  "d",
  "d/",
  "d/file.txt",
  "d/secret.txt",
  "d/sub",
  "d/sub/file.txt",
  "d/sub/secret.txt",
  "d/new.txt",
  "d/new/deep.txt",
  "f.txt",
  "tree",
  "tree/x",
  "tree/x/inner",
  "tree/x/inner/file.txt",
  "tree/x/inner/secret.txt",
  "tree/x/inner/sub",
  "d.link",
  "inner.link/secret.txt",
  "",
];

async function whileSwapping(yard: Yard, run: () => Promise<void>): Promise<void> {
  const swapper = Bun.spawn([process.execPath, join(import.meta.dir, "programs/swapper.ts"), yard.root, yard.outside], {
    stdin: "pipe",
    stdout: "pipe",
  });
  try {
    const { value } = await swapper.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toContain("ready");
    await run();
    expect(swapper.exitCode).toBeNull(); // It swapped until the end.
  } finally {
    swapper.kill("SIGKILL");
    await swapper.exited;
  }
}

/** Fails if anything below the root holds the secret: nothing was copied or moved in, either. */
function expectNoSecretInside(yard: Yard): void {
  const found = snapshot(yard.root).filter((line) => line.includes(SECRET));
  expect(found).toEqual([]);
}

describe.each(ways)("a directory swapped for a link in a loop by another process, by %s", (resolution) => {
  test(`none of ${REQUESTS} requests of all kinds leaves the root, and none hangs`, async () => {
    using yard = createYard();
    yard.put("a/copied.txt", "inside");
    const events: SystemEvent[] = [];
    const told = new Map<string, number>();
    await whileSwapping(yard, async () => {
      await using system = createSystem({ askTimeout: 20_000, validate: "always", logger: { warn() {}, error() {} } });
      system.events.subscribe((event) => events.push(event));
      const files = spawnFileSystem(system, { root: yard.root, resolution, maxEntries: 200 });
      let at = 0;
      while (at < REQUESTS) {
        const batch = Array.from({ length: BATCH }, async () => {
          const operation = TURNS[at % TURNS.length];
          // Their numbers have no common divisor, so that each operation comes to each path.
          const path = PATHS[at % PATHS.length];
          at++;
          if (operation === undefined || path === undefined) throw new Error("There are no operations.");
          const reply = await perform(files, operation, path);
          const kind = reply.ok ? "served" : reply.error.kind;
          const shown = JSON.stringify(reply);
          if (shown.includes(SECRET) || shown.includes(yard.place)) {
            throw new Error(`${operation.name} of ${path}: ${shown}`);
          }
          if (!reply.ok) expect(KINDS).toContain(kind);
          told.set(kind, (told.get(kind) ?? 0) + 1);
        });
        await Promise.all(batch);
        // Deleted files are put back, so that there is something to read.
        await files.ask("write", { path: "file.txt", content: "inside" });
        await files.ask("write", { path: "a/b/deep.txt", content: "inside" });
      }
      const { accepted, handled, dead, queued, running } = system.router.audit();
      expect(accepted).toBe(handled + dead + queued + running);
    });
    expect(events.filter(({ kind }) => kind === "failed" || kind === "restarted")).toEqual([]);
    yard.expectUntouched();
    expectNoSecretInside(yard);
    expect(openBelow(yard.place)).toEqual([]);
    // Both sides of the swap were met: else nothing was raced.
    expect(told.get("served")).toBeGreaterThan(REQUESTS / 20);
    expect(told.get("denied")).toBeGreaterThan(REQUESTS / 200);
  }, 600_000);
});

const checks = [
  ["the path", byPrefix],
  ["the real path", byRealpath],
] as const;

test.each(checks)(
  "a check of %s loses the same race: a secret is read, and a file outside is written",
  async (_name, check) => {
    using yard = createYard();
    await whileSwapping(yard, async () => {
      const naive = createNaiveServer(yard.root, check);
      let [hasRead, hasWritten] = [false, false];
      for (let tries = 0; tries < 500_000 && !(hasRead && hasWritten); tries++) {
        try {
          hasRead ||= naive.read("d/secret.txt").includes(SECRET);
        } catch {
          // Refused, or missing for this moment.
        }
        try {
          if (!hasWritten) naive.write("d/file.txt", "written");
        } catch {
          // The same.
        }
        hasWritten ||= readFileSync(join(yard.outside, "file.txt"), "utf8") === "written";
      }
      expect({ hasRead, hasWritten }).toEqual({ hasRead: true, hasWritten: true });
    });
    writeFileSync(join(yard.outside, "file.txt"), "");
  },
  120_000,
);
