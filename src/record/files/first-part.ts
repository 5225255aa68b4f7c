import { mkdirSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { freeSeries, numberedLikePart, pathOf, type Series, seriesOf } from "./names";
import { Part } from "./part";
import { wordsOf } from "./sentences";

/** Faults of a disk that do not keep the program from its start: the recording counts as stopped. */
const LACKING: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT", "EIO", "EMFILE", "ENFILE"]);

/** The beginning of a recording on disk. */
export interface First {
  readonly series: Series;
  /** Null where it could not be opened. */
  readonly part: Part | null;
  /** The fault of the disk, if there was one. */
  readonly error: Error | undefined;
}

/**
 * Opens the first part under a name that is free, in a folder that is made where it is missing, and writes its header.
 *
 * @throws Error when the path is none of a recording, or the folder or the file cannot be made, for another reason than a disk that lacks
 * room.
 */
export function openFirst(to: string, header: Uint8Array, isCompressed: boolean, openedAt: number): First {
  checkPath(to);
  const wanted = seriesOf(to);
  let series = wanted;
  let part: Part | null = null;
  try {
    mkdirSync(wanted.folder, { recursive: true, mode: 0o700 });
    for (let others: string[] = []; part === null; ) {
      series = freeSeries(wanted, [...readdirSync(wanted.folder), ...others]);
      try {
        part = Part.openSync(pathOf(series, 1, isCompressed), 1, openedAt);
      } catch (error) {
        // Another process was quicker, or a link leads nowhere.
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        others = [...others, `${series.stem}${series.extension}`];
      }
    }
    part.writeSync(header);
    return { series, part, error: undefined };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!LACKING.has(code)) throw new Error(`The recording ${to} cannot begin: ${wordsOf(error)}`, { cause: error });
    return { series, part, error: error as Error };
  }
}

/** Throws for a path at which there is no recording to be made, and says which one to write. */
function checkPath(to: string): void {
  const better = numberedLikePart(to);
  if (better !== undefined) {
    throw new TypeError(`The recording ${to} has the name of a later part of another one: write ${better}.`);
  }
  const found = statsOf(to);
  if (found?.isDirectory() === true || to.endsWith("/")) {
    throw new TypeError(`The recording ${to} is a folder: write the file in it, such as ${join(to, "run.ndjson")}.`);
  }
  if (found !== undefined && !found.isFile()) {
    throw new TypeError(
      `The recording ${to} is a pipe or a device, and no file; to record nothing, write mode: "off".`,
    );
  }
}

/** Undefined where nothing is, or nobody may look: to open it tells why. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
