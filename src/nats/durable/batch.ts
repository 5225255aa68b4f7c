import { type JsonFault, type Metadata, readJson } from "../../index";

/** One durable message as it travels. Short names, because each message has them. */
export interface Entry {
  /** The operation. */
  readonly o: string;
  /** The id of its actor, where the ids of a lane share the batch. */
  readonly i?: string;
  /** The payload; left out where there is none. */
  readonly p?: unknown;
  /** The metadata of its sender. */
  readonly m?: Metadata;
}

/** Messages that are stored as one. */
export interface Batch {
  /** The version of this format. */
  readonly v: 1;
  /** The node that sent them. */
  readonly n: string;
  /** The version of the protocol by which they were sent (`versionOf`). Nodes of earlier versions of envoi leave it out, and do not look at it. */
  readonly s?: string | undefined;
  readonly e: readonly Entry[];
}

/** Writes a batch of entries that are JSON already. */
export const writeBatch = (node: string, version: string, entries: readonly string[]): string =>
  `{"v":1,"n":${JSON.stringify(node)},"s":${JSON.stringify(version)},"e":[${entries.join(",")}]}`;

/** The bytes that a batch has beside its entries, at least as they are counted. */
const LEAST_OVERHEAD = 128;

/** The most bytes that a batch has beside its entries. */
export const batchOverhead = (node: string, version: string): number =>
  Math.max(LEAST_OVERHEAD, Buffer.byteLength(writeBatch(node, version, [])));

/** A longer version of a protocol is not looked at: nobody who means well has one, and each message is given it. */
const LONGEST_VERSION = 300;

/** Deepest nesting of a batch: a sender writes entries of up to 512 levels, and a batch puts three around a payload. */
export const DEEPEST = 512 + 3;

const FAULTS: { readonly [Fault in JsonFault]: string } = {
  "no-json": "it is no JSON",
  "too-deep": `it is nested more than ${DEEPEST} levels deep`,
  "own-prototype": "it has a key __proto__",
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEntry = (value: unknown): value is Entry =>
  isObject(value) &&
  typeof value["o"] === "string" &&
  (value["i"] === undefined || typeof value["i"] === "string") &&
  (value["m"] === undefined || isObject(value["m"]));

/**
 * Reads a batch.
 *
 * @throws Error that says what is wrong: it was written by another program, or by a later version.
 */
export function readBatch(bytes: Uint8Array): Batch {
  const read = readJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), { depth: DEEPEST });
  if (read.isErr()) throw new Error(FAULTS[read.error]);
  const { value } = read;
  if (!isObject(value)) throw new Error("it is no object");
  const { v, n, s, e } = value;
  if (v !== 1) throw new Error(`it has version ${String(v)} of the format, and this node reads version 1`);
  if (typeof n !== "string" || !Array.isArray(e) || !e.every(isEntry)) throw new Error("it is no list of messages");
  return { v, n, s: typeof s === "string" && s.length <= LONGEST_VERSION ? s : undefined, e };
}
