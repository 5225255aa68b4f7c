import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Happening } from "../../examples/agent-workspace/protocols";

/** The text of a sample table. */
export const sample = (name: string): string =>
  readFileSync(fileURLToPath(import.meta.resolve(`@observablehq/sample-datasets/${name}`)), "utf8");

/** A new folder with these files. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "envoi-agent-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** All files of a folder, by path, with their content; but for what the file actor keeps there for itself. */
export function filesIn(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = paths.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const read = files.map((file) => [file.slice(folder.length + 1), readFileSync(file, "utf8")] as const);
  return Object.fromEntries(read.filter(([path]) => !path.startsWith(".envoi/")));
}

/** The processes that this one has started and that are there still. */
export function children(): string[] {
  return readdirSync("/proc").filter((id) => {
    if (!/^\d+$/.test(id)) return false;
    try {
      const stat = readFileSync(`/proc/${id}/stat`, "utf8");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return parent === String(process.pid) && state !== "Z";
    } catch {
      return false; // It ended meanwhile.
    }
  });
}

/** All that happens. */
export async function all(happenings: AsyncIterable<Happening>): Promise<Happening[]> {
  const found: Happening[] = [];
  for await (const happening of happenings) found.push(happening);
  return found;
}

/** Of one kind. */
export const only = <Kind extends Happening["kind"]>(happenings: readonly Happening[], kind: Kind) =>
  happenings.filter((each): each is Extract<Happening, { kind: Kind }> => each.kind === kind);
