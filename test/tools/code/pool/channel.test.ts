import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type News, parseNews } from "../../../../src/tools/code/pool/channel";

const news: readonly News[] = [
  ["ready", []],
  ["ready", ["limits", "seccomp"]],
  ["unavailable", "no interpreter"],
  ["log", 4, "text", 1.5],
  ["progress", '{"done":1}'],
  ["call", 7, "{}"],
  ["waiting"],
  ["end", 3, { kind: "value" }],
  ["end", 3, { kind: "value", value: "1" }],
  ["end", 3, { kind: "runtime-error", message: "x", name: "Error", stack: "at program.js:2:1" }],
];

describe("The channel", () => {
  test("understands what a process may say", () => {
    for (const told of news) expect(parseNews(JSON.stringify(told))).toEqual(told);
  });

  test("is read as if a stranger wrote there: what is not quite news is none", () => {
    for (const line of [
      "",
      "{]",
      "null",
      "{}",
      '"ready"',
      "[]",
      '["ready"]',
      '["ready",[{"toString":1}]]',
      '["ready",[1]]',
      '["ready",[],1]',
      '["unavailable",1]',
      '["log",5,"",0]',
      '["log",-1,"",0]',
      '["log","push","",0]',
      '["log",1,1,0]',
      '["log",1,"","0"]',
      '["log",1,"",1e999]',
      '["log",1,"",0,0]',
      '["progress","{]"]',
      '["progress",1]',
      '["progress","1",1]',
      '["call","1","{}"]',
      '["call",1.5,"{}"]',
      '["call",1e99,"{}"]',
      '["call",1,{}]',
      '["call",1,"{}",1]',
      '["waiting",1]',
      '["end",1]',
      '["end","1",{"kind":"value"}]',
      '["end",1,{"kind":"busy","message":""}]',
      '["end",1,{"kind":"value","value":1}]',
      '["end",1,{"kind":"value"},1]',
      '["run",{}]',
      '[["end"],1,{"kind":"value"}]',
    ]) {
      expect([line, parseNews(line)]).toEqual([line, undefined]);
    }
  });

  test("throws at nothing, and gives nothing but news, whatever comes", () => {
    const words = fc.constantFrom("ready", "unavailable", "log", "progress", "call", "waiting", "end", "run");
    const part = fc.oneof(fc.jsonValue(), fc.constantFrom("1", "{}", { kind: "value" }, { kind: "timeout" }, 1));
    const lines = fc.oneof(
      fc.string(),
      fc.json(),
      fc.tuple(words, fc.array(part, { maxLength: 4 })).map(([word, parts]) => JSON.stringify([word, ...parts])),
    );
    fc.assert(
      fc.property(lines, (line) => {
        const told = parseNews(line);
        if (told !== undefined) expect(parseNews(JSON.stringify(told))).toEqual(told);
      }),
      { numRuns: 2_000 },
    );
  });
});
