import { describe, expect, test } from "bun:test";
import { appendFileSync, copyFileSync, writeFileSync } from "node:fs";
import { constants, zstdCompressSync } from "node:zlib";
import { findRecordings } from "../../../src/record/files/find";
import { frameLength } from "../../../src/record/files/frames";
import { MAX_LINE_BYTES } from "../../../src/record/format";
import { quickOr } from "../../benchmarks/long";
import { createFolder, headerOf, idsOf, messageLine, openFile, readAll, upTo } from "./folder";

const header = (recording = "r", part = 1): string => `${JSON.stringify({ ...headerOf(recording), part })}\n`;
const frame = (text: string): Uint8Array => Bun.zstdCompressSync(text);

/** Reads a file of some lines, and gives what was read and what is told. */
async function readText(text: string | Uint8Array, name = "run.ndjson") {
  using folder = createFolder();
  writeFileSync(folder.at(name), text);
  const { lines, reader } = await readAll(folder.at(name));
  const faults = reader.faults.map(({ kind, line, sentence }) => [
    kind,
    line,
    sentence.replace(folder.at(name), "FILE"),
  ]);
  return { kinds: lines.map(({ kind }) => kind), ids: idsOf(lines), faults, count: reader.faultCount };
}

describe("a file that is cut anywhere", () => {
  const lines = [header(), ...upTo(4).map((id) => `${messageLine(id, 120)}\n`)];

  test("is read up to its last whole line; what is behind it is told with its number", async () => {
    const whole = lines.join("");
    const [first = ""] = lines;
    for (let end = first.length; end < whole.length; end += quickOr(7, 1)) {
      const text = whole.slice(0, end);
      // A line of which only the line end is missing is whole.
      const count = text.split("\n").length - 2 + (whole[end] === "\n" ? 1 : 0);
      const left = text.endsWith("\n") || whole[end] === "\n";
      const torn = ["torn", count + 2, `FILE ends within line ${count + 2}, which was not written whole.`];
      expect(await readText(text)).toMatchObject({ ids: upTo(count), faults: left ? [] : [torn] });
    }
  });

  test("is read up to its last whole frame, where it is compressed", async () => {
    const frames = lines.map(frame);
    const whole = Buffer.concat(frames);
    const ends = frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length);
    for (let end = ends[0] ?? 0; end <= whole.length; end += quickOr(5, 1)) {
      const count = ends.filter((each) => each <= end).length - 1;
      const { ids, faults } = await readText(whole.subarray(0, end), "run.ndjson.zst");
      const torn = [
        "torn",
        count + 1,
        `FILE ends within a zstd frame, which was not written whole, behind line ${count + 1}.`,
      ];
      expect({ ids, faults }).toEqual({ ids: upTo(count), faults: ends.includes(end) ? [] : [torn] });
    }
  });

  test.each(["", '{"kind":"header","form'])(
    "before its header ends (%j) is no recording, and says why",
    async (text) => {
      await expect(readText(text)).rejects.toThrow(/ends within its header: it holds nothing\.$/);
    },
  );
});

describe("a line that does not fit is told with its number, and passed over:", () => {
  const around = (line: string): string => `${header()}${messageLine(1)}\n${line}\n${messageLine(2)}\n`;
  const cases: [string, string, string][] = [
    ["no JSON", "{oh", "is no JSON"],
    ["an empty line", "", "is no JSON"],
    ["nested deeply", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "is nested more than 512 deep"],
    ["a prototype", '{"kind":"message","__proto__":{}}', 'has a key "__proto__"'],
    ["no object", "[]", "has no kind"],
    ["a kind that is not known", '{"kind":"party"}', 'is of the unknown kind "party"'],
    ["a kind that every object has", '{"kind":"constructor"}', 'is of the unknown kind "constructor"'],
    ["a member of another type", messageLine(3).replace('"id":3', '"id":"3"'), "is no message: /id must be "],
  ];
  test.each(cases)("%s", async (_, line, why) => {
    const { ids, faults } = await readText(around(line));
    expect(ids).toEqual([1, 2]);
    expect(faults).toEqual([["broken", 3, expect.stringContaining(`Line 3 of FILE ${why}`)]]);
  });

  test("bytes that are no text", async () => {
    const text = Buffer.concat([Buffer.from(around("x").slice(0, -20)), Buffer.from([0xff, 0xfe, 10])]);
    const { ids, faults } = await readText(text);
    expect([ids, faults.map(([kind, line]) => [kind, line])]).toEqual([
      [1],
      [
        ["broken", 3],
        ["broken", 4],
      ],
    ]);
  });

  test("one that is too long, without being kept", async () => {
    using folder = createFolder();
    const path = folder.at("run.ndjson");
    writeFileSync(path, `${header()}${messageLine(1)}\n{"kind":"`);
    const piece = Buffer.alloc(2 ** 20, "x");
    for (let written = 0; written < MAX_LINE_BYTES * 2; written += piece.length) appendFileSync(path, piece);
    appendFileSync(path, `"}\n${messageLine(2)}\n`);
    const { lines, reader } = await readAll(path);
    expect(idsOf(lines)).toEqual([1, 2]);
    expect(reader.faults.map(({ sentence }) => sentence)).toEqual([
      `Line 3 of ${path} is longer than ${MAX_LINE_BYTES} bytes; it was passed over.`,
    ]);
  });

  test("a million of them are counted, and the first hundred are told", async () => {
    const { count, faults, ids } = await readText(`${header()}${"?\n".repeat(100_000)}${messageLine(1)}\n`);
    expect([count, faults.length, ids]).toEqual([100_000, 100, [1]]);
  });
});

