import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { agentRun, createFolder, handled, message, run, write } from "./kit";

describe("ls", () => {
  test("lists the recordings of a folder with what is in them, and how each ended", async () => {
    using folder = createFolder();
    write(folder.at("run.ndjson"), agentRun());
    write(folder.at("torn.ndjson"), [message(1), { kind: "dropped", at: 5, lines: 9, messages: 3 }]);
    appendFileSync(folder.at("torn.ndjson"), '{"kind":"mess');
    writeFileSync(folder.at("letter.ndjson"), "Dear all,\n");
    const { status, out, err } = await run("ls", folder.path);
    expect(status).toBe(0);
    expect(out.replaceAll(folder.path, "DIR").replaceAll(/ +/g, " ").split("\n")).toEqual([
      "FILE PARTS BEGAN LASTED MESSAGES SIZE SYSTEM STATE",
      expect.stringMatching(/^DIR\/run\.ndjson 1 2026-01-01T00:00:00\.000Z 1 s 5 [\d.]+ KB test whole$/),
      expect.stringMatching(/^DIR\/torn\.ndjson 1 2026-01-01T00:00:00\.000Z 1 s 1 \d+ B test torn, 3 lost$/),
      "",
    ]);
    expect(err).toBe(`${folder.at("letter.ndjson")} is no recording: its first line is no JSON.\n`);
    const [first = ""] = (await run("ls", folder.path, "--json")).out.split("\n");
    expect(JSON.parse(first)).toMatchObject({ parts: 1, messages: 5, lasts: 1_000, state: "whole" });
  });

  test("tells of calls to the world that were under way when the recording ended", async () => {
    using folder = createFolder();
    const world = { from: "@(agent)", cause: 1, to: "@(model)", world: true, outside: "model" } as const;
    write(folder.at("run.ndjson"), [
      message(1),
      message(2, world), // Has its answer.
      handled(2, "said"),
      message(3, world),
      message(4, { ...world, cause: 3, to: "@(tool)", outside: "tool" }), // Led to by message 3.
      message(5, { ...world, pattern: "tell" }), // Nobody waits for it.
      message(6, { ...world, pattern: "stream" }),
      { kind: "item", of: 6, at: 7, value: "a" },
      message(7, world),
      { kind: "end", of: 7, at: 8, outcome: "stashed" },
      message(8, world),
      { kind: "end", of: 8, at: 9, outcome: "abandoned" },
    ]);
    expect((await run("ls", folder.path)).out).toContain("whole, 4 calls outside without end\n");
    expect(JSON.parse((await run("ls", folder.path, "--json")).out)).toMatchObject({ unanswered: 4, state: "whole" });
  });

  test("says that a folder has none", async () => {
    using folder = createFolder();
    expect(await run("ls", folder.path)).toEqual({
      status: 0,
      out: expect.stringContaining("no recordings here. Folders below are not looked into"),
      err: "",
    });
  });
});

