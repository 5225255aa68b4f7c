import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { FileCounts } from "../../../src/record/files/options";
import { createFolder, upTo } from "./folder";

interface Told {
  readonly appended: number;
  readonly told: readonly { readonly kind: string; readonly sentence: string }[];
  readonly counts: FileCounts;
  readonly read: string | { readonly ids: readonly number[]; readonly kinds: readonly string[] };
}

const program = join(import.meta.dir, "programs/full-disk.ts");

async function run(script: string, folder: string, ...args: string[]): Promise<Told> {
  const command = ["sh", "-c", `set -e; ${script}; shift; exec "$@"`, "sh", folder];
  const isolated = script.startsWith("mount") ? ["unshare", "-Urm", ...command] : command;
  const child = Bun.spawn([...isolated, process.execPath, program, folder, ...args], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ err, status }).toEqual({ err: "", status: 0 });
  return JSON.parse(out);
}

const MOUNT = 'mount -t tmpfs -o size=1m none "$1"';
const mayMount = ((): boolean => {
  using folder = createFolder();
  return Bun.spawnSync(["unshare", "-Urm", "sh", "-c", MOUNT, "sh", folder.path]).exitCode === 0;
})();

function expectStopped({ appended, told, counts, read }: Told, code: RegExp): void {
  expect(told).toEqual([{ kind: "stopped", sentence: expect.stringMatching(code) }]);
  expect(counts).toMatchObject({ isStopped: true, waiting: 0, parts: 1 });
  expect(counts.lines + counts.droppedLines).toBe(appended);
  expect(counts.lines).toBeGreaterThan(10);
  if (typeof read === "string") throw new Error(read);
  expect(read.ids).toEqual(upTo(counts.lines)); // What it says it wrote is what is there.
  expect(read.kinds.every((kind) => kind === "torn")).toBe(true);
}

describe.each(["plain", "zstd"])("a full disk stops the recording, with one line, and nothing else: %s", (form) => {
  // Skipped where this user may mount nothing, not even in a namespace of its own.
  test.skipIf(!mayMount)("a disk of 1 MB", async () => {
    using folder = createFolder();
    expectStopped(await run(MOUNT, folder.path, form), /stopped, and nothing else did: ENOSPC/);
  });

  test("a process that may write no larger file", async () => {
    using folder = createFolder();
    expectStopped(await run("ulimit -f 1000", folder.path, form), /stopped, and nothing else did: EFBIG/);
  });

  test.skipIf(!mayMount)("a disk that was full before: the program begins all the same", async () => {
    using folder = createFolder();
    const { told, counts, appended } = await run(MOUNT, folder.path, form, "full");
    expect(told).toEqual([{ kind: "stopped", sentence: expect.stringContaining("ENOSPC") }]);
    expect(counts).toMatchObject({ isStopped: true, lines: 0, droppedLines: appended });
  });
});
