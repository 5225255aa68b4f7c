import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMessage, createSystem } from "envoi";
import { type FileSystemRef, itemsOf, resultOf, type SearchRequest, spawnCodeExecution } from "envoi/tools";
import { fillDirectory } from "../harness/file-samples";
import { disk, tmpfs } from "../harness/places";
import type { Readings } from "../harness/suite";
import { gapBeside } from "../harness/timer";
import { CODE, ran } from "./code";
import { withFiles } from "./files";

// What the probes about gaps run in a process of its own: requests at the limits of the tools, as their defaults are. Each takes
// what part of the limit it works at, in per cent.

const MB = 1024 * 1024;
const LIMIT = 10 * MB;
const fast = "none" in tmpfs ? disk : tmpfs;

/** A text that is there as a whole: one that was put together is copied by whoever looks at it first. */
const flat = (text: string): string => Buffer.from(text, "latin1").toString("latin1");

const partOf = (most: number, percent: number): number => Math.ceil((most * percent) / 100);

/** What a file actor replies, which must be this kind of a refusal where one is named. */
function expectTold(answer: Parameters<typeof resultOf>[0], kind = "done"): unknown {
  const told = resultOf(answer);
  const found = told.isOk() ? "done" : (told.error as { kind: string }).kind; // Both kinds of errors have one.
  if (found !== kind) throw new Error(`the reply was ${found}, and not ${kind}`);
  return told.isOk() ? told.value : undefined;
}

type Work = (files: FileSystemRef, folder: string) => Promise<void>;
const nothing = (): void => {};

const beside = (work: Work, prepare: (folder: string) => void = nothing): Promise<Readings> =>
  withFiles(fast, ({ files, folder }) =>
    gapBeside(
      () => prepare(folder),
      () => work(files, folder),
    ),
  );

export function refusedWrite(percent: number): Promise<Readings> {
  const content = flat("x".repeat(Math.max(LIMIT + 1, partOf(300 * MB, percent))));
  return beside(async (files) => void expectTold(await files.ask("write", { path: "a", content }), "too-large"));
}

export function write(percent: number): Promise<Readings> {
  const content = "\u65e5".repeat(partOf(LIMIT / 3, percent) - 1);
  return beside(async (files) => {
    const { size } = expectTold(await files.ask("write", { path: "a", content })) as { size: number };
    if (size !== content.length * 3) throw new Error(`${size} bytes were written`);
  });
}

export function edit(percent: number): Promise<Readings> {
  const lines = flat("\n".repeat(partOf(4 * MB, percent)));
  const edits = [{ oldText: flat(`x\n${lines}y`), newText: flat(`${lines}z${lines}`) }];
  return beside(
    async (files) => void expectTold(await files.ask("edit", { path: "a", edits })),
    (folder) => writeFileSync(join(folder, "a"), `x\r\n${lines}y`),
  );
}

export function change(percent: number): Promise<Readings> {
  const deep = "d/".repeat(partOf(500, percent));
  const paths = Array.from({ length: partOf(100, percent) }, (_, i) => `${deep}${i}`);
  return beside(
    async (files) => {
      const changes = paths.map((path) => ({ kind: "write" as const, path, content: "new" }));
      const reply = expectTold(await files.ask("change", { changes })) as { changes: unknown[] };
      if (reply.changes.length !== paths.length) throw new Error(`${reply.changes.length} files were changed`);
    },
    (folder) => {
      mkdirSync(join(folder, deep), { recursive: true });
      for (const path of paths) writeFileSync(join(folder, path), "old");
    },
  );
}

export function readLine(percent: number): Promise<Readings> {
  const lines = partOf(LIMIT, percent);
  return beside(
    async (files) => {
      const reply = expectTold(await files.ask("read", { path: "a", lines: { from: lines } }));
      const { total } = (reply as { lines: { total: number } }).lines;
      if (total !== lines) throw new Error(`${total} lines were counted`);
    },
    (folder) => writeFileSync(join(folder, "a"), "\n".repeat(lines)),
  );
}

