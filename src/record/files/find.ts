import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { HeaderLine } from "../format";
import { RecordingError } from "./faults";
import { seriesOf, sharedStem } from "./names";
import { readHeader } from "./read-part";

/** A file of a recording. */
export interface RecordingPart {
  readonly path: string;
  readonly header: HeaderLine;
}

/** The files of one recording, in order. */
export interface RecordingParts {
  readonly parts: readonly [RecordingPart, ...RecordingPart[]];
  /** Files that a crash has left without a whole header, behind the last part. */
  readonly torn: readonly string[];
  /** Files beside them that are none by what they hold, and are its parts by their names. */
  readonly refused: readonly Refused[];
}

/** A file that is no recording, and the reason. */
export interface Refused {
  readonly path: string;
  readonly error: RecordingError;
}

/** The recordings that were looked for, and the files among them that are none. */
export interface Found {
  readonly recordings: readonly RecordingParts[];
  readonly refused: readonly Refused[];
}

/**
 * Finds recordings: of a folder, of a glob such as `recordings/*.ndjson`, or of a file, with all parts that lie beside it.
 *
 * @throws RecordingError when there is nothing at that place.
 */
export async function findRecordings(where: string): Promise<Found> {
  const kind = await kindOf(where);
  if (kind === "file") return grouped(await withSiblings(where));
  if (kind === "folder") return grouped((await readdir(where)).filter(isNamed).map((name) => join(where, name)));
  const matched = await Array.fromAsync(new Bun.Glob(where).scan({ dot: true }));
  const paths = matched.length > 0 ? matched : await partsTo(where);
  if (paths.length === 0) throw new RecordingError(`There is no file ${where}.`);
  return grouped(paths);
}

/** The parts of the recording that a path leads to: of a part of it, or of a glob that matches no other recording. */
export async function partsOf(where: string): Promise<RecordingParts | undefined> {
  const { recordings, refused } = await findRecordings(where);
  const [first, ...others] = recordings;
  if (first === undefined && refused[0] !== undefined) throw refused[0].error;
  if ((await kindOf(where)) === "file") {
    const isRefused = refused.find(({ path }) => path === where);
    if (isRefused !== undefined) throw isRefused.error;
    return recordings.find(({ parts, torn }) => torn.includes(where) || parts.some(({ path }) => path === where));
  }
  if (others.length > 0) {
    const names = recordings.slice(0, 3).map(({ parts }) => parts[0].path);
    throw new RecordingError(`${where} leads to ${recordings.length} recordings (${names.join(", ")}, …): name one.`);
  }
  return first;
}

/** The reason why a file is no recording. Errors of the operating system have a code. */
function refusalOf(path: string, error: unknown): RecordingError {
  if (error instanceof RecordingError) return error;
  if (!(error instanceof Error && "code" in error)) throw error;
  return new RecordingError(`${path} cannot be read: ${error.message}.`, { cause: error });
}

const isNamed = (name: string): boolean => /\.ndjson(?:\.zst)?$/.test(name);

async function kindOf(path: string): Promise<"file" | "folder" | "none"> {
  try {
    const found = await stat(path);
    return found.isDirectory() ? "folder" : "file";
  } catch {
    return "none";
  }
}

/** A file, and those beside it that may be other parts of its recording, by their names. */
async function withSiblings(path: string): Promise<string[]> {
  const folder = dirname(path);
  const { extension } = seriesOf(path);
  const stems = new Set([seriesOf(path).stem, sharedStem(path)]);
  const isSibling = (name: string): boolean =>
    seriesOf(name).extension === extension && (stems.has(sharedStem(name)) || stems.has(seriesOf(name).stem));
  const others = (await readdir(folder)).filter((name) => name !== basename(path) && isSibling(name));
  return [path, ...others.map((name) => join(folder, name))];
}

/** The files that a recording with this `to` has made, where the first part was deleted or is compressed. */
async function partsTo(to: string): Promise<string[]> {
  const folder = dirname(to);
  if ((await kindOf(folder)) !== "folder") return [];
  const { stem, extension } = seriesOf(to);
  const isPart = (name: string): boolean =>
    seriesOf(name).extension === extension && (seriesOf(name).stem === stem || sharedStem(name) === stem);
  return (await readdir(folder)).filter(isPart).map((name) => join(folder, name));
}

async function grouped(paths: readonly string[]): Promise<Found> {
  const byId = new Map<string, RecordingPart[]>();
  const refused: Refused[] = [];
  const torn: string[] = [];
  for (const path of paths.toSorted()) {
    try {
      const header = await readHeader(path);
      if (header === undefined) torn.push(path);
      else byId.set(header.recording, [...(byId.get(header.recording) ?? []), { path, header }]);
    } catch (error) {
      refused.push({ path, error: refusalOf(path, error) });
    }
  }
  const recordings = [...byId.values()].map((found): RecordingParts => {
    const parts = found.toSorted((a, b) => a.header.part - b.header.part) as [RecordingPart, ...RecordingPart[]]; // As many.
    const stem = join(dirname(parts[0].path), sharedStem(parts[0].path));
    const isBeside = (path: string): boolean => join(dirname(path), sharedStem(path)) === stem;
    return { parts, torn: torn.filter(isBeside), refused: refused.filter(({ path }) => isBeside(path)) };
  });
  const known = new Set(recordings.flatMap((each) => each.torn));
  for (const path of torn) {
    if (!known.has(path))
      refused.push({ path, error: new RecordingError(`${path} ends within its header: it holds nothing.`) });
  }
  return { recordings, refused };
}
