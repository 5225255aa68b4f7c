import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { FilePeer } from "../../files";

const SERVER = "@modelcontextprotocol/server-filesystem/dist/index.js";

export async function open(folder: string): Promise<FilePeer> {
  const client = new Client({ name: "envoi-benchmarks", version: "0.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(import.meta.dir, "../../node_modules", SERVER), folder],
    stderr: "ignore",
  });
  await client.connect(transport);
  const call = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [first] = content as { type: string; text: string }[]; // What these tools give.
    const text = first?.text ?? "";
    if (isError) throw new Error(text);
    return text;
  };
  return {
    read: (path) => call("read_text_file", { path: join(folder, path) }),
    async write(path, content) {
      await call("write_file", { path: join(folder, path), content });
    },
    async edit(path, oldText, newText) {
      await call("edit_file", { path: join(folder, path), edits: [{ oldText, newText }] });
    },
    async list(path) {
      const names = await call("list_directory", { path: join(folder, path) });
      return names.split("\n").length;
    },
  };
}
