import { expect, test } from "bun:test";
import fc from "fast-check";
import { partedBytes, putBytes, transfer } from "../../src/link/bytes";

/** Trees of JSON with bytes at any place. */
const trees = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.uint8Array({ maxLength: 4 }),
    fc.constantFrom(null, "", "@(i/a)", 0, true),
    fc.string(),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("", "0", "a/b", "~1", "length", "__proto__")), tie("tree"), {
      maxKeys: 4,
    }),
  ),
})).tree;

/** Marks all bytes of a tree. */
function marked(tree: unknown): unknown {
  if (tree instanceof Uint8Array) transfer(tree);
  else if (typeof tree === "object" && tree !== null) for (const each of Object.values(tree)) marked(each);
  return tree;
}

test("a payload with bytes at any places is the same over there, and stays as it is here", () => {
  fc.assert(
    fc.property(trees, (tree) => {
      const before = structuredClone(tree);
      const parted = partedBytes(marked(tree));
      expect(tree).toEqual(before);
      if (parted === undefined) return;
      if ("message" in parted) throw new Error(parted.message);
      const text = `[[16,${parted.paths}],[1,1,"any",0,0,${JSON.stringify(parted.value)}]]`;
      const frames: unknown[][] = JSON.parse(text);
      expect(putBytes(frames, parted.bytes)).toBe(true);
      expect(frames[1]?.[5]).toEqual(before);
    }),
  );
});
