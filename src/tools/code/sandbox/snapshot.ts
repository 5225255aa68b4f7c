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
 * An interpreter that has started, and run nothing yet. To come to it takes 20 ms, since all that it consists of is compiled
 * meanwhile; the package has it in a file, which takes 1 ms to read.
 */
export interface Snapshot {
  readonly layout: Layout;
  readonly parts: Parts;
  readonly image: Image;
}

/** Stands before the bytes, in a line of its own. */
interface Head extends Omit<Snapshot, "image"> {
  /** Of the interpreter's code: the places in a memory mean nothing to another version of it. */
  readonly fingerprint: string;
  readonly pieces: readonly (readonly [at: number, length: number])[];
}

/** The one that was written, if there is one and it is of this interpreter. */
export function readSnapshot(bytes: Buffer | undefined, fingerprint: string): Snapshot | undefined {
  if (bytes === undefined) return undefined; // Among the sources there is none.
  const end = bytes.indexOf(10);
  const head = JSON.parse(bytes.toString("utf8", 0, end)) as Head; // Written below, and part of the package.
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
