import { createSystem } from "envoi";
import { resultOf, spawnFileSystem } from "envoi/tools";
import type { FilePeer } from "../../files";

export async function open(folder: string): Promise<FilePeer> {
  const system = createSystem();
  const files = spawnFileSystem(system, { root: folder });
  return {
    async read(path) {
      const { content } = resultOf(await files.ask("read", { path })).unwrapOr({ content: undefined });
      if (typeof content !== "string") throw new Error("it was not read");
      return content;
    },
    async write(path, content) {
      if (resultOf(await files.ask("write", { path, content })).isErr()) throw new Error("it was not written");
    },
    async edit(path, oldText, newText) {
      const edited = resultOf(await files.ask("edit", { path, edits: [{ oldText, newText }] }));
      if (edited.isErr()) throw new Error("it was not edited");
    },
    async list(path) {
      return resultOf(await files.ask("list", { path })).unwrapOr({ entries: [] }).entries.length;
    },
    async search(text) {
      let matches = 0;
      for await (const item of files.stream("search", { text })) {
        if (!item.ok) throw new Error(item.error.message);
        if (item.value.kind === "match") matches++;
      }
      return matches;
    },
  };
}
