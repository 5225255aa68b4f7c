import { diffArrays, structuredPatch } from "diff";
import { type RecordingReader, readRecording } from "../../record/index";
import { flag, readOptions, texts, UsageError } from "../arguments";
import { plain, plainJson } from "../plain";
import type { Status, Terminal } from "../terminal";
import { type Compared, comparable, contentsOf, type How } from "./compared";
import { tellFaults } from "./faults";

/** Messages that are shown; the others are counted. */
const MOST_SHOWN = 100;
/** Edits that the messages of two recordings, and the lines of two messages, are matched by at most. */
const MOST_EDITS = 2_000;

/** Two messages that differ, or one that only one side has. */
interface Difference {
  readonly a: Compared | undefined;
  readonly b: Compared | undefined;
}

/** Compares the messages of two recordings. Times, ids, and what messages came beside are left out. */
export async function diff(argv: readonly string[], terminal: Terminal): Promise<Status> {
  const options = { ignore: texts, metadata: flag };
  const { values, positionals } = readOptions({ args: [...argv], options, allowPositionals: true });
  const [a, b, ...others] = positionals;
  if (a === undefined || b === undefined || others.length > 0) {
    throw new UsageError("diff takes two files: envoi record diff A B.");
  }
  const ignored = [...(values.ignore ?? []), ...(values.metadata === true ? [] : ["metadata"])].map((path) =>
    path.split("."),
  );
  const [left, right] = [readRecording(a), readRecording(b)];
  const [key, other] = [await keyOf(left), await keyOf(right)];
  const sharesKey = key === undefined || other === undefined || key === other;
  if (!sharesKey) terminal.err("The recordings have hashes by different keys: redacted values count as the same.\n");
  const how: How = { ignored, sharesKey };
  const [before, after] = [await listOf(left, how), await listOf(right, how)];
  const { differences, same } = compare(before, after);
  tellFaults(left, terminal);
  tellFaults(right, terminal);
  const shown = differences.slice(0, MOST_SHOWN);
  if (shown.length > 0) await terminal.out(`--- ${plain(a)}\n+++ ${plain(b)}\n`);
  const [olds, news] = [
    await textsOf(left, new Set(shown.flatMap((each) => each.a?.id ?? [])), how),
    await textsOf(right, new Set(shown.flatMap((each) => each.b?.id ?? [])), how),
  ];
  for (const each of shown) await terminal.out(told(each, olds, news));
  await terminal.out(sumOf(differences, same));
  return differences.length > 0 ? 1 : 0;
}

/** The id of the key of a recording's hashes. */
async function keyOf(recording: RecordingReader): Promise<string | undefined> {
  for await (const line of recording) return line.kind === "header" ? line.key : undefined;
  return undefined;
}

async function listOf(recording: RecordingReader, how: How): Promise<Compared[]> {
  const list: Compared[] = [];
  for await (const { id, key, content } of contentsOf(recording)) {
    list.push({ id, key, hash: Bun.hash(JSON.stringify(comparable(content, how))).toString(36) });
  }
  return list.toSorted((one, other) => one.id - other.id);
}

/** Matches messages by who sent what to whom, in order; those that match are the same if their hashes are. */
function compare(before: readonly Compared[], after: readonly Compared[]) {
  const differences: Difference[] = [];
  let [same, at, bt] = [0, 0, 0];
  const pair = (count: number): void => {
    for (let index = 0; index < count; index++) {
      const [a, b] = [before[at++], after[bt++]];
      if (a?.hash === b?.hash) same++;
      else differences.push({ a, b });
    }
  };
  const [olds, news] = [before.map(({ key }) => key), after.map(({ key }) => key)];
  const changes = diffArrays(olds, news, { maxEditLength: MOST_EDITS }) ?? apart(olds, news);
  for (const { added, removed, count } of changes) {
    if (removed === true)
      for (let index = 0; index < count; index++) differences.push({ a: before[at++], b: undefined });
    else if (added === true)
      for (let index = 0; index < count; index++) differences.push({ a: undefined, b: after[bt++] });
    else pair(count);
  }
  return { differences, same };
}

/** The changes of recordings that are too different to be matched: the same beginning, and then all of both. */
function apart(olds: readonly string[], news: readonly string[]) {
  let start = 0;
  while (start < olds.length && olds[start] === news[start]) start++;
  return [
    { added: false, removed: false, count: start },
    { added: false, removed: true, count: olds.length - start },
    { added: true, removed: false, count: news.length - start },
  ];
}

/** The content of some messages, as lines of JSON. */
async function textsOf(
  recording: RecordingReader,
  ids: ReadonlySet<number>,
  how: How,
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  if (ids.size === 0) return found;
  for await (const { id, content } of contentsOf(recording, (each) => ids.has(each))) {
    found.set(id, `${plainJson(comparable(content, how), 2)}\n`);
  }
  return found;
}

function told({ a, b }: Difference, olds: ReadonlyMap<number, string>, news: ReadonlyMap<number, string>): string {
  const [old, fresh] = [olds.get(a?.id ?? 0) ?? "", news.get(b?.id ?? 0) ?? ""];
  if (a === undefined || b === undefined) {
    const [sign, text] = a === undefined ? ["+", fresh] : ["-", old];
    const lines = text.trimEnd().split("\n");
    return `@@ message ${(a ?? b)?.id} is only in ${sign === "-" ? "the first" : "the second"}: ${plain((a ?? b)?.key ?? "")} @@\n${lines.map((line) => `${sign}${line}\n`).join("")}`;
  }
  const head = `@@ message ${a.id}${a.id === b.id ? "" : ` and ${b.id}`}: ${plain(a.key)} @@\n`;
  const patch = structuredPatch("", "", old, fresh, undefined, undefined, { context: 3, maxEditLength: MOST_EDITS });
  if (patch === undefined) return `${head}They have little in common: show both by --id.\n`;
  return head + patch.hunks.map(({ lines }) => lines.map((line) => `${line}\n`).join("")).join(" …\n");
}

function sumOf(differences: readonly Difference[], same: number): string {
  const [first, second] = [
    differences.filter(({ b }) => b === undefined),
    differences.filter(({ a }) => a === undefined),
  ];
  const messages = (count: number): string => `${count} ${count === 1 ? "message" : "messages"}`;
  if (differences.length === 0) return `The same: ${messages(same)}.\n`;
  const changed = differences.length - first.length - second.length;
  const more = differences.length > MOST_SHOWN ? ` The first ${MOST_SHOWN} are shown.` : "";
  return `${messages(changed)} ${changed === 1 ? "differs" : "differ"}, ${first.length} only in the first, ${second.length} only in the second; ${same} are the same.${more}\n`;
}
