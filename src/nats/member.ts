import type { KvEntry } from "@nats-io/kv";
import { readObject } from "./entries";
import { formatOf } from "./format";
import { isToken } from "./subjects";

/** A node as the others know it. */
export interface Member {
  readonly node: string;
  /** Another one whenever the node is started anew, or loses its lease. */
  readonly incarnation: string;
  /** The names over the cluster that it serves, each with its protocol, the number of its shards, and the version. */
  readonly serves: ReadonlyMap<string, string>;
}

/** Reads the entry of a node; undefined for one that no node wrote. */
export function readMember(entry: KvEntry): Member | undefined {
  const { incarnation, serves } = readObject(entry) ?? {};
  if (!isToken(entry.key) || typeof incarnation !== "string" || formatOf(incarnation) === undefined) return undefined;
  if (typeof serves !== "object" || serves === null) return undefined;
  const names = Object.entries(serves);
  if (!names.every((each): each is [string, string] => typeof each[1] === "string")) return undefined;
  return { node: entry.key, incarnation, serves: new Map(names) };
}