async function expectItems(files: FileSystemRef, request: SearchRequest, matches: number): Promise<void> {
  let found = 0;
  for await (const { kind } of itemsOf(files.stream("search", request))) if (kind === "match") found++;
  if (found !== matches) throw new Error(`${found} lines were found`);
}

export function searchWithLinesAround(percent: number): Promise<Readings> {
  const lines = partOf(10_000, percent);
  return beside(
    (files) => expectItems(files, { text: "n", before: 20, after: 20, maxResults: 10_000 }, lines),
    (folder) => writeFileSync(join(folder, "a"), `${"n".repeat(999)}\n`.repeat(lines)),
  );
}

export function searchByHostileGlobs(percent: number): Promise<Readings> {
  const deep = "a/".repeat(100);
  const patterns = `${"**/a/".repeat(10)}b\n`.repeat(partOf(1_000, percent));
  const hostile = Array.from({ length: 19 }, () => `**/${"a/".repeat(20)}{*/,a}{*/,a}{*/,a}**b`);
  const request: SearchRequest = { text: "x", glob: [...hostile, "**/f"], exclude: hostile, gitignore: true };
  return beside(
    (files) => expectItems(files, request, 1),
    (folder) => {
      mkdirSync(join(folder, deep), { recursive: true });
      writeFileSync(join(folder, deep, "f"), "x");
      writeFileSync(join(folder, ".gitignore"), patterns);
    },
  );
}

export function list(percent: number): Promise<Readings> {
  const count = partOf(30_000, percent);
  let isFilled = false;
  return beside(
    async (files) => {
      const { entries } = expectTold(await files.ask("list", { details: true })) as { entries: unknown[] };
      if (entries.length !== Math.min(count, 10_000)) throw new Error(`${entries.length} entries were listed`);
    },
    (folder) => {
      if (!isFilled) fillDirectory(folder, count);
      isFilled = true;
    },
  );
}

export function remove(percent: number): Promise<Readings> {
  const count = partOf(30_000, percent);
  return beside(
    async (files) => {
      const reply = expectTold(await files.ask("delete", { path: "many", recursive: true }));
      const { deleted } = reply as { deleted: number };
      if (deleted !== count + 1) throw new Error(`${deleted} were deleted`);
    },
    (folder) => {
      rmSync(join(folder, "many"), { recursive: true, force: true });
      mkdirSync(join(folder, "many"));
      fillDirectory(join(folder, "many"), count);
    },
  );
}

/** Runs code in the default tier, and expects its value to have so many letters, or so many lines of logs. */
async function running(code: string, input: unknown, expected: number): Promise<Readings> {
  const system = createSystem();
  try {
    spawnCodeExecution(system, {});
    return await gapBeside(nothing, async () => {
      const payload = input === undefined ? { code } : { code, input };
      const { value } = ran(await system.router.ask(createMessage(CODE, "execute", payload)));
      if (value !== expected) throw new Error(`${String(value)} came of a run, and not ${expected}`);
    });
  } finally {
    await system.shutdown();
  }
}

export function codeInput(percent: number): Promise<Readings> {
  const values = Array.from({ length: partOf(130_000, percent) }, (_, i) => i);
  return running("input.length", values, values.length);
}

export function codeEscapes(percent: number): Promise<Readings> {
  const text = flat('"\n'.repeat(partOf(260_000, percent))); // Two bytes each, of which JSON makes four.
  return running("input.length", text, text.length);
}

export function codeSource(percent: number): Promise<Readings> {
  const lines = partOf(8_000, percent);
  return running(`let n = 0;\n${"n += 1;\n".repeat(lines)}n`, undefined, lines);
}

export function codeLogs(percent: number): Promise<Readings> {
  const lines = partOf(9_000, percent);
  return running(`for (let i = 0; i < ${lines}; i++) console.log("${"x".repeat(80)}"); ${lines}`, undefined, lines);
}
