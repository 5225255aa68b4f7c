import { openSync, statSync } from "node:fs";
import type { Clock } from "../../../index";
import type { FileSystemOptions } from "../options";
import { type FileLock, lockByCall, lockByProgram } from "./file-lock";
import { openKernelRoot } from "./kernel-root";
import { type Libc, openLibc } from "./libc";
import { openMemoryRoot } from "./memory-root";
import { openProcRoot } from "./proc-root";
import type { Root } from "./root";
import { CALLS, type Volume } from "./volume";

/** The means of a machine to reach a root. */
export interface Machine {
  readonly platform: string;
  /** Undefined if the C library cannot be called. */
  readonly libc: Libc | undefined;
  /** The path of the program `flock`, or null if there is none. */
  readonly flock: string | null;
}

let ours: Machine | undefined;

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  const { platform } = process;
  ours ??= { platform, libc: platform === "linux" ? openLibc() : undefined, flock: Bun.which("flock") };
  return ours;
}

/**
 * Opens the root of a file actor: in the volume of the options, or else in the strongest way that the machine has.
 *
 * @throws Error if the machine has no way, or not the one of the options, or if the root is no directory; TypeError for
 * an invalid volume.
 */
export function openRoot(
  { root: directory, volume, resolution }: Pick<FileSystemOptions, "root" | "volume" | "resolution">,
  clock: Clock,
  machine: Machine = thisMachine(),
): Root {
  if (volume !== undefined) expectInMemory(volume);
  expectDirectory(directory, volume);
  if (volume !== undefined) return openMemoryRoot(volume, directory, clock);
  const reasons: string[] = [];
  for (const [name, open] of waysOf(machine)) {
    if (resolution !== undefined && resolution !== name) continue;
    const opened = open(directory);
    if (!("reason" in opened)) return opened;
    reasons.push(`${name}: ${opened.reason}`);
  }
  const advice =
    machine.platform === "linux"
      ? "Mount /proc, allow openat2 in the container, or leave out the resolution"
      : "Use a Linux machine or container, or a volume in memory for tests";
  throw new Error(`There is no safe way to serve files here (${reasons.join("; ")}). ${advice}.`);
}

type Way = readonly [name: "openat2" | "proc-fd", open: (directory: string) => Root | { readonly reason: string }];

/** The ways to reach a root, the strongest first. */
function waysOf({ platform, libc, flock }: Machine): readonly Way[] {
  if (platform !== "linux") {
    const open = (): { readonly reason: string } => ({ reason: `it needs Linux, and this is ${platform}` });
    return [
      ["openat2", open],
      ["proc-fd", open],
    ];
  }
  return [
    ["openat2", (directory) => openKernelRoot(directory, libc)],
    ["proc-fd", (directory) => openProcRoot(directory, lockOf(libc, flock), libc)],
  ];
}

function lockOf(libc: Libc | undefined, flock: string | null): FileLock | undefined {
  if (libc !== undefined) return lockByCall(libc);
  return flock === null ? undefined : lockByProgram(flock);
}

function expectInMemory(volume: Volume): void {
  // This root checks a name before opening it, which is no defence against other processes.
  if (volume?.openSync === openSync) {
    throw new TypeError("A volume is a file system in memory, such as memfs's; leave it out to serve the machine's.");
  }
  for (const call of CALLS) {
    if (typeof volume?.[call] === "function") continue;
    throw new TypeError(
      `A volume has the calls of node:fs, such as Volume.fromJSON({ … }) of memfs; ${call} is missing.`,
    );
  }
}

function expectDirectory(directory: string, volume: Volume | undefined): void {
  const shown = JSON.stringify(directory);
  let isDirectory: boolean;
  try {
    isDirectory =
      volume === undefined
        ? statSync(directory).isDirectory()
        : volume.lstatSync(String(volume.realpathSync(directory))).isDirectory();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The root ${shown} of a file actor cannot be opened; make the directory first. (${message})`, {
      cause,
    });
  }
  if (!isDirectory) throw new Error(`The root ${shown} of a file actor is no directory; name one.`);
}
