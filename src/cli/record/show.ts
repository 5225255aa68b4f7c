import { type HeaderLine, type RecordingLine, type RecordingReader, readRecording } from "../../record/index";
import { flag, numberOf, readOptions, text, UsageError } from "../arguments";
import { plain, plainJson } from "../plain";
import type { Status, Terminal } from "../terminal";
import { detailsOf } from "./details";
import { exchangesOf } from "./exchanges";
import { tellFaults } from "./faults";
import { durationOf, momentOf, outcomeOf, summaryOf } from "./summary";
import { familyOf, showTree } from "./tree";

/** Shows the messages of a recording, each on one line with its outcome. */
export async function show(argv: readonly string[], terminal: Terminal): Promise<Status> {
  const options = { json: flag, id: text, "follow-causes": flag };
  const { values, positionals } = readOptions({ args: [...argv], options, allowPositionals: true });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new UsageError("show takes one file: envoi record show FILE.");
  const id = values.id === undefined ? undefined : numberOf("--id", values.id);
  const isTree = values["follow-causes"] === true;
  const recording = readRecording(file);
  const family = isTree && id !== undefined ? await familyOf(recording, id) : undefined;
  if (values.json === true) {
    const isWanted = (line: RecordingLine): boolean =>
      id === undefined || (family === undefined ? idOf(line) === id : family.has(idOf(line)));
    for await (const line of recording) if (isWanted(line)) await terminal.out(`${plainJson(line)}\n`);
  } else if (isTree) await showTree(recording, family, terminal);
  else if (id === undefined) await showAll(recording, terminal);
  else if (!(await showOne(recording, id, terminal))) {
    terminal.err(plain(`There is no message ${id} in ${file}.`).concat("\n"));
    return 1;
  }
  tellFaults(recording, terminal);
  return 0;
}

const idOf = (line: RecordingLine): number =>
  line.kind === "message" ? line.id : line.kind === "item" || line.kind === "end" ? line.of : 0;

async function showAll(recording: RecordingReader, terminal: Terminal): Promise<void> {
  for await (const told of exchangesOf(recording)) {
    if (told.kind === "header") await terminal.out(`${titleOf(told.header)}\n`);
    else if (told.kind === "dropped") {
      const { at, lines, messages } = told;
      await terminal.out(`${momentOf(at)}       – ${lines} lines were lost here, ${messages} of them messages\n`);
    } else {
      const { id, at } = told.exchange.message;
      const shown = told.kind === "message" ? summaryOf(told.exchange) : `⇒ ${outcomeOf(told.exchange)}`;
      await terminal.out(`${momentOf(at)} ${String(id).padStart(7)} ${shown}\n`);
    }
  }
  await terminal.out(recording.isClosed ? "The recording ended in order.\n" : "The recording has no end.\n");
}

const titleOf = ({ system, startedAt, envoi, runtime, part }: HeaderLine): string =>
  plain(
    `System ${system || "without a name"}, from ${startedAt}, by envoi ${envoi} on ${runtime}${part === 1 ? "" : `, from part ${part}`}. Seconds, id, message:`,
  );

async function showOne(recording: RecordingReader, id: number, terminal: Terminal): Promise<boolean> {
  let at: number | undefined;
  for await (const line of recording) {
    if (idOf(line) !== id) continue;
    if (line.kind === "message") at = line.at;
    const moment = at === undefined || line.kind === "message" || !("at" in line) ? "" : durationOf(line.at - at);
    await terminal.out(detailsOf(line, moment));
  }
  return at !== undefined;
}