describe("show", () => {
  test("shows each message on a line with its outcome, in the order in which they were sent", async () => {
    using folder = createFolder();
    const { status, out, err } = await run("show", write(folder.at("run.ndjson"), agentRun()));
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out.split("\n").map((line) => line.trim().replace(/ {2,}/g, " "))).toEqual([
      expect.stringContaining("System test, from 2026-01-01T00:00:00.000Z, by envoi 0.1.0 on bun"),
      '0.001000 1 ask outside → @(agent) run {"task":"weather"} ⇒ handled after 1.5 ms: "Rain in Bern"',
      '0.002000 2 ask @(agent) → @(tools/map) find {"city":"Bern"} ⇒ handled after 1.5 ms: {"x":7,"y":46}',
      '0.003000 3 stream @(agent) → @(model) tokens "say it" ⇒ handled after 1.5 ms, 2 items',
      '0.004000 4 tell @(model) → @(tools/log) add "a \\"line\\"\\n" ⇒ failed after 5 ms: full',
      "0.005000 5 tell a door → @(nobody) hello ⇒ dead letter (no-recipient) after 7 ms",
      "The recording ended in order.",
      "",
    ]);
  });

  test("--id shows all of one message", async () => {
    using folder = createFolder();
    const file = write(folder.at("run.ndjson"), agentRun());
    expect((await run("show", file, "--id", "3")).out).toBe(
      'Message 3: stream @(agent) → @(model) tokens, sent while message 1 was handled\n  payload: "say it"\n' +
        'item after 1 ms\n  value: "Rain"\nitem after 2 ms\n  value: " in Bern"\nhandled after 1.5 ms\n',
    );
    expect((await run("show", file, "--id", "1")).out).toContain('  metadata: {\n    "traceparent": "00-1"\n  }\n');
    expect(await run("show", file, "--id", "9")).toMatchObject({
      status: 1,
      err: `There is no message 9 in ${file}.\n`,
    });
  });

  test("--follow-causes shows what led to what, as a tree, or of one message alone", async () => {
    using folder = createFolder();
    const file = write(folder.at("run.ndjson"), agentRun());
    const heads = (out: string): string[] => out.split("\n").map((line) => line.replace(/(\d) .*/, "$1"));
    expect(heads((await run("show", file, "--follow-causes")).out)).toEqual(["1", "├─ 2", "└─ 3", "   └─ 4", "5", ""]);
    expect(heads((await run("show", file, "--follow-causes", "--id", "3")).out)).toEqual(["1", "└─ 3", "   └─ 4", ""]);
  });

  test("--json gives the lines as they are recorded", async () => {
    using folder = createFolder();
    const file = write(folder.at("run.ndjson"), agentRun());
    const lines = (await run("show", file, "--json", "--id", "2")).out.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(agentRun().slice(1, 3));
    const all = (await run("show", file, "--json")).out.trim().split("\n");
    expect(all.slice(1, -1).map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(agentRun())));
  });

  test("a message that runs long holds up no others: its end comes on a line of its own", async () => {
    using folder = createFolder();
    const others = Array.from({ length: 1_500 }, (_, index) => [message(index + 2), handled(index + 2, index)]).flat();
    const { out } = await run("show", write(folder.at("run.ndjson"), [message(1), ...others, handled(1, "late")]));
    const lines = out.split("\n").map((line) => line.trim());
    expect(lines).toHaveLength(1 + 1_501 + 1 + 2);
    expect(lines.filter((line) => / 1 /.test(line.slice(8, 20)))).toEqual([
      expect.stringContaining("⇒ no end is recorded"),
      expect.stringContaining('⇒ handled after 1.5 ms: "late"'),
    ]);
  });

  test("tells what is lost, and where a file is torn, and shows the rest", async () => {
    using folder = createFolder();
    const file = folder.at("run.ndjson");
    write(file, [message(1), handled(1), { kind: "dropped", at: 5, lines: 9, messages: 3 }]);
    appendFileSync(file, '{"kind":"mess');
    const { status, out, err } = await run("show", file);
    expect({ status, err }).toEqual({
      status: 0,
      err: `${file} ends within line 6, which was not written whole.\n`,
    });
    expect(out).toContain("– 9 lines were lost here, 3 of them messages\n");
  });
});

test("nothing that was recorded reaches the terminal raw: escapes, bells, marks of direction, halves of letters", async () => {
  using folder = createFolder();
  const evil = "\u001b[2J\u0007\u009b31m\u202e\u2066\ufeff\u007f\r\nx\u2028\udc00👩‍👩‍👧";
  const lines = [
    message(1, { to: evil, operation: evil, payload: { [evil]: evil }, metadata: { [evil]: evil }, protocol: evil }),
    { kind: "item", of: 1, at: 1, value: evil } as const,
    {
      kind: "end",
      of: 1,
      at: 2,
      outcome: "failed",
      reason: evil,
      value: evil,
      error: { name: evil, message: evil },
    } as const,
  ];
  const other = write(folder.at("b.ndjson"), [message(1, { operation: evil, payload: evil }), message(2)]);
  const file = write(folder.at("a.ndjson"), lines);
  const commands = [
    ["show", file],
    ["show", file, "--json"],
    ["show", file, "--id", "1"],
    ["show", file, "--follow-causes"],
    ["grep", "", file],
    ["grep", "x", file, "--json"],
    ["diff", file, other],
    ["ls", folder.path],
  ];
  for (const command of commands) {
    const { out, err } = await run(...command);
    expect({ command, raw: `${out}${err}`.match(/(?!\n|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u) }).toEqual({
      command,
      raw: null,
    });
    expect(out.length).toBeGreaterThan(50);
  }
  const [, shown = ""] = (await run("show", file, "--json")).out.split("\n");
  expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(lines[0])));
});

