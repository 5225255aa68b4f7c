import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";

/** The census of a folder, counted again: all at once, whole files, by other means than those of the example. */
export function countByHand(root: string, skipped: readonly string[]) {
  const lines: Record<string, number> = {};
  const languages: Record<string, { files: number; lines: number; bytes: number }> = {};
  const words: Record<string, number> = Object.create(null);
  const count = {
    files: 0,
    bytes: 0,
    empty: 0,
    binary: 0,
    badFiles: 0,
    badFolders: 0,
    folders: 0,
    links: 0,
    broken: 0,
  };
  const other = { special: 0, skipped: 0 };
  const names: Record<string, string> = {
    ".ts": "TypeScript",
    ".md": "Markdown",
    ".json": "JSON",
    ".txt": "Plain text",
  };
  const attempt = <T>(action: () => T): T | undefined => {
    try {
      return action();
    } catch {
      return undefined;
    }
  };
  const visit = (path: string, entry: Dirent | undefined): void => {
    const full = join(root, path);
    if (entry?.isSymbolicLink()) {
      count.links++;
      if (!attempt(() => statSync(full))) count.broken++;
    } else if (entry?.isDirectory() !== false) {
      if (entry && skipped.includes(entry.name)) {
        other.skipped++;
        return;
      }
      const inside = attempt(() => readdirSync(full, { withFileTypes: true }));
      if (!inside) count.badFolders++;
      else count.folders++;
      for (const each of inside ?? []) visit(join(path, each.name), each);
    } else if (entry.isFile()) {
      count.files++;
      const bytes = attempt(() => readFileSync(full));
      if (!bytes) {
        count.badFiles++;
        return;
      }
      const text = bytes.toString().replace(/^\uFEFF/, "");
      if (bytes.subarray(0, 8192).includes(0) || !Buffer.from(bytes.toString()).equals(bytes)) {
        count.binary++;
        return;
      }
      if (bytes.length === 0) count.empty++;
      count.bytes += bytes.length;
      const ends = text.replaceAll(/[^\n]/g, "").length;
      lines[path] = ends + (text === "" || text.endsWith("\n") ? 0 : 1);
      const extension = extname(path);
      const language = names[extension] ?? (extension || "no extension");
      languages[language] ??= { files: 0, lines: 0, bytes: 0 };
      languages[language].files++;
      languages[language].lines += lines[path] ?? 0;
      languages[language].bytes += bytes.length;
      for (const word of text
        .normalize("NFC")
        .toLowerCase()
        .split(/[^\p{L}\p{M}]+/u)) {
        const letters = word.match(/\p{L}/gu)?.length ?? 0;
        if (letters >= 2 && word.length <= 64) words[word] = (words[word] ?? 0) + 1;
      }
    } else other.special++;
  };
  visit("", undefined);
  const sum = (record: Record<string, number>): number => Object.values(record).reduce((a, b) => a + b, 0);
  const first = (record: Record<string, number>, most: number): [string, number][] =>
    Object.entries(record)
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, most);
  return { ...count, ...other, lines, languages, words, sum, longest: first(lines, 10), frequent: first(words, 20) };
}
