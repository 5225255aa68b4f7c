import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createManualClock } from "../../../src/testing/index";
import { createFolder, idsOf, messageLine, openFile, readAll, upTo } from "./folder";

const FORMS = [false, "zstd"] as const;

describe.each(FORMS)("a recording, compressed: %s", (compress) => {
  const named = (name: string): string => (compress === false ? name : `${name}.zst`);

  test("is read as it was written, header first and close last", async () => {
    using folder = createFolder();
    const { file, troubles } = openFile({ to: folder.at("made/run.ndjson"), compress });
    for (const id of upTo(1_000)) expect(file.append(messageLine(id), true)).toBe(true);
    expect(file.append(JSON.stringify({ kind: "end", of: 1, at: 2, outcome: "handled" }), false)).toBe(true);
    await file.close();
    const { lines, reader } = await readAll(folder.at(named("made/run.ndjson")));
    expect(lines[0]).toMatchObject({ kind: "header", part: 1, system: "test" });
    expect(idsOf(lines)).toEqual(upTo(1_000));
    expect(lines.at(-1)).toMatchObject({ kind: "close", lines: 1_001 });
    expect([reader.isClosed, reader.faults, troubles]).toEqual([true, [], []]);
    expect(file.counts).toMatchObject({ lines: 1_001, messages: 1_000, parts: 1, waiting: 0, droppedLines: 0 });
    expect(file.counts.bytes).toBe(statSync(file.path).size);
  });

  test("is read by its owner alone: the file, and a folder that was made for it", async () => {
    using folder = createFolder();
    const { file } = openFile({ to: folder.at("made/run.ndjson"), compress });
    await file.close();
    const modes = [file.path, folder.at("made")].map((path) => (statSync(path).mode & 0o777).toString(8));
    expect(modes).toEqual(["600", "700"]);
  });

  test("goes on in a next part beyond its size, with a header in each, and is read as one from any of them", async () => {
    using folder = createFolder();
    const { file } = openFile({ to: folder.at("run.ndjson"), compress, rotate: { bytes: 1_000 } });
    for (const id of upTo(12)) {
      file.append(messageLine(id, 400) + " ".repeat(400), true);
      await file.flush();
    }
    await file.close();
    const { parts } = file.counts;
    expect(parts).toBeGreaterThan(1);
    expect(readdirSync(folder.path)).toHaveLength(parts);
    for (const name of ["run.ndjson", "run.2.ndjson"]) {
      const { lines, reader } = await readAll(folder.at(named(name)));
      expect({ ids: idsOf(lines), faults: reader.faults }).toEqual({ ids: upTo(12), faults: [] });
      expect(lines.filter(({ kind }) => kind === "header")).toHaveLength(1);
      expect(reader.paths[0]).toBe(folder.at(named("run.ndjson")));
    }
  });

  test("keeps so many parts: the oldest is deleted, and a reader finds the others by the path that was given", async () => {
    using folder = createFolder();
    const { file } = openFile({ to: folder.at("run.ndjson"), compress, rotate: { bytes: 1, keep: 3 } });
    for (const id of upTo(6)) {
      file.append(messageLine(id), true);
      await file.flush();
    }
    await file.close();
    const { parts } = file.counts;
    expect(readdirSync(folder.path).sort()).toEqual(
      [parts, parts - 1, parts - 2].map((part) => named(`run.${part}.ndjson`)).sort(),
    );
    const { lines, reader } = await readAll(folder.at(named(`run.${parts}.ndjson`)));
    expect(idsOf(lines)).toEqual(upTo(6).slice(-2));
    expect(reader.faults).toEqual([]);
    const byTo = await readAll(folder.at("run.ndjson"));
    expect(byTo).toMatchObject({ lines, reader: { faults: [], isClosed: true } });
    rmSync(folder.at(named(`run.${parts - 1}.ndjson`)));
    const cut = await readAll(folder.at("run.ndjson"));
    expect(cut.reader.faults.map(({ sentence }) => sentence)).toEqual([
      `Part ${parts - 1} is missing before ${folder.at(named(`run.${parts}.ndjson`))}.`,
    ]);
  });
});

test("a part that is old ends with the next line", async () => {
  using folder = createFolder();
  const clock = createManualClock();
  const { file } = openFile({ to: folder.at("run.ndjson"), clock, rotate: { age: 60_000 } });
  file.append(messageLine(1), true);
  await file.flush();
  await clock.advance(59_999);
  file.append(messageLine(2), true);
  await file.flush();
  expect(file.counts.parts).toBe(1);
  await clock.advance(1);
  file.append(messageLine(3), true);
  await file.flush();
  expect(file.counts.parts).toBe(2);
  await file.close();
});

