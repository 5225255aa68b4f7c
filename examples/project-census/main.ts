/**
 * The census of a project: `bun run demo:census [folder] [--all] [--readers N] [--json]`.
 *
 *   main ── next ──▶ walker ───── folder, oddity, unreadable (tell) ─────▶ aggregator
 *     │                │ list                                                  ▲
 *     │                ▼                                                       │
 *     │              files                                                     │
 *     │                ▲                                                       │
 *     │                │ read, readStream                                      │
 *     ├──── read ──▶ readers ×4 ── words, text (ask), binary, … (tell) ────────┤
 *     └──────────────────────────── progress, census (ask) ────────────────────┘
 *
 * Each arrow is a typed message. `files` is the file actor of envoi/tools: it serves the folder and nothing outside of
 * it, whoever swaps links below it meanwhile. The others are those of protocols.ts. census.ts puts the actors together;
 * walker.ts, reader.ts and aggregator.ts are what they do; the rest is the command around them.
 *
 * What is counted:
 *   - files: regular files of any name, hidden ones included. A file is text if it is valid UTF-8 without a NUL among
 *     its first 8,192 bytes, and binary otherwise; lines, words and languages are those of text files.
 *   - lines: the line feeds, and what follows the last one. CR LF is one line end; a CR alone is none.
 *   - words: 2 letters or more of any alphabet, in lower case; runs of letters longer than 64 are left out. Writing
 *     without spaces gives one word for each run.
 *   - links are counted and never looked through, the folder given excepted.
 *   - names that no path can say, because they are not UTF-8 or their path is longer than 4,095 bytes, are counted for
 *     their folder; the file actor does not tell what they are the names of.
 *   - what is gone, or something else, when its turn comes has vanished; where a link took its place, it is unreadable.
 *     A text that is cut while it is counted is unreadable: its words up to there are counted, its lines are not.
 *   - .envoi in the folder given is left out: the file actor shows nobody what it keeps there.
 *
 * `--json` prints one document; later versions may add fields, and change "schema" if they change one:
 *   schema           "envoi.project-census/2"
 *   folder           the absolute path that was counted; all other paths are below it
 *   complete         false after Ctrl-C
 *   skippedNames     names of folders that were not walked; none with --all
 *   totals           { files, textFiles, lines, bytes, words, distinctWords, folders }: files = text + binary +
 *                    unreadable; lines, bytes and words of text; folders that were read, the one given included
 *   languages        [{ language, files, lines, bytes }], most lines first; an unknown extension is its own language
 *   longestFiles     [{ path, lines, bytes }], 10 at most; equals by path
 *   frequentWords    [{ word, count }], 20 at most; equals by alphabet (code units)
 *   found            { emptyFiles, binaryFiles, binaryBytes, links, specialFiles, vanished, unreadableFiles,
 *                    unreadableFolders, unreadableNames, skippedFolders }
 *   errors           [{ kind: "file" | "folder" | "names", path, reason }], by path, 1,000 at most; with "names", the
 *                    path is that of their folder
 *   notListed        { words, errors }: how many came when 1,000,000 words or 1,000 errors were kept already
 *   run              { seconds, messages: { accepted, handled, failed, dead, queued, running }, messagesPerSecond,
 *                    flawless }: accepted over seconds; flawless when all were handled
 */
import { join } from "node:path";
import { CannotServe, isFlawless, takeCensus } from "./census";
import { type Command, parseCommand, USAGE, UsageError } from "./command-line";
import { progressOn } from "./progress";
import { jsonOf, reportOf } from "./report";

const INTERRUPTED = 130;
const PROJECT = join(import.meta.dir, "../..");

async function run(command: Command): Promise<number> {
  const interrupt = new AbortController();
  const onInterrupt = (): void => interrupt.abort();
  process.once("SIGINT", onInterrupt); // Once: a second Ctrl-C ends the program at once.
  const progress = progressOn(process.stderr, command.json);
  progress.begin(command.folder);
  const result = await takeCensus({ ...command, signal: interrupt.signal, onProgress: progress.show }).finally(
    progress.end,
  );
  process.off("SIGINT", onInterrupt);
  process.stdout.write(command.json ? jsonOf(result, command) : reportOf(result, command));
  if (interrupt.signal.aborted) return INTERRUPTED;
  return isFlawless(result.audit) ? 0 : 1;
}

try {
  const command = parseCommand(process.argv.slice(2), PROJECT);
  if (command === undefined) process.stdout.write(USAGE);
  else process.exitCode = await run(command);
} catch (error) {
  if (!(error instanceof UsageError || error instanceof CannotServe)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