describe("a compressed file", () => {
  const [before, after] = [frame(`${header()}${messageLine(1)}\n`), frame(`${messageLine(2)}\n`)];

  test("with a broken frame in the middle is read before and behind it", async () => {
    const broken = Uint8Array.from(
      frame(
        upTo(50)
          .map((id) => `${messageLine(id)}\n`)
          .join(""),
      ),
    );
    broken.fill(255, broken.length - 20);
    const { ids, faults } = await readText(Buffer.concat([before, broken, after]), "run.ndjson.zst");
    expect([ids, faults]).toEqual([[1, 2], [["broken", 2, "FILE has a broken zstd frame, behind line 2."]]]);
  });

  test("with a broken frame within a line counts that line", async () => {
    const torn = frame(`${header()}${messageLine(1)}\n{"kind":`);
    const broken = Uint8Array.from(frame(messageLine(2, 400)));
    broken.fill(255, broken.length - 10);
    const { ids, faults } = await readText(Buffer.concat([torn, broken, frame("oh\n"), after]), "run.ndjson.zst");
    expect([ids, faults.map(([kind, line]) => [kind, line])]).toEqual([
      [1, 2],
      [
        ["broken", 3],
        ["broken", 4],
      ],
    ]);
    const inHeader = Buffer.concat([frame('{"kind":"hea'), broken, frame(`${header()}${messageLine(1)}\n`)]);
    await expect(readText(inHeader, "run.ndjson.zst")).rejects.toThrow("is no recording: it has a broken zstd frame.");
  });

  test.each([
    ["bytes that are no frame", Buffer.alloc(40, "no"), "has bytes that are no zstd frame"],
    [
      "a frame that says it is a terabyte",
      Buffer.from("28b52ffde000000000000100000000000000000000000000000000", "hex"),
      "has a zstd frame of 1099511627776 bytes: decompress it first",
    ],
  ])("is read up to %s", async (_, bytes, why) => {
    const { ids, faults } = await readText(Buffer.concat([before, bytes, after]), "run.ndjson.zst");
    expect(ids).toEqual([1]);
    expect(faults).toEqual([["torn", 2, `FILE ${why}; nothing behind them can be read, behind line 2.`]]);
  });

  test("that another program compressed is read: frames without content, and with a checksum", async () => {
    const skipped = Buffer.from("502a4d1804000000abcdabcd", "hex");
    const last = Buffer.from("5f2a4d1804000000abcdabcd", "hex");
    const checked = zstdCompressSync(`${messageLine(2)}\n`, {
      params: { [constants.ZSTD_c_checksumFlag]: 1 },
      pledgedSrcSize: messageLine(2).length + 1,
    });
    expect((checked[4] as number) & 4).toBe(4);
    const whole = Buffer.concat([skipped, before, last, checked, frame(`${messageLine(3)}\n`)]);
    const { ids, faults } = await readText(whole, "run.ndjson.zst");
    expect([ids, faults]).toEqual([[1, 2, 3], []]);
  });

  test("that another program compressed has frames of every form, whose lengths are known", () => {
    const magic = [0x28, 0xb5, 0x2f, 0xfd];
    const raw = [0x19, 0, 0, 1, 2, 3]; // The last block, of three bytes.
    const repeated = [0x4b, 0x1f, 0, 7]; // The last block: one byte, 1,001 times.
    const frames = [
      [0x20, 3, ...raw],
      [0x00 | 0x40, 0, 0, 0, ...raw], // A window, and a size of two bytes.
      [0x21, 9, 3, ...raw], // A dictionary by one, two and four bytes.
      [0x22, 9, 9, 3, ...raw],
      [0x23, 9, 9, 9, 9, 3, ...raw],
      [0x60, 0xe9, 2, ...repeated],
      [0x24, 3, ...raw, 9, 9, 9, 9], // A checksum.
    ].map((bytes) => Uint8Array.from([...magic, ...bytes]));
    for (const each of frames) {
      expect(frameLength(Buffer.concat([each, Buffer.alloc(20, 1)]))).toBe(each.length);
      expect(frameLength(each.subarray(0, -1))).toBeNull();
    }
    expect(Bun.zstdDecompressSync(frames[5] as Uint8Array<ArrayBuffer>)).toEqual(Buffer.alloc(1_001, 7)); // It has no shared memory.
    expect(() => frameLength(Uint8Array.from([...magic, 0x20, 3, 0x1f, 0, 0]))).toThrow("broken zstd frame");
  });

  test("with a frame that is too long is not held in memory until it ends", () => {
    const skipped = Buffer.from("502a4d18ffffffff", "hex");
    expect(() => frameLength(skipped)).toThrow("has a zstd frame of 4294967303 bytes");
    const blocks = new Uint8Array(2 * MAX_LINE_BYTES + 2 ** 22);
    blocks.set([0x28, 0xb5, 0x2f, 0xfd, 0x20, 3]);
    for (let at = 6; at + 3 <= blocks.length; at += 3 + 0x1fffff) blocks.set([0xf8, 0xff, 0xff], at);
    expect(() => frameLength(blocks)).toThrow("too long");
  });
});

