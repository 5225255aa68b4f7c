import { basename } from "node:path";
import type { Factory, RefTo, SignaturesOf } from "envoi";
import { resultOf } from "envoi/tools";
import type { Aggregator, Files, Walker } from "./protocols";

/** Folders of these names hold what others wrote, or what a program made: they are skipped unless all is wanted. */
export const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git", "dist"]);

/** A walker of the folders below a root. It walks only as fast as it is asked for files; `signal` ends it. */
export function walkerOf(
  files: Files<"list">,
  all: boolean,
  aggregator: RefTo<typeof Aggregator>,
  signal: AbortSignal,
): Factory<SignaturesOf<typeof Walker>> {
  return (ctx) => {
    const paths = walk();

    async function* walk(): AsyncGenerator<string> {
      // A page of a folder at a time: memory does not grow with the size of a folder.
      const toList: { path: string; cursor?: string }[] = [{ path: "" }];
      for (let request = toList.pop(); request !== undefined && !signal.aborted; request = toList.pop()) {
        const { path: folder } = request;
        const page = resultOf(await ctx.ask(files, "list", request));
        if (page.isErr()) {
          ctx.tell(aggregator, "unreadable", { kind: "folder", path: folder || ".", error: page.error });
          continue;
        }
        const { entries, cursor, leftOut = 0 } = page.value;
        if (request.cursor === undefined) ctx.tell(aggregator, "folder", { path: folder || ".", leftOut });
        if (cursor !== undefined) toList.push({ path: folder, cursor });
        for (const { path, kind } of entries) {
          if (kind === "file") yield path;
          else if (kind === "link") ctx.tell(aggregator, "oddity", "links");
          else if (kind === "other") ctx.tell(aggregator, "oddity", "specialFiles");
          else if (!all && SKIPPED.has(basename(path))) ctx.tell(aggregator, "oddity", "skippedFolders");
          else toList.push({ path });
        }
      }
    }

    return {
      async next() {
        const { done, value } = await paths.next();
        return done ? null : value;
      },
    };
  };
}
