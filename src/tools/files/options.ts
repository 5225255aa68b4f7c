import type { ActorOptions } from "../../index";
import { faultOf, shorten } from "./glob";
import type { Volume } from "./root/volume";
import { type FileQuota, SharedQuota } from "./write/shared-quota";

/** How a file actor is made. All but `root` may be left out. */
export interface FileSystemOptions extends Pick<ActorOptions, "supervision" | "phase" | "capacity" | "overflow"> {
  /** The directory that is served, which must exist. A link to one is resolved once, at the start. */
  readonly root: string;
  /**
   * An in-memory file system to serve `root` of, for tests: memfs's `Volume.fromJSON({ … })`. What takes long, such as
   * a write of more than 192 KB, and `change` always, pauses on the system's clock: under a manual one, it goes on with `settle()`.
   * Default: the machine's.
   */
  readonly volume?: Volume;
  /** The actor's name. Default: `"files"`. */
  readonly name?: string;
  /** Whether every change is refused. Default: false. */
  readonly readOnly?: boolean;
  /** Largest file, or part of one, that is read at once; `readStream` has no bound. In bytes. Default: 10 MB. */
  readonly maxReadBytes?: number;
  /** Most bytes that one request writes, or one upload with all its pieces. Default: 10 MB. */
  readonly maxWriteBytes?: number;
  /** How many bytes all files below the root may have; counted when first needed, and where it is reached. Default: no bound. */
  readonly quotaBytes?: number;
  /** How many files and directories there may be below the root; counted as bytes are. Default: no bound. */
  readonly quotaFiles?: number;
  /** A quota that this actor shares with others of its process, beside its own bounds: see `createQuota`. Default: none. */
  readonly quota?: FileQuota;
  /** Most entries in one page of a list, and most that a copy or a search goes through. Default: 10,000. */
  readonly maxEntries?: number;
  /** Globs of the files that are served, such as `src/**`; directories are seen and made all the same. Default: all. */
  readonly allow?: readonly string[];
  /** Globs of what is not served or shown, such as `**\/.env`; a directory that matches is closed with all below it, in whatever case and Unicode form. Default: none. */
  readonly deny?: readonly string[];
  /** Whether files with more than one name are served: another name may be outside of the root. Default: false. */
  readonly hardLinks?: boolean;
  /** How many requests that take long run at once; as many streams, and as many watches, beside them. Default: 64. */
  readonly concurrency?: number;
  /** How paths are resolved; one that this machine does not have throws. Default: the strongest that it has. */
  readonly resolution?: "openat2" | "proc-fd";
}

/** The limits, none of them left out. */
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

/** Refuses options that cannot be ones, says what to write, and fills in the defaults. */
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
