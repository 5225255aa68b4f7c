/** A process that somebody took over: it answers an order with what the order's body says. */
import { readSync, writeSync } from "node:fs";

const CHANNEL = 3;
const tell = (news: unknown): void =>
  void writeSync(CHANNEL, typeof news === "string" ? news : `${JSON.stringify(news)}\n`);
const value = (text: string) => ({ kind: "value", value: text });
const piece = Buffer.alloc(1e6);

tell(["ready", []]);
for (;;) {
  const length = readSync(CHANNEL, piece);
  if (length === 0) process.exit(0);
  const [, { number, body }] = JSON.parse(piece.toString("utf8", 0, length)) as [
    string,
    { number: number; body: string },
  ];
  const behaviours: Record<string, () => void> = {
    honest: () => tell(["end", number, value("1")]),
    twice: () =>
      tell(
        `${JSON.stringify(["end", number, value("1")])}\n${JSON.stringify(["end", number + 1, value('"forged"')])}\n`,
      ),
    "for the next": () => tell(["end", number + 1, value('"forged"')]),
    "ready again": () => tell(["ready", []]),
    "no JSON": () => tell("{]\n"),
    "no news": () => tell({ end: number }),
    "no such kind": () => tell(["end", number, { kind: "busy", message: "forged" }]),
    "no such level": () => tell(["log", 7, "text", 0]),
    "no text": () => tell(["log", 1, { toString: 1 }, 0]),
    "a value that is none": () => tell(["end", number, { kind: "value", value: { a: 1 } }]),
    "a line without end": () => {
      for (;;) tell("x".repeat(60_000));
    },
    "logs without end": () => {
      for (;;) tell(["log", 1, "x".repeat(1_000), 0]);
    },
    "a value too large": () => tell(["end", number, value(`"${"x".repeat(100_000)}"`)]),
    "in pieces": () => {
      const line = `${JSON.stringify(["end", number, value('"ü"')])}\n`;
      for (const byte of Buffer.from(line)) writeSync(CHANNEL, Buffer.from([byte]));
    },
    exit: () => process.exit(0),
    silent: () => {},
  };
  behaviours[body]?.();
}
