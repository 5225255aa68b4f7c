import { expect, test } from "bun:test";
import fc from "fast-check";
import { EventParser, type ServerEvent } from "../../../src/http/client/event-parser";
import { runs } from "../../property/runs";

const encoder = new TextEncoder();

/** The events of a body whose bytes come in pieces. */
function parse(pieces: readonly Uint8Array[]): { readonly events: ServerEvent[]; readonly retry: number | null } {
  const decoder = new TextDecoder();
  const parser = new EventParser();
  const events = pieces.flatMap((piece) => parser.push(decoder.decode(piece, { stream: true })));
  return { events, retry: parser.retry };
}
const whole = (text: string) => parse([encoder.encode(text)]);
const message = (data: string, id = "", event = "message"): ServerEvent => ({ event, data, id });

const CASES: Readonly<Record<string, readonly [text: string, ...events: ServerEvent[]]>> = {
  "a line of data": ["data: a\n\n", message("a")],
  "one space after the colon is dropped, a second one is not": ["data:  a\ndata:b\n\n", message(" a\nb")],
  "lines that end with CR": ["data: a\r\rdata: b\r\r", message("a"), message("b")],
  "lines that end with CRLF": ["data: a\r\n\r\ndata: b\r\n\r\n", message("a"), message("b")],
  "line ends of all kinds": ["data: a\rdata: b\r\ndata: c\n\r", message("a\nb\nc")],
  "a BOM at the start": ["\uFEFFdata: a\n\n", message("a")],
  "a BOM elsewhere belongs to the name of a field": ["data: a\n\n\uFEFFdata: b\n\n", message("a")],
  "empty data": ["data\n\ndata:\n\ndata\ndata\n\n", message(""), message(""), message("\n")],
  comments: [": a\n:\ndata: b\n: c\n\n", message("b")],
  "a name": ["event: end\ndata: {}\n\n", message("{}", "", "end")],
  "a name holds for one event": ["event: a\ndata: 1\n\ndata: 2\n\n", message("1", "", "a"), message("2")],
  "a name without data is no event": ["event: a\n\ndata: 1\n\n", message("1")],
  "an id holds until the next one": [
    "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
    message("a", "1"),
    message("b", "1"),
    message("c"),
  ],
  "an id with a NUL is passed over": ["id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n", message("a", "1"), message("b", "1")],
  "unknown fields": ["fnord: a\ndata: b\ndatum: c\n\n", message("b")],
  "colons in a value": ['data: {"a":1}\n\n', message('{"a":1}')],
  "an event that is not complete": ["data: a\n\nid: 2\ndata: b\n", message("a")],
  "other ends of lines are none": ["data: a\u2028b\u0085c\vd\n\n", message("a\u2028b\u0085c\vd")],
};

for (const [name, [text, ...events]] of Object.entries(CASES)) {
  test(`server-sent events: ${name}, however the bytes are cut in two`, () => {
    const bytes = encoder.encode(text);
    expect(parse([bytes]).events).toEqual(events);
    for (let at = 0; at <= bytes.length; at++) {
      expect({ at, events: parse([bytes.subarray(0, at), bytes.subarray(at)]).events }).toEqual({ at, events });
    }
    expect(parse([...bytes].map((byte) => Uint8Array.of(byte))).events).toEqual(events);
  });
}

test("server-sent events: retry is a number of digits alone", () => {
  expect(whole("retry: 250\n").retry).toBe(250);
  expect(whole("retry: 250\nretry: 1s\nretry: -1\nretry:\n").retry).toBe(250);
  expect(whole("retry: 1.5\n").retry).toBe(null);
});

test("server-sent events: any text, cut into any pieces, gives what it gives as a whole", () => {
  const part = fc.constantFrom(
    "data",
    "event",
    "id",
    "retry",
    ":",
    " ",
    "\r",
    "\n",
    "\r\n",
    "\n\n",
    "1",
    "ä",
    "😀",
    "\uFEFF",
    "\0",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), fc.array(fc.nat(200), { maxLength: 12 }), (parts, cuts) => {
      const bytes = encoder.encode(parts.join(""));
      const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      expect(parse(pieces)).toEqual(parse([bytes]));
    }),
    runs(500),
  );
});

test("server-sent events: an event without an end is refused before it fills the memory", () => {
  const parser = new EventParser();
  const mebibyte = "x".repeat(1_048_576);
  parser.push("data: ");
  expect(() => {
    for (let n = 0; n < 20; n++) parser.push(mebibyte);
  }).toThrow(RangeError);
  const lines = new EventParser();
  expect(() => {
    for (let n = 0; n < 20; n++) lines.push(`data: ${mebibyte}\n`);
  }).toThrow(RangeError);
});
