import type { Factory, SignaturesOf } from "envoi";
import { languageOf } from "./languages";
import type { Aggregator, Census, Oddity } from "./protocols";

const LONGEST_FILES = 10;
const FREQUENT_WORDS = 20;
/** Memory is bounded: words and errors beyond these are counted and not kept. */
export const MOST_WORDS = 1_000_000;
export const MOST_ERRORS = 1_000;

/** Removed, or replaced by something else, since the walker saw it. */
const GONE = new Set(["not-found", "not-a-directory", "is-directory", "not-a-file"]);

type Order<Item> = (a: Item, b: Item) => number;

/** By code units, so that the result is the same on every machine. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Keeps the counts of one census. */
export const aggregator: Factory<SignaturesOf<typeof Aggregator>> = () => {
  const words = new Map<string, number>();
  const languages = new Map<string, { files: number; lines: number; bytes: number }>();
  const longest: { path: string; lines: number; bytes: number }[] = [];
  const errors: Census["errors"] = [];
  const totals = { textFiles: 0, lines: 0, bytes: 0, words: 0, folders: 0 };
  const oddities: Record<Oddity, number> = { links: 0, specialFiles: 0, skippedFolders: 0 };
  const files = { emptyFiles: 0, binaryFiles: 0, binaryBytes: 0, vanished: 0 };
  const unreadable = { unreadableFiles: 0, unreadableFolders: 0, unreadableNames: 0 };
  const notListed = { words: 0, errors: 0 };
  let textBytes = 0; // Of texts that are still being read, too.
  const countFiles = (): number => totals.textFiles + files.binaryFiles + unreadable.unreadableFiles;
  const list = (error: Census["errors"][number]): void => {
    if (errors.length < MOST_ERRORS) errors.push(error);
    else notListed.errors++;
  };

  return {
    folder({ path, leftOut }) {
      totals.folders++;
      unreadable.unreadableNames += leftOut;
      if (leftOut === 0) return;
      const reason = `names that no path can say (not UTF-8, or more than 4,095 bytes with their folders): ${leftOut}`;
      list({ kind: "names", path, reason });
    },

    oddity(kind) {
      oddities[kind]++;
    },

    unreadable({ kind, path, error }) {
      if (GONE.has(error.kind)) files.vanished++;
      else {
        unreadable[kind === "file" ? "unreadableFiles" : "unreadableFolders"]++;
        list({ kind, path, reason: error.message });
      }
    },

    binary({ bytes }) {
      files.binaryFiles++;
      files.binaryBytes += bytes;
    },

    words({ words: counts, bytes }) {
      textBytes += bytes;
      for (const [word, count] of counts) {
        const before = words.get(word);
        totals.words += count;
        if (before !== undefined || words.size < MOST_WORDS) words.set(word, (before ?? 0) + count);
        else notListed.words += count;
      }
    },

    text({ path, lines, bytes }) {
      const language = languageOf(path);
      const sum = languages.get(language) ?? { files: 0, lines: 0, bytes: 0 };
      languages.set(language, { files: sum.files + 1, lines: sum.lines + lines, bytes: sum.bytes + bytes });
      totals.textFiles++;
      totals.lines += lines;
      totals.bytes += bytes;
      if (bytes === 0) files.emptyFiles++;
      keepFirst(longest, { path, lines, bytes }, LONGEST_FILES, (a, b) => b.lines - a.lines || compare(a.path, b.path));
    },

    progress: () => ({ files: countFiles(), bytes: textBytes + files.binaryBytes }),

    census() {
      const frequent: { word: string; count: number }[] = [];
      for (const [word, count] of words) {
        keepFirst(frequent, { word, count }, FREQUENT_WORDS, (a, b) => b.count - a.count || compare(a.word, b.word));
      }
      return {
        totals: { files: countFiles(), ...totals, distinctWords: words.size },
        languages: [...languages]
          .map(([language, sums]) => ({ language, ...sums }))
          .sort((a, b) => b.lines - a.lines || compare(a.language, b.language)),
        longestFiles: [...longest],
        frequentWords: frequent,
        found: { ...files, ...unreadable, ...oddities },
        errors: [...errors].sort((a, b) => compare(a.path, b.path)),
        notListed: { ...notListed },
      };
    },
  };
};

/** Puts an item where it belongs in an ordered list, which keeps its first `limit` items. */
function keepFirst<Item>(list: Item[], item: Item, limit: number, order: Order<Item>): void {
  const last = list[limit - 1];
  if (last !== undefined && order(last, item) <= 0) return;
  const after = list.findIndex((each) => order(each, item) > 0);
  list.splice(after < 0 ? list.length : after, 0, item);
  if (list.length > limit) list.pop();
}
