import type { Ref, Spawner } from "../../index";
import { RpcError } from "../../rpc/index";
import { AcpFiles, type AcpFilesRef } from "../methods";
import { invalidParams, notFound, replyOf } from "../refusals";

/** The reply of a file actor. */
type FileOutcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: { readonly kind: string; readonly message: string } };

/** The part of a file actor that serves an agent: `spawnFileSystem` of `envoi/tools` gives such a reference. */
export type TextFiles = Ref<{
  read: (request: {
    path: string;
    lines?: { from?: number; to?: number };
  }) => FileOutcome<{ readonly content: string | Uint8Array }>;
  write: (request: { path: string; content: string }) => FileOutcome<unknown>;
}>;

/** Options of the files that an agent may use. */
export interface AcpFilesOptions {
  /** The actor's name. Default: `"acp-files"`. */
  readonly name?: string;
  /** The file actor. */
  readonly files: TextFiles;
  /** The absolute path that agents have for the root of the file actor, such as "/work". */
  readonly root: string;
}

/**
 * Spawns an actor that gives an agent the files of a file actor. The agent names absolute paths, as the protocol asks for; those outside of
 * the root are refused. The file actor's own rules still hold.
 *
 * @throws TypeError when the root is no absolute path.
 * @example
 * const files = spawnFileSystem(system, { root: "/work" });
 * connectAgent(system, command, { name, version, files: spawnAcpFiles(system, { files, root: "/work" }) });
 */
export function spawnAcpFiles(spawner: Spawner, { name = "acp-files", files, root }: AcpFilesOptions): AcpFilesRef {
  if (!root.startsWith("/"))
    throw new TypeError(`The root of files is an absolute path, such as "/work"; got "${root}".`);
  const base = root.endsWith("/") ? root : `${root}/`;
  const below = (path: string): string => {
    if (!path.startsWith(base)) throw invalidParams("The path is outside of the workspace.");
    return path.slice(base.length);
  };
  return spawner.spawn(
    name,
    AcpFiles,
    (ctx) => ({
      async readTextFile({ path, line, limit }) {
        if (limit === 0) return { content: "" };
        const from = Math.max(line ?? 1, 1);
        const lines = { from, ...(limit != null && { to: from + limit - 1 }) };
        const isWhole = line == null && limit == null;
        const request = { path: below(path), ...(!isWhole && { lines }) };
        const { content } = read(path, replyOf(await ctx.ask(files, "read", request)));
        return { content: String(content) };
      },
      async writeTextFile({ path, content }) {
        read(path, replyOf(await ctx.ask(files, "write", { path: below(path), content })));
        return {};
      },
    }),
    { concurrency: 16 },
  );
}

/** The value of a file actor's reply. Errors name nothing of the host. */
function read<Value>(path: string, reply: FileOutcome<Value>): Value {
  if (reply.ok) return reply.value;
  const { kind, message } = reply.error;
  if (kind === "not-found") throw notFound(path);
  throw new RpcError(-32_603, message, { kind });
}
