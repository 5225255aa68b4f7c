import { type MessageLine, type RecordingLine, readRecording } from "../../record/index";
import { flag, readOptions, text, UsageError } from "../arguments";
import { plain, plainJson } from "../plain";
import type { Status, Terminal } from "../terminal";
import { detailsOf } from "./details";
import { tellFaults } from "./faults";
import { type Needle, needleOf } from "./needle";
import { durationOf, headOf, momentOf } from "./summary";

/** Finds lines of messages by a text in their values. */
export async function grep(argv: readonly string[], terminal: Terminal): Promise<Status> {
  const flags = { json: flag, regex: flag, "ignore-case": flag };
  const options = { ...flags, operation: text, actor: text };
  const { values, positionals } = readOptions({ args: [...argv], options, allowPositionals: true });
  const [pattern, ...files] = positionals;
  if (pattern === undefined || files.length === 0) {
    throw new UsageError('grep takes a pattern and files: envoi record grep PATTERN FILE…; the pattern "" fits all.');
  }
  const needle = needleOf(pattern, values.regex === true, values["ignore-case"] === true);
  const isWanted = filterOf(values.operation, values.actor);
  let found = 0;
  for (const file of files) {
    const recording = readRecording(file);
    const name = files.length > 1 ? `${plain(file)}: ` : "";
    for await (const { line, message } of findIn(recording, needle, isWanted)) {
      found++;
      await terminal.out(values.json === true ? `${plainJson(line)}\n` : `${name}${shown(line, message)}`);
    }
    tellFaults(recording, terminal);
  }
  return found > 0 ? 0 : 1;
}

/** @throws UsageError for an actor that is no pattern. */
function filterOf(operation: string | undefined, actor: string | undefined): (message: MessageLine) => boolean {
  const fits = actor === undefined ? undefined : needleOf(`^${literal(actor)}$`, true, false);
  return (message) =>
    (operation === undefined || message.operation === operation) &&
    (fits === undefined || fits(message.to) || (message.from !== undefined && fits(message.from)));
}

/** A pattern of addresses as a regular expression: `*` stands for any letters. The address may be written without `@(…)`. */
function literal(actor: string): string {
  const address = actor.startsWith("@") || actor.startsWith("*") ? actor : `@(${actor})`;
  return address.replace(/[\\^$.*+?()[\]{}|]/g, (letter) => (letter === "*" ? ".*" : `\\${letter}`));
}

async function* findIn(
  recording: AsyncIterable<RecordingLine>,
  needle: Needle,
  isWanted: (message: MessageLine) => boolean,
): AsyncGenerator<{ readonly line: RecordingLine; readonly message: MessageLine }> {
  /** The messages that are wanted and have not ended, without their values. */
  const open = new Map<number, MessageLine>();
  for await (const line of recording) {
    if (line.kind === "message") {
      if (!isWanted(line)) continue;
      const { payload, metadata: _, ...rest } = line;
      open.set(line.id, rest);
      if (has(needle, payload)) yield { line, message: line };
    } else if (line.kind === "item" || line.kind === "end") {
      const message = open.get(line.of);
      if (message === undefined) continue;
      if (line.kind === "end" && line.outcome !== "stashed") open.delete(line.of);
      const isFound = has(needle, line.value) || (line.kind === "end" && has(needle, line.error));
      if (isFound) yield { line, message };
    }
  }
}

const has = (needle: Needle, value: unknown): boolean => needle(value === undefined ? "" : JSON.stringify(value));

function shown(line: RecordingLine, message: MessageLine): string {
  if (line.kind === "message") return `${momentOf(line.at)} ${line.id} ${headOf(message)}\n`;
  if (!("of" in line)) return "";
  const text = detailsOf(line, durationOf(line.at - message.at))
    .trimEnd()
    .replaceAll(/\n */g, " ");
  return `${momentOf(line.at)} ${line.of} ${plain(`${message.pattern} ${message.operation}`)} ⇒ ${text}\n`;
}
