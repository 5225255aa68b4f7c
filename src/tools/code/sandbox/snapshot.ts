import { writeFileSync } from "node:fs";
import { Image } from "./image";
import type { Layout, Place } from "./quickjs";

/** Functions of the prelude. */
export interface Parts {
  readonly begin: Place;
  readonly serialize: Place;
  readonly describe: Place;
  readonly answer: Place;
  readonly fire: Place;
  readonly rethrow: Place;
}

/**
 * An interpreter that has started and run nothing yet. A start takes 20 ms, because all its code is compiled. The package
 * has the result in a file, which takes 1 ms to read.
 */
export interface Snapshot {
  readonly layout: Layout;
  readonly parts: Parts;
  readonly image: Image;
}

/** The first line of the file, before the bytes. */
interface Head extends Omit<Snapshot, "image"> {
  /** A hash of the interpreter's code. The places mean nothing to another version. */
  readonly fingerprint: string;
  readonly pieces: readonly (readonly [at: number, length: number])[];
}

/** Reads a snapshot; undefined if there is none, or if it is of another interpreter. */
export function readSnapshot(bytes: Buffer | undefined, fingerprint: string): Snapshot | undefined {
  if (bytes === undefined) return undefined; // The sources have none.
  const end = bytes.indexOf(10);
  const head = JSON.parse(bytes.toString("utf8", 0, end)) as Head; // Written by `writeSnapshot`.
  if (head.fingerprint !== fingerprint) return undefined;
  let from = end + 1;
  const pieces = head.pieces.map(([at, length]) => {
    const piece = { at, bytes: bytes.subarray(from, from + length) };
    from += length;
    return piece;
  });
  if (from !== bytes.length) return undefined;
  return { layout: head.layout, parts: head.parts, image: new Image(pieces) };
}

export function writeSnapshot(file: string, fingerprint: string, { layout, parts, image }: Snapshot): void {
  const head: Head = { fingerprint, layout, parts, pieces: image.pieces.map(({ at, bytes }) => [at, bytes.length]) };
  const line = Buffer.from(`${JSON.stringify(head)}\n`);
  writeFileSync(file, Buffer.concat([line, ...image.pieces.map(({ bytes }) => bytes)]));
}