describe("what is refused:", () => {
  test("a recording of a later format, with both versions", async () => {
    const text = header().replace('"format":1', '"format":2').replace('"system":"test",', "");
    await expect(readText(text)).rejects.toThrow(
      /run\.ndjson is of format 2, and this version of envoi reads format 1: read it with a newer one\.$/,
    );
  });

  test.each([
    ["a text", "Dear all,\n", /run\.ndjson is no recording: its first line is no JSON\.$/],
    ["a line of a recording", `${messageLine(1)}\n`, /its first line is a message and no header\.$/],
  ])("%s", async (_, text, sentence) => {
    await expect(readText(text)).rejects.toThrow(sentence);
  });

  test("nothing at the place, and a glob that leads to two recordings", async () => {
    using folder = createFolder();
    await expect(readAll(folder.at("run.ndjson"))).rejects.toThrow(/^There is no file /);
    await expect(readAll(folder.at("*.ndjson"))).rejects.toThrow(/^There is no /);
    for (const name of ["a", "b"]) writeFileSync(folder.at(`${name}.ndjson`), header(name));
    await expect(readAll(folder.at("*.ndjson"))).rejects.toThrow(
      /leads to 2 recordings \(.*a\.ndjson, .*b\.ndjson, …\): name one\.$/,
    );
  });
});

test("members that are not known are ignored", async () => {
  const text = `${header().replace("{", '{"later":[],')}${messageLine(1).replace("{", '{"later":1,')}\n`;
  expect(await readText(text)).toMatchObject({ ids: [1], faults: [] });
});

test("a folder, a glob and a file lead to recordings, each with its parts in order; what is none is told", async () => {
  using folder = createFolder();
  for (const part of [1, 2, 10])
    writeFileSync(folder.at(part === 1 ? "run.ndjson" : `run.${part}.ndjson`), header("run", part));
  writeFileSync(folder.at("other.ndjson.zst"), frame(header("other")));
  writeFileSync(folder.at("run.11.ndjson"), '{"kind":');
  writeFileSync(folder.at("letter.ndjson"), "Dear all,\n");
  writeFileSync(folder.at("letter.txt"), "Dear all,\n");
  const inFolder = await findRecordings(folder.path);
  const names = inFolder.recordings.map(({ parts, torn }) => [parts.map(({ path }) => path), torn]);
  expect(names).toEqual([
    [[folder.at("other.ndjson.zst")], []],
    [["run.ndjson", "run.2.ndjson", "run.10.ndjson"].map(folder.at), [folder.at("run.11.ndjson")]],
  ]);
  expect(inFolder.refused.map(({ path }) => path)).toEqual([folder.at("letter.ndjson")]);
  const byGlob = await findRecordings(folder.at("run*"));
  const byFile = await findRecordings(folder.at("run.2.ndjson"));
  expect(byGlob.recordings).toEqual(inFolder.recordings.slice(1));
  expect(byFile).toEqual(byGlob);
});

test("a part that lies there twice is read once", async () => {
  using folder = createFolder();
  const { file } = openFile({ to: folder.at("run.ndjson") });
  file.append(messageLine(1), true);
  await file.close();
  copyFileSync(file.path, folder.at("run.copy.ndjson"));
  copyFileSync(file.path, folder.at("run.7.ndjson"));
  const { lines, reader } = await readAll(folder.at("run.ndjson"));
  expect(idsOf(lines)).toEqual([1]);
  expect(reader.faults.map(({ kind }) => kind)).toEqual(["broken"]);
});
