import { type Dirent, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Factory, RefTo, SignaturesOf } from "../../src/index";
import type { Aggregator, Oddity, Walker } from "./protocols";
import { refusalOf } from "./system-error";

/** Folders of these names hold what others wrote, or what a program made: they are skipped unless all is wanted. */
export const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git", "dist"]);

/** Most files in one reply: two readers may then share a large folder. */
const MOST = 64;

/** A walker of the folders below a root. It walks only as fast as it is asked for files. */
export function walkerOf(
  root: string,
  all: boolean,
  aggregator: RefTo<typeof Aggregator>,
): Factory<SignaturesOf<typeof Walker>> {
  return (ctx) => {
    const batches = walk();

    function* walk(): Generator<string[]> {
      const folders = [""];
      for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
        let files: string[] = [];
        for (const entry of entriesOf(folder)) {
          const path = join(folder, entry.name);
          const kind = kindOf(entry, path);
          if (kind === "file") files.push(path);
          else if (kind !== "folder") ctx.tell(aggregator, "oddity", kind);
          else if (!all && SKIPPED.has(entry.name)) ctx.tell(aggregator, "oddity", "skippedFolders");
          else folders.push(path);
          if (files.length === MOST) {
            yield files;
            files = [];
          }
        }
        yield files; // Even if there are none: a walk through a thousand empty folders gives others their turn.
      }
    }

    function entriesOf(folder: string): Dirent[] {
      try {
        const entries = readdirSync(join(root, folder), { withFileTypes: true });
        ctx.tell(aggregator, "folder");
        return entries;
      } catch (thrown) {
        const refusal = refusalOf(folder, thrown);
        if (refusal.isGone) ctx.tell(aggregator, "oddity", "vanished");
        else ctx.tell(aggregator, "unreadable", { kind: "folder", path: folder || ".", reason: refusal.reason });
        return [];
      }
    }

    function kindOf(entry: Dirent, path: string): "file" | "folder" | Oddity {
      if (entry.isFile()) return "file";
      if (entry.isDirectory()) return "folder";
      if (entry.isSymbolicLink()) return kindOfLink(path);
      if (entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice()) {
        return "specialFiles";
      }
      // Some file systems do not tell the kind along with the name.
      const found = lstatSync(join(root, path), { throwIfNoEntry: false });
      if (found === undefined) return "vanished";
      if (found.isSymbolicLink()) return kindOfLink(path);
      return found.isFile() ? "file" : found.isDirectory() ? "folder" : "specialFiles";
    }

    /** A link is counted by what it leads to, and never followed: its target is counted where it stands, if below the root. */
    function kindOfLink(path: string): Oddity {
      try {
        return statSync(join(root, path)).isDirectory() ? "linksToFolders" : "linksToFiles";
      } catch {
        return "brokenLinks"; // Also one that leads to itself, and one whose target may not be looked at.
      }
    }

    return {
      next: () => {
        const { done, value } = batches.next();
        return done ? null : value;
      },
    };
  };
}
