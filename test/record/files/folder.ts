import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/index";
import type { RecordingFileOptions, RecordingTrouble } from "../../../src/record/files/options";
import { RecordingReader } from "../../../src/record/files/read-recording";
import { RecordingFile } from "../../../src/record/files/recording-file";
import type { HeaderLine, RecordingLine } from "../../../src/record/format";

/** A folder that is removed at the end of its block. */
export function createFolder(): Disposable & { readonly path: string; readonly at: (name: string) => string } {
  const path = mkdtempSync(join(tmpdir(), "envoi-record-"));
  return {
    path,
    at: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

let recordings = 0;

export function headerOf(recording = `recording-${++recordings}`): HeaderLine {
  const versions = { envoi: "0.1.0", runtime: "bun" };
  return {
    kind: "header",
    format: 1,
    recording,
    part: 1,
    ...versions,
    system: "test",
    startedAt: "2026-01-01T00:00:00.000Z",
    seed: 1,
  };
}

/** A file with the troubles that it told. */
export function openFile(options: Partial<RecordingFileOptions> & { readonly to: string }) {
  const troubles: RecordingTrouble[] = [];
  const header = headerOf();
  const file = new RecordingFile({
    clock: systemClock,
    header: () => header,
    onTrouble: (trouble) => troubles.push(trouble),
    ...options,
  });
  return { file, troubles };
}

/** The text of a message, with padding up to so many bytes. */
export function messageLine(id: number, bytes = 0): string {
  const line = { kind: "message", id, at: id, pattern: "tell", to: "@(a)", operation: "say", payload: "" };
  const length = JSON.stringify(line).length;
  return JSON.stringify({ ...line, payload: "x".repeat(Math.max(bytes - length - 1, 0)) });
}

export async function readAll(where: string): Promise<{ lines: RecordingLine[]; reader: RecordingReader }> {
  const reader = new RecordingReader(where);
  return { lines: await Array.fromAsync(reader), reader };
}

export const idsOf = (lines: readonly RecordingLine[]): number[] =>
  lines.flatMap((line) => (line.kind === "message" ? [line.id] : []));

/** The numbers from 1. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