test("a recording never goes into a file that is there: it takes the next name that is free", async () => {
  using folder = createFolder();
  writeFileSync(folder.at("run.4.ndjson"), "a part whose first one was moved");
  writeFileSync(folder.at("run-2.ndjson.zst"), "another one");
  const { file } = openFile({ to: folder.at("run.ndjson") });
  const { file: other } = openFile({ to: folder.at("run.ndjson") });
  await Promise.all([file.close(), other.close()]);
  expect([file.path, other.path]).toEqual([folder.at("run-3.ndjson"), folder.at("run-4.ndjson")]);
  expect(readFileSync(folder.at("run.4.ndjson"), "utf8")).toBe("a part whose first one was moved");
});

test("files that are no recording do not change its name", async () => {
  using folder = createFolder();
  for (const name of ["run.ts", "run.2.json", "run"]) writeFileSync(folder.at(name), "");
  const { file } = openFile({ to: folder.at("run.ndjson") });
  await file.close();
  expect([file.path, file.first]).toEqual([folder.at("run.ndjson"), folder.at("run.ndjson")]);
});

test("a folder that cannot be made is told when the recording begins", () => {
  using folder = createFolder();
  writeFileSync(folder.at("file"), "");
  expect(() => openFile({ to: folder.at("file/below/run.ndjson") })).toThrow(
    /^The recording .*run\.ndjson cannot begin: (?:ENOTDIR|EEXIST)/,
  );
});

describe("lines that come faster than they are written", () => {
  test("wait within the bound; the others are dropped, counted, and told in the file and to the owner", async () => {
    using folder = createFolder();
    const { file, troubles } = openFile({ to: folder.at("run.ndjson"), maxBuffer: 10_000 });
    const taken = upTo(1_000).filter((id) => file.append(messageLine(id, 200), id % 2 === 0));
    expect(file.counts.waiting).toBeLessThanOrEqual(10_000);
    await file.flush();
    expect(file.append(messageLine(1_001), true)).toBe(true);
    await file.close();
    const { lines, reader } = await readAll(file.path);
    expect(idsOf(lines)).toEqual([...taken, 1_001]);
    const lost = 1_000 - taken.length;
    const messages = 500 - taken.filter((id) => id % 2 === 0).length;
    expect(lines.filter(({ kind }) => kind === "dropped")).toEqual([
      { kind: "dropped", at: expect.any(Number), lines: lost, messages },
    ]);
    expect(lines.at(-3)).toMatchObject({ kind: "dropped" }); // At the place of the loss.
    expect(troubles).toEqual([
      {
        kind: "dropped",
        lines: lost,
        messages,
        sentence: expect.stringContaining(`lost ${lost} lines (${messages} messages)`),
      },
    ]);
    expect(file.counts).toMatchObject({ lines: taken.length + 1, droppedLines: lost, droppedMessages: messages });
    expect(reader.faults).toEqual([]);
  });

  test("one that is larger than the bound is dropped alone", async () => {
    using folder = createFolder();
    const { file } = openFile({ to: folder.at("run.ndjson"), maxBuffer: 1_000 });
    expect([file.append(messageLine(1, 2_000), true), file.append(messageLine(2), true)]).toEqual([false, true]);
    await file.close();
    const { lines } = await readAll(file.path);
    expect(lines.slice(1).map(({ kind }) => kind)).toEqual(["dropped", "message", "close"]);
  });
});

test("a clock that goes back makes no line that a reader passes over", async () => {
  using folder = createFolder();
  let time = 0;
  const { file } = openFile({ to: folder.at("run.ndjson"), now: () => --time });
  file.append(messageLine(1), true);
  await file.close();
  const { lines, reader } = await readAll(file.path);
  expect([lines.map(({ kind }) => kind), reader.faults]).toEqual([["header", "message", "close"], []]);
});

