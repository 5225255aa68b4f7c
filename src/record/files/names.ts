import { basename, dirname, extname, join } from "node:path";

const COMPRESSED = ".zst";

/** The names of the parts of one recording: `folder/stem.ndjson`, `folder/stem.2.ndjson` and so on. */
export interface Series {
  readonly folder: string;
  readonly stem: string;
  /** With its dot; empty for a name without one. */
  readonly extension: string;
}

/** The series whose first part has a path. */
export function seriesOf(path: string): Series {
  const name = plainName(path);
  const extension = extname(name);
  return { folder: dirname(path), stem: name.slice(0, name.length - extension.length), extension };
}

/** The path of a part. */
export function pathOf({ folder, stem, extension }: Series, part: number, isCompressed: boolean): string {
  const number = part === 1 ? "" : `.${part}`;
  const path = join(folder, `${stem}${number}${extension}`);
  return isCompressed ? compressed(path) : path;
}

/** The path of a file that is compressed. */
export const compressed = (path: string): string => `${path}${COMPRESSED}`;

export const isCompressed = (path: string): boolean => path.endsWith(COMPRESSED);

/** The stem that the parts of a name share: `run` for `run.ndjson`, `run.2.ndjson` and `run.3.ndjson.zst`. */
export const sharedStem = (path: string): string => seriesOf(path).stem.replace(/\.\d{1,9}$/, "");

/** The path to write in place of one that has the name of a later part (`run.2.ndjson`); undefined for any other one. */
export function numberedLikePart(path: string): string | undefined {
  const { folder, stem, extension } = seriesOf(path);
  const name = `${stem}${extension}`;
  const better = name.replace(/\.(\d{1,9})(\.[^.]*)?$/, "-$1$2");
  return better === name ? undefined : join(folder, better);
}

/** The first series of the form `run`, `run-2`, `run-3`, … of which no part is among the names of a folder. */
export function freeSeries(wanted: Series, names: readonly string[]): Series {
  const taken = new Set(names.flatMap((name) => stemsOf(name, wanted.extension)));
  for (let number = 1; ; number++) {
    const stem = number === 1 ? wanted.stem : `${wanted.stem}-${number}`;
    if (!taken.has(stem)) return { ...wanted, stem };
  }
}

/** The stems of the series that a file may be a part of: none for a file with another extension. */
function stemsOf(name: string, extension: string): string[] {
  const { stem, extension: own } = seriesOf(name);
  if (own === extension) return [stem, sharedStem(name)];
  return extension === "" && /^\.\d{1,9}$/.test(own) ? [stem] : []; // `run.2` is a part of `run`.
}

/** The number of the oldest part that is kept once a part begins. */
export const oldestKept = (part: number, keep: number): number => Math.max(1, part - keep + 1);

const plainName = (path: string): string => basename(path, COMPRESSED);
