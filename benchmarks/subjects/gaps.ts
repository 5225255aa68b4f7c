import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystem } from "envoi";
import { type FileSystemRef, itemsOf, resultOf, spawnCodeExecution } from "envoi/tools";
import { fillDirectory } from "../harness/file-samples";
import type { Readings } from "../harness/suite";
import { gapBeside } from "../harness/timer";
import { execute, ran } from "./code";
import { fast, withFiles } from "./files";

// Requests at the limits of the tools, as their defaults are, each in a process of its own. Each takes what part of the limit it works
// at, in per cent.

const MB = 1024 * 1024;
const LIMIT = 10 * MB;

/** A text that is there as a whole: one that was put together is copied by whoever looks at it first. */
const flat = (text: string): string => Buffer.from(text, "latin1").toString("latin1");

const partOf = (most: number, percent: number): number => Math.ceil((most * percent) / 100);

function expectCount(found: number | undefined, due: number): void {
  if (found !== due) throw new Error(`${found} were done or found, where ${due} were due`);
}

type Work = (files: FileSystemRef) => Promise<void>;

const beside = (work: Work, prepare: (folder: string) => void = () => {}): Promise<Readings> =>
  withFiles(fast, ({ files, folder }) =>
    gapBeside(
      () => prepare(folder),
      () => work(files),
    ),
  );

export function write(percent: number): Promise<Readings> {
  const content = "\u65e5".repeat(partOf(LIMIT / 3, percent) - 1);
  return beside(async (files) => {
    const { size } = resultOf(await files.ask("write", { path: "a", content }))._unsafeUnwrap();
    expectCount(size, content.length * 3);
  });
}

export function edit(percent: number): Promise<Readings> {
  const lines = flat("\n".repeat(partOf(4 * MB, percent)));
  const edits = [{ oldText: flat(`x\n${lines}y`), newText: flat(`${lines}z${lines}`) }];
  return beside(
    async (files) => void resultOf(await files.ask("edit", { path: "a", edits }))._unsafeUnwrap(),
    (folder) => writeFileSync(join(folder, "a"), `x\r\n${lines}y`),
  );
}

export function searchWithLinesAround(percent: number): Promise<Readings> {
  const lines = partOf(10_000, percent);
  return beside(
    async (files) => {
      const request = { text: "n", before: 20, after: 20, maxResults: 10_000 };
      let found = 0;
      for await (const { kind } of itemsOf(files.stream("search", request))) if (kind === "match") found++;
      expectCount(found, lines);
    },
    (folder) => writeFileSync(join(folder, "a"), `${"n".repeat(999)}\n`.repeat(lines)),
  );
}

export function remove(percent: number): Promise<Readings> {
  const count = partOf(30_000, percent);
  return beside(
    async (files) => {
      const deleted = resultOf(await files.ask("delete", { path: "many", recursive: true }));
      expectCount(deleted._unsafeUnwrap().deleted, count + 1);
    },
    (folder) => {
      mkdirSync(join(folder, "many"));
      fillDirectory(join(folder, "many"), count);
    },
  );
}

export function list(percent: number): Promise<Readings> {
  const count = partOf(10_000, percent);
  return beside(
    async (files) => {
      const listed = resultOf(await files.ask("list", { path: "" }));
      expectCount(listed._unsafeUnwrap().entries.length, count);
    },
    (folder) => fillDirectory(folder, count),
  );
}

/** A file that is a hole. */
export function readStream(percent: number): Promise<Readings> {
  const bytes = partOf(1e9, percent);
  return beside(
    async (files) => {
      let read = 0;
      for await (const piece of itemsOf(files.stream("readStream", { path: "a" }))) read += piece.length;
      expectCount(read, bytes);
    },
    (folder) => {
      writeFileSync(join(folder, "a"), "");
      truncateSync(join(folder, "a"), bytes);
    },
  );
}

/** Runs code in the default tier, and expects its value to have so many letters, or so many lines of logs. */
async function running(code: string, input: unknown, expected: number): Promise<Readings> {
  const system = createSystem();
  spawnCodeExecution(system, {});
  const work = async () => expectCount(Number(ran(await execute(system.router, code, input)).value), expected);
  return gapBeside(() => {}, work).finally(() => system.shutdown());
}

export function codeInput(percent: number): Promise<Readings> {
  const values = Array.from({ length: partOf(130_000, percent) }, (_, i) => i);
  return running("input.length", values, values.length);
}

export function codeSource(percent: number): Promise<Readings> {
  const lines = partOf(8_000, percent);
  return running(`let n = 0;\n${"n += 1;\n".repeat(lines)}n`, undefined, lines);
}