describe("grep", () => {
  const found = async (...argv: string[]) => {
    using folder = createFolder();
    const { status, out } = await run(
      "grep",
      argv[0] ?? "",
      write(folder.at("run.ndjson"), agentRun()),
      ...argv.slice(1),
    );
    return { status, ids: out.split("\n").flatMap((line) => line.trim().split(" ")[1] ?? []) };
  };

  test("finds a text in payloads, replies, items and errors, as it was and not as JSON has it", async () => {
    expect(await found("Bern")).toEqual({ status: 0, ids: ["2", "3", "1"] });
    expect(await found('a "line"\n')).toEqual({ status: 0, ids: ["4"] });
    expect(await found("full")).toEqual({ status: 0, ids: ["4"] });
    expect(await found("bern")).toEqual({ status: 1, ids: [] });
    expect(await found("bern", "--ignore-case")).toEqual({ status: 0, ids: ["2", "3", "1"] });
  });

  test("--regex takes a regular expression, which no text makes slow", async () => {
    expect(await found("(Rain|Sun).*B[a-z]{3}", "--regex")).toEqual({ status: 0, ids: ["1"] });
    using folder = createFolder();
    const file = write(folder.at("run.ndjson"), [message(1, { payload: "a".repeat(50_000) })]);
    expect((await run("grep", "(a+)+b$", file, "--regex")).status).toBe(1);
    expect(await run("grep", "(", file, "--regex")).toMatchObject({
      status: 2,
      err: expect.stringMatching(/^The pattern cannot be searched: at letter \d+, /),
    });
  });

  test("--operation and --actor narrow it", async () => {
    expect((await found("", "--operation", "find")).ids).toEqual(["2", "2"]);
    expect((await found("Bern", "--actor", "tools/*")).ids).toEqual(["2"]);
    expect((await found("Bern", "--actor", "@(model)")).ids).toEqual(["3"]);
    expect((await found("", "--actor", "nobody")).ids).toEqual(["5", "5"]);
  });

  test("names the file where there are several", async () => {
    using folder = createFolder();
    const files = ["a.ndjson", "b.ndjson"].map((name) => write(folder.at(name), agentRun()));
    const { out } = await run("grep", "city", ...files);
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => line.split(": ")[0]),
    ).toEqual(files);
  });
});

