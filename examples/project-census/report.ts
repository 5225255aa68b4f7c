import { MOST_ERRORS, MOST_WORDS } from "./aggregator";
import { type CensusResult, isFlawless } from "./census";
import { count, printable, shorten, size, table } from "./table";
import { SKIPPED } from "./walker";

/** What a report says of the command besides its result. */
export interface Asked {
  readonly folder: string;
  readonly all: boolean;
}

const SKIPPED_NAMES = [...SKIPPED].join(", ");
const WIDEST = 60;
const MOST_ROWS = 25;

const label = (text: string): string => shorten(printable(text), WIDEST);

/** The document that `--json` prints; its form is described in main.ts. */
export function jsonOf({ census, isComplete, seconds, audit }: CensusResult, { folder, all }: Asked): string {
  const messagesPerSecond = Math.round(audit.accepted / seconds);
  const run = { seconds, messages: audit, messagesPerSecond, flawless: isFlawless(audit) };
  const document = {
    schema: "envoi.project-census/2",
    folder,
    complete: isComplete,
    skippedNames: all ? [] : [...SKIPPED],
    ...census,
    run,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The report that people read. */
export function reportOf(result: CensusResult, asked: Asked): string {
  const parts = [
    heading(result, asked),
    languages(result),
    longestFiles(result),
    frequentWords(result),
    alsoFound(result),
    errors(result),
    messages(result),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function heading({ census, isComplete }: CensusResult, { folder, all }: Asked): string {
  const skipped = all
    ? "All folders were counted."
    : `Folders named ${SKIPPED_NAMES} were skipped: ${count(census.found.skippedFolders)} of them (--all counts them, too).`;
  const stopped = isComplete ? [] : ["It was stopped early: these are the figures so far."];
  return [`Census of ${printable(folder)}`, skipped, ...stopped].join("\n");
}

function languages({ census: { languages, totals } }: CensusResult): string {
  const rows = languages
    .slice(0, MOST_ROWS)
    .map((row) => [label(row.language), count(row.files), count(row.lines), size(row.bytes)]);
  const more = languages.length - rows.length;
  if (more > 0) rows.push([`… ${count(more)} more`, "", "", ""]);
  rows.push(["all text", count(totals.textFiles), count(totals.lines), size(totals.bytes)]);
  return table(["language", "files", "lines", "size"], rows);
}

function longestFiles({ census: { longestFiles } }: CensusResult): string {
  if (longestFiles.length === 0) return "";
  const rows = longestFiles.map(({ path, lines, bytes }) => [label(path), count(lines), size(bytes)]);
  return table(["longest files", "lines", "size"], rows);
}

function frequentWords({ census: { frequentWords, totals, notListed } }: CensusResult): string {
  if (frequentWords.length === 0) return "";
  const rows = frequentWords.map((row) => [row.word, count(row.count)]);
  rows.push([`all ${count(totals.distinctWords)} words`, count(totals.words)]);
  const capped = `\nAfter the first ${count(MOST_WORDS)} different words no new ones were kept: ${count(notListed.words)} words are in the total alone.`;
  return table(["most frequent words", "count"], rows) + (notListed.words > 0 ? capped : "");
}

function alsoFound({ census: { found, totals } }: CensusResult): string {
  return table(
    ["also found", "count"],
    [
      ["folders", count(totals.folders)],
      ["empty files (counted above)", count(found.emptyFiles)],
      [`binary files (${size(found.binaryBytes)}; no lines counted)`, count(found.binaryFiles)],
      ["links (not followed)", count(found.links)],
      ["FIFOs, sockets and devices (not opened)", count(found.specialFiles)],
      ["files and folders that vanished meanwhile", count(found.vanished)],
      ["unreadable files", count(found.unreadableFiles)],
      ["unreadable folders", count(found.unreadableFolders)],
      ["names that no path can say", count(found.unreadableNames)],
    ],
  );
}

function errors({ census: { errors, notListed } }: CensusResult): string {
  if (errors.length === 0) return "";
  const rows = errors.slice(0, MOST_ROWS).map(({ path, reason }) => `${label(path)}: ${printable(reason)}`);
  const more = errors.length - rows.length + notListed.errors;
  if (more > 0) rows.push(`… and ${count(more)} more (--json lists the first ${count(MOST_ERRORS)})`);
  return ["Could not be read:", ...rows].join("\n  ");
}

function messages({ audit, seconds }: CensusResult): string {
  const lines = [
    `${count(audit.accepted)} messages in ${seconds.toFixed(2)} s: ${count(Math.round(audit.accepted / seconds))} a second.`,
    "Each tell and each ask counts once, its reply does not; the time is that of the whole census, all reading included.",
  ];
  if (!isFlawless(audit)) {
    const { accepted, handled, failed, dead, queued, running } = audit;
    const isBalanced = accepted === handled + failed + dead + queued + running;
    lines.push(
      `NOT ALL WENT WELL: of ${count(accepted)} messages ${count(failed)} failed and ${count(dead)} were dead-lettered` +
        `${isBalanced ? "" : ", and the audit does not balance"}. Figures may be missing.`,
    );
  }
  return lines.join("\n");
}
