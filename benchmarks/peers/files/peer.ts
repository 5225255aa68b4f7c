import { type Candidate, openSubject } from "../room";

/** A file tool over one directory, as its users call it. What cannot be done is thrown. */
export interface FilePeer {
  read(path: string): Promise<string>;
  write(path: string, content: string): Promise<void>;
  /** Replaces a text that occurs once. */
  edit(path: string, oldText: string, newText: string): Promise<void>;
  /** How many names a directory has. */
  list(path: string): Promise<number>;
  /** How many lines below the root hold a text; left out where it cannot be looked for. */
  search?(text: string): Promise<number>;
  close(): Promise<void>;
}

/** Each module in `subjects/files/` exports `open(folder)`, which gives a `FilePeer`. */
export const candidates: readonly Candidate[] = [
  {
    name: "envoi",
    module: "envoi.ts",
    packages: [],
    how: "the file actor of this repository, asked through its reference, in process",
  },
  {
    name: "MCP",
    module: "mcp.ts",
    packages: ["@modelcontextprotocol/server-filesystem", "@modelcontextprotocol/sdk"],
    how: "the Model Context Protocol's file server in a process of its own (Bun), through its official client over stdio; it searches names, no contents",
  },
  {
    name: "deepagents",
    module: "deepagents.ts",
    packages: ["deepagents"],
    how: "its `FilesystemBackend` with `virtualMode`, which keeps paths below the root, in process; it starts ripgrep where there is one",
  },
  {
    name: "just-bash",
    module: "just-bash.ts",
    packages: ["just-bash"],
    how: "its shell over a `ReadWriteFs`, in process: `cat`, `cat >`, `sed -i`, `ls`, `grep -rF`; without `defenseInDepth`, whose patches of JavaScript do not apply under Bun",
  },
];

/** Opens a candidate over a directory; what keeps it from starting is thrown. */
export const openPeer = (candidate: Candidate, folder: string): Promise<FilePeer> =>
  openSubject("files", candidate, folder);