describe("diff", () => {
  const both = async (a: Parameters<typeof write>[1], b: Parameters<typeof write>[1], ...argv: string[]) => {
    using folder = createFolder();
    const paths = [write(folder.at("a.ndjson"), a), write(folder.at("b.ndjson"), b)];
    return await run("diff", ...paths, ...argv); // Before the folder goes.
  };

  test("two runs that did the same are the same, whatever their times and ids", async () => {
    const later = agentRun().map((line) => {
      const moved = { ...line, at: "at" in line ? line.at * 3 : 0 };
      if (moved.kind === "message")
        return { ...moved, id: moved.id + 7, ...(moved.cause && { cause: moved.cause + 7 }) };
      return "of" in moved ? { ...moved, of: moved.of + 7 } : moved;
    });
    expect(await both(agentRun(), later as never)).toEqual({ status: 0, out: "The same: 5 messages.\n", err: "" });
  });

  test("redacted values count as the same where the keys differ", async () => {
    using folder = createFolder();
    const one = (name: string, key: string, letter: string): string => {
      const path = write(
        folder.at(name),
        [message(1, { payload: { email: `redacted:${letter.repeat(22)}` } }), handled(1)],
        name,
      );
      writeFileSync(path, readFileSync(path, "utf8").replace('"seed":1', `"seed":1,"key":"${key}"`));
      return path;
    };
    const [a, b, c] = [one("a.ndjson", "k1", "a"), one("b.ndjson", "k2", "b"), one("c.ndjson", "k1", "c")];
    expect(await run("diff", a, b)).toEqual({
      status: 0,
      out: "The same: 1 message.\n",
      err: "The recordings have hashes by different keys: redacted values count as the same.\n",
    });
    expect((await run("diff", a, c)).status).toBe(1);
  });

  test("by different keys, a redacted part of a text counts as the same, and the rest of the text does not", async () => {
    using folder = createFolder();
    const one = (name: string, key: string, hash: string, region: string): string => {
      const value = `DB_PASSWORD=redacted:${hash.repeat(22)} REGION=${region}`;
      const path = write(folder.at(name), [message(1), handled(1, value)]);
      writeFileSync(path, readFileSync(path, "utf8").replace('"seed":1', `"seed":1,"key":"${key}"`));
      return path;
    };
    const [a, b, c] = [
      one("d.ndjson", "k1", "a", "eu"),
      one("e.ndjson", "k2", "b", "eu"),
      one("f.ndjson", "k3", "c", "us"),
    ];
    expect((await run("diff", a, b)).out).toBe("The same: 1 message.\n");
    expect((await run("diff", a, c)).out).toEndWith(
      "\n1 message differs, 0 only in the first, 0 only in the second; 0 are the same.\n",
    );
  });

  test("shows which messages differ, and in what", async () => {
    const { status, out } = await both(agentRun(), agentRun("Basel"));
    expect(status).toBe(1);
    expect(out).toContain(
      '@@ message 2: ask @(agent) → @(tools/map) find @@\n {\n   "outcome": "handled",\n   "payload": {\n-    "city": "Bern"\n+    "city": "Basel"\n   },\n',
    );
    expect(out).toContain('-    " in Bern"\n+    " in Basel"\n');
    expect(out).toEndWith("\n3 messages differ, 0 only in the first, 0 only in the second; 2 are the same.\n");
  });

  test("a message that only one has is shown as such, and the others are matched around it", async () => {
    const fewer = agentRun().filter((line) => !("id" in line && line.id === 2) && !("of" in line && line.of === 2));
    const { status, out } = await both(agentRun(), fewer);
    expect(status).toBe(1);
    expect(out).toContain("@@ message 2 is only in the first: ask @(agent) → @(tools/map) find @@\n-{\n");
    expect(out).toEndWith("\n0 messages differ, 1 only in the first, 0 only in the second; 4 are the same.\n");
    expect((await both(fewer, agentRun())).out).toContain("is only in the second");
  });

  test("--ignore leaves parts out; metadata is compared where that is asked for", async () => {
    const ignore = ["payload.city", "reply", "items.*"].flatMap((path) => ["--ignore", path]);
    expect((await both(agentRun(), agentRun("Basel"), ...ignore)).status).toBe(0);
    const traced = agentRun().map((line) =>
      line.kind === "message" && line.metadata ? { ...line, metadata: {} } : line,
    );
    expect((await both(agentRun(), traced)).status).toBe(0);
    expect((await both(agentRun(), traced, "--metadata")).status).toBe(1);
  });

  test("recordings that have nothing in common are told apart quickly", async () => {
    const many = (operation: string) => Array.from({ length: 3_000 }, (_, index) => message(index + 1, { operation }));
    const { status, out } = await both(many("a"), many("b"));
    expect(status).toBe(1);
    expect(out).toEndWith(
      "0 messages differ, 3000 only in the first, 3000 only in the second; 0 are the same. The first 100 are shown.\n",
    );
  });
});

describe("a wrong command line ends with status 2 and one sentence:", () => {
  test.each([
    [["dif"], 'There is no command "dif". There are ls, show, grep, diff.'],
    [["show"], "show takes one file: envoi record show FILE."],
    [["show", "a", "--id", "x"], '--id is a whole number from 1; got "x".'],
    [["show", "a", "--jsn"], "Unknown option '--jsn'. There are --json, --id …, --follow-causes."],
    [["show", "not-there.ndjson"], "There is no file not-there.ndjson."],
    [["grep", "x"], 'grep takes a pattern and files: envoi record grep PATTERN FILE…; the pattern "" fits all.'],
    [["diff", "a"], "diff takes two files: envoi record diff A B."],
  ])("%j", async (argv, sentence) => {
    expect(await run(...argv)).toEqual({ status: 2, out: "", err: `${sentence}\n` });
  });

  test("--help and no command tell what there is", async () => {
    const help = await run("--help");
    expect(help).toMatchObject({ status: 0, out: expect.stringContaining("--follow-causes"), err: "" });
    expect([await run(), await run("show", "--help")]).toEqual([help, help]);
  });
});
