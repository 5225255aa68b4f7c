import type { ActorOptions } from "../../index";
import { faultOf, shorten } from "./glob";
import type { Volume } from "./root/volume";
import { type FileQuota, SharedQuota } from "./write/shared-quota";

/** Options of a file actor. Only `root` is required. */
export interface FileSystemOptions extends Pick<ActorOptions, "supervision" | "phase" | "capacity" | "overflow"> {
  /** The directory to serve. It must exist. A link is resolved once, at the start. */
  readonly root: string;
  /**
   * An in-memory file system that contains `root`, for tests: memfs's `Volume.fromJSON({ … })`. Long work, such as a
   * write of more than 192 KB, pauses on the system's clock, and so does every `change`. Under a manual clock,
   * `settle()` makes it go on. Default: the machine's.
   */
  readonly volume?: Volume;
  /** The actor's name. Default: `"files"`. */
  readonly name?: string;
  /** True refuses every change. Default: false. */
  readonly readOnly?: boolean;
  /** Largest file, or part of a file, read at once, in bytes. `readStream` has no bound. Default: 10 MB. */
  readonly maxReadBytes?: number;
  /** Most bytes of one write request, or of all pieces of one upload. Default: 10 MB. */
  readonly maxWriteBytes?: number;
  /**
   * Most bytes of all files below the root. They are counted at first need, and when the bound is reached. Default: no
   * bound.
   */
  readonly quotaBytes?: number;
  /** Most files and directories below the root. They are counted as bytes are. Default: no bound. */
  readonly quotaFiles?: number;
  /**
   * A quota shared with other actors of this process, in addition to this actor's bounds: see `createQuota`. Default:
   * none.
   */
  readonly quota?: FileQuota;
  /** Most entries in one page of a list, and most that a copy or a search visits. Default: 10,000. */
  readonly maxEntries?: number;
  /** Globs of the files to serve, such as `src/**`. Directories are shown and made regardless. Default: all. */
  readonly allow?: readonly string[];
  /**
   * Globs of paths that are neither served nor shown, such as `**\/.env`, in any case and Unicode form. A matching
   * directory is closed with everything below it. Default: none.
   */
  readonly deny?: readonly string[];
  /** True also serves files with several names (hard links). Another name may be outside the root. Default: false. */
  readonly hardLinks?: boolean;
  /** Most long requests at once. As many streams and as many watches run beside them. Default: 64. */
  readonly concurrency?: number;
  /** The way in which paths are resolved. A way that this machine lacks throws. Default: the strongest available. */
  readonly resolution?: "openat2" | "proc-fd";
}

/** The limits, with all defaults filled in. */
export interface Limits {
  readonly readOnly: boolean;
  readonly maxReadBytes: number;
  readonly maxWriteBytes: number;
  readonly quotaBytes: number | undefined;
  readonly quotaFiles: number | undefined;
  readonly quota: SharedQuota | undefined;
  readonly maxEntries: number;
  readonly hardLinks: boolean;
  readonly concurrency: number;
}

const MB = 1024 * 1024;
const COUNTS = ["maxReadBytes", "maxWriteBytes", "quotaBytes", "quotaFiles", "maxEntries", "concurrency"] as const;
const FLAGS = ["readOnly", "hardLinks"] as const;
const NAMES: ReadonlySet<string> = new Set<keyof FileSystemOptions>([
  ...COUNTS,
  ...FLAGS,
  "quota",
  "root",
  "volume",
  "name",
  "allow",
  "deny",
  "resolution",
  "supervision",
  "phase",
  "capacity",
  "overflow",
]);

/** Refuses invalid options with advice, and fills in the defaults. */
export function limitsOf(options: FileSystemOptions): Limits {
  if (typeof options !== "object" || options === null) {
    throw new TypeError('The options of a file actor are an object, such as { root: "workspace" }.');
  }
  for (const key of Object.keys(options)) {
    if (!NAMES.has(key)) {
      throw new TypeError(`There is no option "${key}" of a file actor; write one of ${[...NAMES].join(", ")}.`);
    }
  }
  if (typeof options.root !== "string" || options.root === "") {
    throw new TypeError(`The root of a file actor is a directory, such as "workspace"; got ${shorten(options.root)}.`);
  }
  for (const key of COUNTS) {
    const value = options[key];
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new RangeError(`The ${key} of a file actor is a whole number from 1; got ${shorten(value)}.`);
  }
  for (const key of FLAGS) {
    const value = options[key];
    if (value !== undefined && typeof value !== "boolean") {
      throw new TypeError(`${key} is true or false; got ${shorten(value)}.`);
    }
  }
  for (const key of ["allow", "deny"] as const) checkGlobs(key, options[key]);
  const { resolution, quota } = options;
  if (quota !== undefined && !(quota instanceof SharedQuota)) {
    throw new TypeError(`The quota of a file actor is one of createQuota({ bytes, files }); got ${shorten(quota)}.`);
  }
  if (resolution !== undefined && resolution !== "openat2" && resolution !== "proc-fd") {
    throw new TypeError(`The resolution of a file actor is "openat2" or "proc-fd"; got ${shorten(resolution)}.`);
  }
  return {
    readOnly: options.readOnly ?? false,
    maxReadBytes: options.maxReadBytes ?? 10 * MB,
    maxWriteBytes: options.maxWriteBytes ?? 10 * MB,
    quotaBytes: options.quotaBytes,
    quotaFiles: options.quotaFiles,
    quota,
    maxEntries: options.maxEntries ?? 10_000,
    hardLinks: options.hardLinks ?? false,
    concurrency: options.concurrency ?? 64,
  };
}

function checkGlobs(key: "allow" | "deny", globs: unknown): void {
  if (globs === undefined) return;
  if (!Array.isArray(globs)) {
    throw new TypeError(`${key} is an array of globs, such as ["**/.env"]; got ${shorten(globs)}.`);
  }
  for (const glob of globs as unknown[]) {
    const fault = faultOf(glob);
    if (fault !== null) throw new TypeError(`A glob of ${key} ${fault}; got ${shorten(glob)}.`);
    if (!String(glob).startsWith("!")) continue;
    throw new TypeError(
      `A glob of ${key} begins with no "!": what is closed goes to deny, and what is served to allow; got ${shorten(glob)}.`,
    );
  }
}
