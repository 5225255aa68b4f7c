import * as node from "node:fs";
import { join } from "node:path";
import { Volume } from "memfs";
import { createSystem, type System, systemClock } from "../../../src";
import { type FileSystemOptions, type FileSystemRef, type Resolution, spawnFileSystem } from "../../../src/tools";
import { openRoot, thisMachine } from "../../../src/tools/files/root/open-root";
import type { Root } from "../../../src/tools/files/root/root";
import { machineOf, WITHOUT_FFI } from "./programs/machine";
import { tmpdir } from "./tmpdir";

/** A way of resolving paths that a machine may have. */
export type Way = Resolution;

/** A way that a root may be opened in: without FFI, the lock is another one. */
export type RootWay = Way | "proc-fd without FFI";

/** The part of node:fs that tests use on both kinds of disk. The volume of memfs has it, too. */
export type Disk = Pick<
  typeof node,
  | "readFileSync"
  | "writeFileSync"
  | "mkdirSync"
  | "readdirSync"
  | "symlinkSync"
  | "linkSync"
  | "lstatSync"
  | "existsSync"
  | "renameSync"
  | "rmSync"
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
  return withDirectory(way, async (place, directory, disk) => {
    await using system = createSystem({ askTimeout: 60_000 }); // What is large takes its time on a busy machine.
    return await test({ files: spawnFileSystem(system, { ...options, ...place }), directory, system, disk });
  });
}

/** All ways that a root may be opened in on this machine. */
export const rootWays: readonly RootWay[] = [
  ...everyWay,
  ...(ways.includes("proc-fd") && thisMachine().flock !== null ? ([WITHOUT_FFI] as const) : []),
];

/** Runs a test with a root over a fresh directory, which is gone afterwards; fails if it has left a file open. */
export function withRoot<Value>(
  way: RootWay,
  test: (root: Root, directory: string, disk: Disk) => Value | Promise<Value>,
): Promise<Value> {
  return withDirectory(way === WITHOUT_FFI ? "proc-fd" : way, async (place, directory, disk) => {
    const root = openRoot(place, systemClock, machineOf(way));
    try {
      return await test(root, directory, disk);
    } finally {
      root.dispose();
    }
  });
}

async function withDirectory<Value>(
  way: Way,
  test: (
    place: Pick<FileSystemOptions, "root" | "volume" | "resolution">,
    directory: string,
    disk: Disk,
  ) => Promise<Value>,
): Promise<Value> {
  if (way === "memory") {
    const volume = Volume.fromJSON({}, "/");
    const directory = "/files";
    volume.mkdirSync(directory);
    // memfs's functions take and give what node:fs's do.
    return test({ root: directory, volume }, directory, volume as unknown as Disk);
  }
  const directory = node.mkdtempSync(join(node.realpathSync(tmpdir()), "envoi-files-"));
  try {
    const done = await test({ root: directory, resolution: way }, directory, node);
    expectClosed(directory);
    return done;
  } finally {
    node.rmSync(directory, { recursive: true, force: true });
  }
}

/** Fails if this process has anything open that is, or was, below a directory. */
function expectClosed(directory: string): void {
  const open = openBelow(directory);
  if (open.length > 0) throw new Error(`The file actor has left these open: ${open.join(", ")}.`);
}

/** The paths below a directory that this process has open. */
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

/** The files that are being written in a directory: those in its staging directory, but for what stays there. */
export function stagedIn(disk: Pick<Disk, "existsSync" | "readdirSync">, directory: string): string[] {
  const staging = join(directory, ".envoi");
  if (!disk.existsSync(staging)) return [];
  // Names come as text where no encoding is asked for.
  return (disk.readdirSync(staging) as string[]).filter((name) => /\.\d+$/.test(name));
}