describe("trouble stops the recording for good, is told once, and throws nothing:", () => {
  test("the file was deleted", async () => {
    using folder = createFolder();
    const clock = createManualClock();
    const { file, troubles } = openFile({ to: folder.at("sub/run.ndjson"), clock });
    file.append(messageLine(1), true);
    await file.flush();
    rmSync(folder.at("sub"), { recursive: true });
    await clock.advance(1_000);
    file.append(messageLine(2), true);
    await file.flush();
    expect(file.append(messageLine(3), true)).toBe(false);
    await file.close();
    expect(troubles).toEqual([
      {
        kind: "stopped",
        path: file.path,
        error: expect.any(Error),
        sentence: expect.stringContaining("somebody deleted the file"),
      },
    ]);
    expect(file.counts).toMatchObject({ lines: 1, messages: 1, droppedLines: 2, droppedMessages: 2, isStopped: true });
    expect(existsSync(folder.at("sub"))).toBe(false);
  });

  test.each([
    ["deleted", "just before it is closed", (path: string) => rmSync(path), 0],
    ["cut off", "just before it is closed", (path: string) => truncateSync(path, 0), 0],
    ["cut off", "a second before", (path: string) => truncateSync(path, 10), 1_000],
  ] as const)("the file was %s %s", async (_, __, harm, wait) => {
    using folder = createFolder();
    const clock = createManualClock();
    const { file, troubles } = openFile({ to: folder.at("run.ndjson"), clock });
    file.append(messageLine(1), true);
    await file.flush();
    harm(file.path);
    await clock.advance(wait);
    file.append(messageLine(2), true); // It is written behind the end, if there is one.
    await file.flush();
    await file.close();
    expect(troubles.map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(/stopped, and nothing else did: somebody (deleted the file|cut the file off)/),
    ]);
    expect(file.counts.isStopped).toBe(true);
  });

  test("the file was deleted after a loss: the line that tells of the loss is none of the lost ones", async () => {
    using folder = createFolder();
    const clock = createManualClock();
    const { file } = openFile({ to: folder.at("sub/run.ndjson"), clock, maxBuffer: 1_000 });
    file.append(messageLine(1), true);
    await file.flush();
    expect(file.append(messageLine(2, 2_000), true)).toBe(false);
    rmSync(folder.at("sub"), { recursive: true });
    await clock.advance(1_000);
    expect(file.append(messageLine(3), true)).toBe(true);
    await file.flush();
    expect(file.counts).toMatchObject({ lines: 1, messages: 1, droppedLines: 2, droppedMessages: 2, isStopped: true });
    await file.close();
  });

  test("the next part cannot be made", async () => {
    using folder = createFolder();
    const { file, troubles } = openFile({ to: folder.at("run.ndjson"), rotate: { bytes: 1 } });
    file.append(messageLine(1), true);
    await file.flush();
    mkdirSync(folder.at("run.2.ndjson"));
    file.append(messageLine(2), true);
    await file.flush();
    await file.close();
    expect(troubles.map(({ kind, sentence }) => [kind, sentence])).toEqual([
      ["stopped", expect.stringMatching(/stopped, and nothing else did: EEXIST/)],
    ]);
    expect(idsOf((await readAll(file.path)).lines)).toEqual([1]);
  });
});

test("close may be called twice, and takes no line afterwards", async () => {
  using folder = createFolder();
  const { file } = openFile({ to: folder.at("run.ndjson") });
  file.append(messageLine(1), true);
  expect(file.close()).toBe(file.close());
  expect(file.append(messageLine(2), true)).toBe(false);
  await file.close();
  await file.flush();
  expect((await readAll(file.path)).lines.map(({ kind }) => kind)).toEqual(["header", "message", "close"]);
});

test("a turn's lines are one write, and the next ones wait for 20 ms or a full batch", async () => {
  using folder = createFolder();
  const clock = createManualClock();
  const { file } = openFile({ to: folder.at("run.ndjson"), clock });
  const before = file.counts.bytes;
  for (const id of [1, 2, 3]) file.append(messageLine(id, 100), true);
  expect(file.counts).toMatchObject({ bytes: before, waiting: 300 });
  await clock.settle();
  await file.flush();
  expect(file.counts.bytes).toBe(before + 300);
  await clock.settle();
  file.append(messageLine(4, 100), true);
  expect([clock.timers, clock.heldTimers]).toEqual([1, 0]); // It keeps no process alive.
  await clock.advance(19);
  expect([clock.timers, file.counts.waiting]).toEqual([1, 100]);
  await clock.advance(1);
  expect(clock.timers).toBe(0);
  await file.flush();
  expect(file.counts).toMatchObject({ bytes: before + 400, waiting: 0 });
  await file.close();
});
