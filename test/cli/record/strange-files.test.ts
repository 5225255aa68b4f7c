import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { readPart } from "../../../src/record/files/read-part";
import { headerOf } from "../../record/files/folder";
import { createFolder, run, write } from "./kit";

test("a file's name reaches the terminal without its escapes, also where it is refused", async () => {
  using folder = createFolder();
  write(folder.at("a\u001b[31m.ndjson"), [], "a");
  write(folder.at("b\u009b2J.ndjson"), [], "b");
  writeFileSync(folder.at("c\u0007.ndjson"), "{}\n");
  const several = await run("show", folder.at("*.ndjson"));
  expect(several.status).toBe(2);
  expect(several.err).toContain("a\\u001b[31m.ndjson");
  const none = await run("show", folder.at("c\u0007.ndjson"));
  expect(none.err).toContain("c\\u0007.ndjson is no recording");
  const nowhere = await run("show", folder.at("d\u0007.ndjson"));
  const noId = await run("show", folder.at("a\u001b[31m.ndjson"), "--id", "7");
  for (const { err } of [several, none, nowhere, noId]) expect(err.trimEnd()).not.toMatch(/\p{Cc}/u);
});

test("a pipe or a device is refused at once, beside recordings that are read", async () => {
  using folder = createFolder();
  write(folder.at("run.ndjson"), [], "run");
  expect(Bun.spawnSync(["mkfifo", folder.at("run.2.ndjson")]).exitCode).toBe(0);
  expect(Bun.spawnSync(["ln", "-s", "/dev/zero", folder.at("zero.ndjson")]).exitCode).toBe(0);
  const { status, out, err } = await run("ls", folder.path);
  expect({ status, rows: out.split("\n").length }).toEqual({ status: 0, rows: 3 });
  expect(err).toContain("run.2.ndjson is no file, but a pipe or a device.");
  expect(err).toContain("zero.ndjson is no file, but a pipe or a device.");
  expect((await run("show", folder.at("run.ndjson"))).status).toBe(0);
  expect((await run("show", folder.at("zero.ndjson"))).status).toBe(2);
});

test("a compressed file of very many lines is read in pieces that fit into memory", async () => {
  using folder = createFolder();
  const path = folder.at("run.ndjson.zst");
  const header = Bun.zstdCompressSync(`${JSON.stringify(headerOf())}\n`);
  writeFileSync(path, Buffer.concat([header, Bun.zstdCompressSync(Buffer.alloc(2 ** 26, "\n"))]));
  let pieces = 0;
  for await (const lines of readPart(path)) {
    expect(lines.length).toBeLessThanOrEqual(1_000);
    if (++pieces === 10) break;
  }
  expect(pieces).toBe(10);
});
