import { expect, test } from "bun:test";
import fc from "fast-check";
import { Lines } from "../../src/rpc/channels/lines";

type Read = ReturnType<Lines["read"]>;

/** Reads bytes in pieces, and the end. */
function readAll(pieces: readonly Uint8Array[], maxBytes = 1_000): Read {
  const lines = new Lines(maxBytes);
  const items = pieces.flatMap((piece) => lines.read(piece));
  const last = lines.end();
  return last === undefined ? items : [...items, last];
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

const TOO_LONG = { refused: "too-long", head: expect.any(String) };
const NOT_TEXT = { refused: "not-text" };

test("lines are the same wherever their bytes are cut, also within a character", () => {
  const line = fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => text.replaceAll(/[\r\n\ufeff]/g, "…"));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 30 }), (texts, places) => {
      const bytes = bytesOf(texts.map((text) => `${text}\n`).join(""));
      expect(readAll(cutAt(bytes, places))).toEqual(texts.filter((text) => text !== ""));
    }),
  );
});

test("a line that is too long, or that is no UTF-8, is left out alone, wherever its bytes are cut", () => {
  const good = fc.constantFrom('{"a":1}', "é", "x".repeat(50));
  const bad = fc.constantFrom<[Uint8Array, unknown]>(
    [bytesOf("x".repeat(51)), TOO_LONG],
    [bytesOf("é".repeat(26)), TOO_LONG],
    [bytesOf("y".repeat(10_000)), TOO_LONG],
    [new Uint8Array([0xff]), NOT_TEXT],
    [new Uint8Array([0x22, 0xc3, 0x22]), NOT_TEXT],
    [new Uint8Array([0xed, 0xa0, 0x80]), NOT_TEXT], // A surrogate.
    [new Uint8Array([0xf4, 0x90, 0x80, 0x80]), NOT_TEXT],
  );
  const lines = fc.array(
    fc.oneof(
      good.map((text): [Uint8Array, unknown] => [bytesOf(text), text]),
      bad,
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(lines, fc.array(fc.nat(), { maxLength: 60 }), fc.boolean(), (all, places, isEnded) => {
      const bytes = Buffer.concat(all.flatMap(([line]) => [line, bytesOf("\n")]));
      const given = isEnded || bytes.length === 0 ? bytes : bytes.subarray(0, -1);
      expect(readAll(cutAt(given, places), 50) as unknown[]).toEqual(all.map(([, item]) => item));
    }),
  );
});

test("empty lines are passed over, a return before the end stays as white space, and one mark at the beginning is cut off", () => {
  expect(readAll([bytesOf("\ufeff{}\r\n\n\r\n[]\n\ufeff{}\n1")])).toEqual(["{}\r", "[]", "\ufeff{}", "1"]);
  expect(readAll([new Uint8Array([0xef]), new Uint8Array([0xbb]), new Uint8Array([0xbf, 0x31, 10])])).toEqual(["1"]);
  expect(readAll([bytesOf("\ufeff\n1\n")])).toEqual(["1"]);
  expect(readAll([bytesOf("a\u2028b\u0085c\n")])).toEqual(["a\u2028b\u0085c"]);
  expect(readAll([])).toEqual([]);
  expect(readAll([bytesOf("\n\n")])).toEqual([]);
});

test("P18: a line without an end takes no memory beyond its limit, and what comes byte by byte is not copied each time", () => {
  const maxBytes = 1_000_000;
  const lines = new Lines(maxBytes);
  const block = new Uint8Array(100_000).fill(97);
  const heap = process.memoryUsage().arrayBuffers;
  const items: Read = [];
  for (let sent = 0; sent < 100_000_000; sent += block.length) items.push(...lines.read(block));
  expect(items as unknown[]).toEqual([TOO_LONG]);
  Bun.gc(true);
  expect(process.memoryUsage().arrayBuffers - heap).toBeLessThan(4 * maxBytes);
  expect(lines.read(bytesOf("rest\nnext\n"))).toEqual(["next"]);
  const one = new Uint8Array([98]);
  for (let sent = 0; sent < maxBytes; sent++) lines.read(one);
  const [text] = lines.read(bytesOf("\n"));
  expect((text as string).length).toBe(maxBytes);
});
