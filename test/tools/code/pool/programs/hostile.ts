/** A process that somebody took over: it answers an order with what the order's body says. */
import { readSync, writeSync } from "node:fs";

const CHANNEL = 3;
const tell = (news: unknown): void =>
  void writeSync(CHANNEL, typeof news === "string" ? news : `${JSON.stringify(news)}\n`);
const call = (id: unknown, request: unknown = "{}") => tell(["call", id, request]);
const value = (text: string) => ({ kind: "value", value: text });
const piece = Buffer.alloc(1e6);

/** The host's next word; the orders are short, and answers are read one by one. */
const listen = (): [string, { number: number; body: string }] => {
  const length = readSync(CHANNEL, piece);
  if (length === 0) process.exit(0);
  const [head = ""] = piece.toString("utf8", 0, length).split("\n"); // An answer's text follows it.
  return JSON.parse(head) as [string, { number: number; body: string }];
};

tell(["ready", []]);
for (;;) {
  const [word, { number, body }] = listen();
  if (word !== "run") continue;
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
    "progress that is none": () => tell(["progress", "{]"]),
    "a call twice": () => {
      call(1);
      call(1);
    },
    "a call without a number": () => call("1"),
    "a call that is no text": () => call(1, { a: 1 }),
    "a call too large": () => call(1, "x".repeat(1024 * 1024 + 50_001)),
    "too many calls": () => {
      for (let id = 0; id < 1_001; id++) call(id);
    },
    "calls whose answers it does not read": () => {
      for (let id = 0; ; id++) call(id);
    },
    "progress that is too deep": () => tell(["progress", "[".repeat(1_001) + "]".repeat(1_001)]),
    "a call": () => call(1),
    "waits without end": () => {
      for (;;) tell(["waiting"]);
    },
    "calls when it is to stop": () => {
      tell(["log", 1, "begun", 0]);
      listen();
      call(1);
      tell(["log", 1, "called", 0]);
      for (;;);
    },
    "speaks on when it is to stop": () => {
      tell(["log", 1, "begun", 0]);
      listen();
      for (let n = 0; n < 10; n++) tell(["log", 1, "more", 0]);
      tell(["waiting"]);
      tell(["end", number, value("1")]);
    },
    "kill itself": () => process.kill(process.pid, "SIGKILL"),
    fault: () => process.kill(process.pid, "SIGSEGV"),
    "speak and kill itself": () => {
      tell(["waiting"]);
      process.kill(process.pid, "SIGKILL");
    },
    exit: () => process.exit(0),
    silent: () => {},
  };
  behaviours[body]?.();
}
