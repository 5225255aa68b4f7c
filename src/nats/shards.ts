/** The shards of a name, where its owner says nothing else. */
export const SHARDS = 64;

/** A number of 32 bits for a text, spread evenly (FNV-1a, with the last mix of MurmurHash3). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The shard of an id. */
export const shardOf = (id: string, shards: number): number => hashOf(id) % shards;

/**
 * The node that is to own a shard: the one with the highest hash together with it (rendezvous hashing, Thaler and Ravishankar 1998). A
 * node that joins takes a fair part of the shards, and no other shard moves.
 */
export function winnerOf(nodes: readonly string[], kind: string, shard: number): string | undefined {
  let best: string | undefined;
  let most = -1;
  for (const node of nodes) {
    const hash = hashOf(`${kind}/${shard}/${node}`);
    if (hash < most || (hash === most && best !== undefined && node > best)) continue;
    best = node;
    most = hash;
  }
  return best;
}
