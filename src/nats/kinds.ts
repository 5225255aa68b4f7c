import { type Protocol, quote } from "../index";
import type { Connection } from "./connection";
import type { Create } from "./lease";
import type { Members } from "./members";
import { shardOf } from "./shards";
import { isToken } from "./subjects";
import { versionOf } from "./versions";

/** A name over the cluster. */
export interface Kind {
  readonly name: string;
  readonly protocol: Protocol;
  readonly shards: number;
  /** Undefined on a node that only sends to it. */
  readonly create: Create<never> | undefined;
  /** True where its ids take durable messages. */
  readonly isDurable: boolean;
  /** In milliseconds. */
  readonly drainTimeout: number;
}

/** The parts of addresses below the cluster's name that are no names, and the one that no node would read in another one's entry. */
const RESERVED: ReadonlySet<string> = new Set(["node", "own", "loop", "__proto__"]);

/** @throws TypeError when it is no name over a cluster. */
export function checkName(name: string): void {
  if (isToken(name) && !RESERVED.has(name)) return;
  throw new TypeError(
    `A name over the cluster has 1 to 64 letters, digits, - and _, and is not "node", "own", "loop" or "__proto__"; got ${quote(name)}.`,
  );
}

/**
 * Other nodes may serve another version of the protocol, but no other protocol, and none of other shards: an id would have two actors.
 *
 * @throws Error when one of them does.
 */
export function checkServed(
  { name, protocol, shards }: Kind,
  { cluster, node: self }: Connection,
  members: Members,
): void {
  const own = servedAs(protocol, shards);
  const [wanted, ofShards] = own.split(" ");
  for (const { node, serves } of members.all()) {
    const theirs = serves.get(name);
    if (theirs === undefined) continue;
    const [other, ofTheirs] = theirs.split(" ");
    if (other === wanted && ofTheirs === ofShards) continue;
    throw new Error(
      `Node "${node}" of cluster "${cluster}" serves ${quote(name)} as "${theirs}", and node "${self}" would as "${own}" (protocol, shards, version): use one name for one of them.`,
    );
  }
}

/** A name as the other nodes know it: the protocol, its shards, and the fingerprint of its version. */
export const servedAs = (protocol: Protocol, shards: number): string => {
  const [name, fingerprint] = versionOf(protocol).split(" ");
  return `${name} ${shards} ${fingerprint}`;
};

export const keyOf = (kind: Kind, id: string): string => `${kind.name}.${shardOf(id, kind.shards)}`;

/** Most characters of an address, and of a node's name. */
const [LONGEST_ADDRESS, LONGEST_NODE] = [512, 64];

/**
 * An id is a part of longer addresses on other nodes, whichever node owns it.
 *
 * @throws RangeError when it is too long for those.
 */
export function checkId(name: string, id: string, { cluster }: Connection): void {
  const beside = `${cluster}/node//${cluster}/own/${name}/~99`.length + LONGEST_NODE;
  if (typeof id !== "string" || id.length <= LONGEST_ADDRESS - beside) return;
  throw new RangeError(
    `An id of ${quote(name)} has at most ${LONGEST_ADDRESS - beside} characters, so that each node has room for its address; got ${id.length}.`,
  );
}
