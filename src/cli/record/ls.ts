import { stat } from "node:fs/promises";
import { findRecordings, type RecordingParts } from "../../record/files/find";
import { readRecording } from "../../record/index";
import { flag, readOptions } from "../arguments";
import { plain, plainJson } from "../plain";
import type { Status, Terminal } from "../terminal";
import { durationOf } from "./summary";

/** The line about a recording. */
interface Row {
  readonly file: string;
  readonly parts: number;
  readonly startedAt: string;
  /** Milliseconds from the beginning to the last line. */
  readonly lasts: number;
  readonly messages: number;
  readonly bytes: number;
  readonly system: string;
  /** Messages that were lost as they came too fast. */
  readonly lost: number;
  /** Calls of actors outside that were under way when the recording ended: a replay has no answer to them. */
  readonly unanswered: number;
  /** `whole`, `torn`, `broken`, `missing`, or `no end`: it is being written, or its process ended otherwise. */
  readonly state: string;
}

/** Lists the recordings of folders. */
export async function ls(argv: readonly string[], terminal: Terminal): Promise<Status> {
  const { values, positionals } = readOptions({ args: [...argv], options: { json: flag }, allowPositionals: true });
  const rows: Row[] = [];
  for (const where of positionals.length === 0 ? ["."] : positionals) {
    const { recordings, refused } = await findRecordings(where);
    for (const recording of recordings) rows.push(await rowOf(recording));
    for (const { error } of refused) terminal.err(`${plain(error.message)}\n`);
  }
  if (values.json === true) for (const row of rows) await terminal.out(`${plainJson(row)}\n`);
  else if (rows.length === 0)
    await terminal.out(
      "There are no recordings here. Folders below are not looked into; a glob is: ls '**/*.ndjson'.\n",
    );
  else await terminal.out(tableOf(rows));
  return 0;
}

async function rowOf({ parts }: RecordingParts): Promise<Row> {
  const [{ path: file, header }] = parts;
  const recording = readRecording(file);
  let [messages, lost, lasts] = [0, 0, 0];
  const waiting = new Set<number>();
  for await (const line of recording) {
    if (line.kind === "message") {
      messages++;
      // A call that a waiting call has led to is a part of it.
      const isOwn = line.cause === undefined || !waiting.has(line.cause);
      if (line.world === true && line.pattern !== "tell" && isOwn) waiting.add(line.id);
    } else if (line.kind === "end") {
      if (line.outcome !== "abandoned" && line.outcome !== "stashed") waiting.delete(line.of);
    } else if (line.kind === "dropped") lost += line.messages;
    if (line.kind !== "header") lasts = Math.max(lasts, line.at);
  }
  const sizes = await Promise.all(parts.map(async ({ path }) => (await stat(path)).size));
  const kinds = new Set(recording.faults.map(({ kind }) => kind));
  const fault = (["broken", "missing", "torn"] as const).find((kind) => kinds.has(kind));
  return {
    file,
    parts: parts.length,
    startedAt: header.startedAt,
    lasts,
    messages,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    system: header.system,
    lost,
    unanswered: waiting.size,
    state: fault ?? (recording.isClosed ? "whole" : "no end"),
  };
}

function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ file, parts, startedAt, lasts, messages, bytes, system, lost, unanswered, state }) => [
    plain(file),
    String(parts),
    plain(startedAt),
    durationOf(lasts),
    String(messages),
    sizeOf(bytes),
    plain(system),
    [
      state,
      ...(lost === 0 ? [] : [`${lost} lost`]),
      ...(unanswered === 0 ? [] : [`${unanswered} ${unanswered === 1 ? "call" : "calls"} outside without end`]),
    ].join(", "),
  ]);
  const table = [["FILE", "PARTS", "BEGAN", "LASTED", "MESSAGES", "SIZE", "SYSTEM", "STATE"], ...cells];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const isNumber = (column: number): boolean => [1, 3, 4, 5].includes(column);
  return table
    .map((row) =>
      row
        .map((cell, column) =>
          isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd()
        .concat("\n"),
    )
    .join("");
}

function sizeOf(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1_024)), units.length - 1);
  return `${Number((bytes / 1_024 ** power).toPrecision(3))} ${units[power]}`;
}
