import type { KvEntry } from "@nats-io/kv";
import { readJson } from "../index";
import type { Connection } from "./connection";

/** Deepest nesting of an entry that nodes write. */
const MAX_DEPTH = 8;

/** Reads an entry of a bucket as an object; undefined for any other text. Whoever may write to the bucket may write anything. */
export function readObject(entry: KvEntry): Readonly<Record<string, unknown>> | undefined {
  const read = readJson(entry.string(), { depth: MAX_DEPTH });
  if (read.isErr() || typeof read.value !== "object" || read.value === null) return undefined;
  return read.value as Readonly<Record<string, unknown>>; // Any object has such properties, or not.
}

/** Says in the log and by an event that an entry is passed over. */
export function tellStrange(connection: Connection, { bucket, key }: KvEntry): void {
  const text = `the bucket ${bucket} has an entry ${JSON.stringify(key)} that no node of this version wrote: it is passed over; delete it.`;
  connection.system.log.warn(`Cluster "${connection.cluster}": ${text}`);
  connection.tell("error", { text });
}
