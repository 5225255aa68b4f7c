import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";

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
    badNames: 0,
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
  const visit = (path: string): void => {
    const entry = lstatSync(path || ".");
    if (entry.isSymbolicLink()) count.links++;
    else if (entry.isDirectory()) {
      if (skipped.includes(basename(path))) {
        other.skipped++;
        return;
      }
      const inside = attempt(() => readdirSync(path || ".", "buffer"));
      if (!inside) count.badFolders++;
      else count.folders++;
      for (const bytes of inside ?? []) {
        const name = bytes.toString();
        const below = join(path, name);
        if (below === ".envoi") continue;
        if (Buffer.from(name).equals(bytes) && Buffer.byteLength(below) <= 4_095) visit(below);
        else count.badNames++;
      }
    } else if (entry.isFile()) {
      count.files++;
      const bytes = attempt(() => readFileSync(path));
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
  // From within the folder: only so do the longest paths below it fit into a system call.
  const before = process.cwd();
  process.chdir(root);
  try {
    visit("");
  } finally {
    process.chdir(before);
  }
  const sum = (record: Record<string, number>): number => Object.values(record).reduce((a, b) => a + b, 0);
  const first = (record: Record<string, number>, most: number): [string, number][] =>
    Object.entries(record)
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, most);
  return { ...count, ...other, lines, languages, words, sum, longest: first(lines, 10), frequent: first(words, 20) };
}
