import { describe, expect, test } from "bun:test";
import { appendFileSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { createSystem, defineProtocol } from "../../../src/index";
import { readRecording, recorder } from "../../../src/record/index";
import { headerOf, readTape } from "../../../src/record/replay/read-sync";
import { tapeOf } from "../../../src/record/replay/replay";
import { folders } from "../recorded";

const folder = folders();
const Pinger = defineProtocol("pinger", { ping: {} });

/** A recording of ten tells. */
async function recorded(compress: "zstd" | false = false): Promise<string> {
  const to = `${folder()}/run.ndjson`;
  const system = createSystem();
  const recording = recorder(system, { to, compress });
  const pinger = system.spawn("pinger", Pinger, () => ({ ping() {} }));
  for (let i = 0; i < 10; i++) pinger.tell("ping");
  await system.stop(pinger, { drain: true });
  await system.shutdown();
  return recording.path ?? to;
}

describe("a recording that is read at once", () => {
  test("gives its header without being read whole", async () => {
    const path = await recorded();
    truncateSync(path, 8 * 2 ** 30); // More than one buffer takes.
    expect(headerOf(path)?.part).toBe(1);
  });

  test.each([false, "zstd"] as const)(
    "is refused beyond its bound, with what to do (compressed: %p)",
    async (compress) => {
      const path = await recorded(compress);
      expect(readTape(path).messages.size).toBe(10);
      expect(() => readTape(path, 500)).toThrow("is too large to be held in memory: replay a recording of less");
      expect((await tapeOf(path)).messages.size).toBe(10);
      await expect(tapeOf(path, 500)).rejects.toThrow("is too large to be held in memory: replay a recording of less");
    },
  );

  test("is bounded by all of its parts together, however well they are compressed", async () => {
    const path = await recorded("zstd");
    const room = readFileSync(path).length * 100;
    for (let frame = 0; frame < 50; frame++) appendFileSync(path, Bun.zstdCompressSync(Buffer.alloc(1_000_000, "\n")));
    expect(() => readTape(path, room)).toThrow("is too large");
    await expect(tapeOf(path, room)).rejects.toThrow("is too large");
  });

  test("has a copy of a part once, and says so", async () => {
    const path = await recorded();
    copyFileSync(path, path.replace(".ndjson", ".2.ndjson"));
    const tape = readTape(path);
    expect(tape.messages.size).toBe(10);
    expect(tape.notes).toEqual(["One place of the files cannot be read."]);
  });

  test("whose first frame is broken is no recording, in a sentence", async () => {
    const path = await recorded("zstd");
    const bytes = readFileSync(path);
    bytes.fill(0xff, 12, 20);
    writeFileSync(path, bytes);
    expect(() => readTape(path)).toThrow(/is no recording: its first line (?:has|ends)/);
    await expect(Array.fromAsync(readRecording(path))).rejects.toThrow("is no recording: it has a broken zstd frame.");
  });

  test("loses a broken frame alone", async () => {
    const path = await recorded("zstd");
    const broken = Bun.zstdCompressSync(Buffer.alloc(1_000, "x"));
    const whole = readFileSync(path);
    broken.fill(0xff, broken.length - 6, broken.length - 3);
    appendFileSync(path, broken);
    appendFileSync(path, Bun.zstdCompressSync("{}\n"));
    expect(readFileSync(path).length).toBeGreaterThan(whole.length);
    const tape = readTape(path);
    expect(tape.messages.size).toBe(10);
    expect(tape.notes).toEqual(["2 places of the files cannot be read."]);
  });
});

test("an empty next part, as an exit leaves it, is no fault of a recording", async () => {
  const path = await recorded();
  writeFileSync(path.replace(".ndjson", ".2.ndjson"), "");
  const reader = readRecording(path);
  expect((await Array.fromAsync(reader)).length).toBeGreaterThan(10);
  expect(reader.faults).toEqual([]);
});

test.each([
  ["a frame", "zstd", (bytes: Uint8Array) => bytes.fill(0xff, 12, 20)],
  ["the beginning of the file", "zstd", (bytes: Uint8Array) => bytes.fill(0, 0, 8)],
  ["a line", false, (bytes: Uint8Array) => bytes.fill(0, 0, 8)],
] as const)("a next part whose header is lost, by %s, is told", async (_, compress, harm) => {
  const path = await recorded(compress);
  const next = path.replace(".ndjson", ".2.ndjson");
  writeFileSync(next, harm(new Uint8Array(readFileSync(path))));
  const reader = readRecording(path);
  expect((await Array.fromAsync(reader)).length).toBeGreaterThan(10);
  expect(reader.faults).toEqual([
    { kind: "broken", path: next, line: 1, sentence: expect.stringContaining(`${next} is no recording: it`) },
  ]);
  expect(readTape(path).notes).toEqual(["One place of the files cannot be read."]);
});
