import * as node from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Volume } from "memfs";
import { createSystem, type System, systemClock } from "../../../src";
import { type FileSystemOptions, type FileSystemRef, type Resolution, spawnFileSystem } from "../../../src/tools";
import { openRoot } from "../../../src/tools/files/open-root";

/** A way of resolving paths that a machine may have. */
export type Way = Resolution;

/** What of node:fs tests use on either kind of disk; memfs's volume has it too. */
export type Disk = Pick<
  typeof node,
  "readFileSync" | "writeFileSync" | "mkdirSync" | "readdirSync" | "symlinkSync" | "existsSync" | "rmSync" | "linkSync"
>;

/** The ways over the machine's own file system that this machine has. */
export const ways: readonly Way[] = (["openat2", "proc-fd"] as const).filter((resolution) => {
  try {
    openRoot({ root: tmpdir(), resolution }, systemClock).dispose();
    return true;
  } catch {
    return false;
  }
});

/** All ways that this machine has, the in-memory one included. */
export const everyWay: readonly Way[] = [...ways, "memory"];

/** A file actor over a directory that begins empty. */
export interface FilesForTest {
  readonly files: FileSystemRef;
  /** The directory that is served: on the machine, or in memory. */
  readonly directory: string;
  readonly system: System;
  /** For a look at the directory past the actor. */
  readonly disk: Disk;
}

/**
 * Runs a test with a file actor over a fresh directory, which is gone afterwards; fails if the actor has left a file open.
 *
 * @param options for `spawnFileSystem`.
 */
export async function withFiles<Value>(
  way: Way,
  test: (parts: FilesForTest) => Promise<Value>,
  options: Partial<Omit<FileSystemOptions, "root" | "volume" | "resolution">> = {},
): Promise<Value> {
  if (way === "memory") {
    const volume = Volume.fromJSON({}, "/");
    const directory = "/files";
    volume.mkdirSync(directory);
    // memfs's functions take and give what node:fs's do.
    const disk = volume as unknown as Disk;
    return runTest((system) => spawnFileSystem(system, { ...options, root: directory, volume }), directory, disk, test);
  }
  const directory = node.mkdtempSync(join(node.realpathSync(tmpdir()), "envoi-files-"));
  try {
    const done = await runTest(
      (system) => spawnFileSystem(system, { ...options, root: directory, resolution: way }),
      directory,
      node,
      test,
    );
    expectClosed(directory);
    return done;
  } finally {
    node.rmSync(directory, { recursive: true, force: true });
  }
}

async function runTest<Value>(
  spawn: (system: System) => FileSystemRef,
  directory: string,
  disk: Disk,
  test: (parts: FilesForTest) => Promise<Value>,
): Promise<Value> {
  await using system = createSystem();
  return await test({ files: spawn(system), directory, system, disk });
}

/** Fails if this process has anything open that is, or was, below a directory. */
function expectClosed(directory: string): void {
  const open = openBelow(directory);
  if (open.length > 0) throw new Error(`The file actor has left these open: ${open.join(", ")}.`);
}

/** What this process has open below a directory. */
export function openBelow(directory: string): string[] {
  return node.readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const path = node.readlinkSync(`/proc/self/fd/${descriptor}`);
      return path === directory || path.startsWith(`${directory}/`) ? [path] : [];
    } catch {
      return []; // That of the look itself.
    }
  });
}
