import { FilesystemBackend } from "deepagents";
import type { FilePeer } from "../../files";

export async function open(folder: string): Promise<FilePeer> {
  const backend = new FilesystemBackend({ rootDir: folder, virtualMode: true });
  return {
    async read(path) {
      const { content, error } = await backend.read(`/${path}`);
      if (typeof content !== "string") throw new Error(error ?? "no text");
      return content;
    },
    async write(path, content) {
      const { error } = await backend.write(`/${path}`, content);
      if (error) throw new Error(error);
    },
    async edit(path, oldText, newText) {
      const { error } = await backend.edit(`/${path}`, oldText, newText);
      if (error) throw new Error(error);
    },
    async list(path) {
      const { files, error } = await backend.ls(`/${path}`);
      if (!files) throw new Error(error ?? "no list");
      return files.length;
    },
    async search(text) {
      const { matches, error } = await backend.grep(text, "/");
      if (!matches) throw new Error(error ?? "no matches");
      return matches.length;
    },
  };
}
