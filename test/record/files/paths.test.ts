import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystem } from "../../../src/index";
import { recorder } from "../../../src/record/index";
import { createFolder, headerOf, idsOf, messageLine, readAll, upTo } from "./folder";

const recording = (to: string, mode: "record" | "replay" = "record") => recorder(createSystem(), { to, mode });

test("a recording with the name of a later part of another one is refused: the other one would stop at it", () => {
  using folder = createFolder();
  expect(() => recording(folder.at("run.2.ndjson"))).toThrow(
    `The recording ${folder.at("run.2.ndjson")} has the name of a later part of another one: write ${folder.at("run-2.ndjson")}.`,
  );
  expect(() => recording(folder.at("run.2.ndjson.zst"))).toThrow("run-2.ndjson.");
  expect(() => recording(folder.at("run.2"))).toThrow(`write ${folder.at("run-2")}.`);
  expect(readdirSync(folder.path)).toEqual([]);
});

test("a folder is refused, and the file in it is named", () => {
  using folder = createFolder();
  const better = `is a folder: write the file in it, such as ${folder.at("run.ndjson")}.`;
  expect(() => recording(folder.path)).toThrow(better);
  expect(() => recording(`${folder.path}/`)).toThrow(better);
  expect(() => recording(`${folder.at("new")}/`)).toThrow(`such as ${folder.at("new/run.ndjson")}.`);
  expect(readdirSync(folder.path)).toEqual([]);
});

test("a device and a pipe are refused when they are to be written, and when they are to be read", () => {
  using folder = createFolder();
  const pipe = folder.at("pipe.ndjson");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  for (const path of ["/dev/null", pipe]) {
    expect(() => recording(path)).toThrow(
      `The recording ${path} is a pipe or a device, and no file; to record nothing, write mode: "off".`,
    );
    expect(() => recording(path, "replay")).toThrow(`${path} is no file, but a folder, a pipe or a device.`);
  }
  expect(() => recording(folder.path, "replay")).toThrow("is no file, but a folder");
});

test("a frame that comes in many pieces is read as one, and those behind it", async () => {
  using folder = createFolder();
  // Random text is not compressed, so the first frame has many times the bytes of a piece that is read.
  const noise = Array.from({ length: 60_000 }, () => crypto.randomUUID()).join("");
  const long = JSON.stringify({ ...JSON.parse(messageLine(1)), payload: noise });
  const texts = [`${JSON.stringify(headerOf())}\n`, `${long}\n`, ...upTo(200).map((id) => `${messageLine(id + 1)}\n`)];
  const path = join(folder.path, "run.ndjson.zst");
  writeFileSync(path, Buffer.concat(texts.map((text) => Bun.zstdCompressSync(text))));
  const { lines, reader } = await readAll(path);
  expect({ ids: idsOf(lines), faults: reader.faults }).toEqual({ ids: upTo(201), faults: [] });
  expect(lines[1]).toMatchObject({ payload: noise });
});
