import { expect, test } from "bun:test";
import fc from "fast-check";
import { SHARDS, shardOf, winnerOf } from "../../src/nats/shards";

const NODES = fc.uniqueArray(fc.stringMatching(/^[a-z0-9-]{1,12}$/), { minLength: 1, maxLength: 12 });

test("a node that joins takes shards from others, and no other shard moves", () => {
  fc.assert(
    fc.property(NODES, fc.stringMatching(/^new-[a-z]{1,5}_$/), (nodes, joining) => {
      for (let shard = 0; shard < SHARDS; shard++) {
        const [before, after] = [winnerOf(nodes, "cart", shard), winnerOf([...nodes, joining], "cart", shard)];
        if (after !== before) expect(after).toBe(joining);
      }
    }),
  );
});

test("the order in which nodes are known decides nothing", () => {
  fc.assert(
    fc.property(NODES, fc.nat(SHARDS), (nodes, shard) => {
      expect(winnerOf([...nodes].reverse(), "cart", shard)).toBe(winnerOf(nodes, "cart", shard));
    }),
  );
});

test("ids spread over the shards, and shards over the nodes", () => {
  const counts = new Array<number>(SHARDS).fill(0);
  for (let id = 0; id < 64_000; id++)
    counts[shardOf(`cart-${id}`, SHARDS)] = (counts[shardOf(`cart-${id}`, SHARDS)] ?? 0) + 1;
  expect(Math.min(...counts)).toBeGreaterThan(700);
  expect(Math.max(...counts)).toBeLessThan(1_300);
  const owners = counts.map((_, shard) => winnerOf(["node-1", "node-2", "node-3", "node-4"], "cart", shard));
  for (const node of ["node-1", "node-2", "node-3", "node-4"]) {
    expect(owners.filter((owner) => owner === node).length).toBeGreaterThan(5);
  }
});
