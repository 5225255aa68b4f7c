import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EDIT, fillDirectory, fillTree, letters, NEEDLE } from "../harness/file-samples";
import type { Candidate, Definition, TimedRow, Trial, Work } from "./room";

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
}

/** Each module in `subjects/files/` exports `open(folder)`, which gives a `FilePeer`. */
const candidates: readonly Candidate[] = [
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

/** Work that does one operation at a time. */
const each = (run: (index: number) => Promise<void>): Work => {
  let done = 0;
  return async () => {
    await run(done++);
    return 1;
  };
};

const BYTES = 100;
const FILES = 2_000;
const texts = [letters(BYTES, 0), letters(BYTES, 1)] as const;
const textOf = (index: number): string => texts[index % 2 === 0 ? 0 : 1];

/** What is measured of each candidate. */
interface Operation extends Pick<TimedRow<FilePeer>, "row" | "isOf" | "verify"> {
  /** Makes what it works on, in the candidate's own root. */
  readonly prepare: (root: string) => void;
  /** Does it once, and throws unless it was done. */
  readonly run: (peer: FilePeer, index: number) => Promise<void>;
}

const list = (entries: number): Operation => ({
  row: `list of ${entries.toLocaleString("en")}`,
  prepare: (root) => {
    mkdirSync(join(root, `list-${entries}`));
    fillDirectory(join(root, `list-${entries}`), entries);
  },
  run: async (peer) => {
    const found = await peer.list(`list-${entries}`);
    if (found !== entries) throw new Error(`${found} of ${entries} entries were listed`);
  },
});

const operations: readonly Operation[] = [
  {
    row: "read 100 B",
    prepare: (root) => writeFileSync(join(root, "read.txt"), textOf(0)),
    run: async (peer) => {
      if ((await peer.read("read.txt")) !== textOf(0)) throw new Error("another text was read");
    },
  },
  {
    row: "write 100 B",
    prepare: () => {},
    run: (peer, index) => peer.write("write.txt", textOf(index)),
    verify: (root, done) => expectText(join(root, "write.txt"), textOf(done - 1)),
  },
  {
    row: "edit of 10 KB",
    prepare: (root) => writeFileSync(join(root, "edit.txt"), EDIT.text(10_240)),
    run: (peer, index) => peer.edit("edit.txt", ...EDIT.words(index)),
    verify: (root, done) => {
      const [word, other] = EDIT.words(done);
      const text = readFileSync(join(root, "edit.txt"), "utf8");
      if (text.includes(other) || !text.includes(word)) throw new Error("the edit was not made");
    },
  },
  list(50),
  list(1_000),
  {
    row: "search of 2,000 files",
    prepare: (root) => void fillTree(root, FILES),
    isOf: (peer) => peer.search !== undefined,
    run: async (peer) => {
      const matches = await peer.search?.(NEEDLE);
      if (matches !== FILES / 100) throw new Error(`${matches} matches were found, where ${FILES / 100} are`);
    },
  },
];

function expectText(path: string, text: string): void {
  if (readFileSync(path, "utf8") !== text) throw new Error("the file does not hold what was written last");
}

/** Reads a file again and again while another process swaps its directory for a link out of the root, for so many seconds. */
const race: Trial<FilePeer> = async (peer, { root, argument, tell }) => {
  await expectPlainRead(peer, root);
  const outside = `${root}-outside`;
  mkdirSync(join(root, "inner"));
  mkdirSync(outside);
  writeFileSync(join(root, "inner/file.txt"), "inside");
  writeFileSync(join(outside, "file.txt"), "outside");
  symlinkSync(outside, join(root, "link"));
  const swapper = Bun.spawn(
    [process.execPath, join(import.meta.dir, "swapper.ts"), join(root, "inner"), join(root, "link")],
    { stdout: "pipe", stderr: "inherit" },
  );
  await swapper.stdout.getReader().read();
  tell({ kind: "started" });
  const end = performance.now() + Number(argument) * 1_000;
  let [reads, escapes, inside] = [0, 0, 0];
  for (; performance.now() < end; reads++) {
    const text = await peer.read("inner/file.txt").catch(() => "refused");
    if (text.includes("outside")) escapes++;
    else if (text.includes("inside")) inside++;
    // An actor that answers at once gives the event loop no turn of its own, and the swapper may end meanwhile.
    if (reads % 1_000 === 0) await Bun.sleep(0);
  }
  if (swapper.exitCode !== null) throw new Error("the swapping ended before the reads did");
  swapper.kill("SIGKILL");
  await swapper.exited;
  tell({ kind: "ended", readings: { escapes, inside, refused: reads - escapes - inside }, words: "" });
};

/** Reads a pipe that nobody writes to. */
const fifo: Trial<FilePeer> = async (peer, { root, tell }) => {
  await expectPlainRead(peer, root);
  if (!Bun.spawnSync(["mkfifo", join(root, "pipe")]).success) throw new Error("mkfifo failed");
  tell({ kind: "started" });
  const words = await peer.read("pipe").then(
    () => "reads",
    () => "refuses",
  );
  tell({ kind: "ended", readings: {}, words });
};

/** One that refuses everything would be safe from anything. */
async function expectPlainRead(peer: FilePeer, root: string): Promise<void> {
  writeFileSync(join(root, "first.txt"), "first");
  if ((await peer.read("first.txt")).trim() !== "first") throw new Error("it did not read a plain file");
}

/** Tools for files beside each other. */
export const files: Definition<FilePeer> = {
  room: "files",
  candidates,
  timed: operations.map(({ prepare, run, ...row }) => ({
    ...row,
    prepare: (peer, root) => {
      prepare(root);
      return each((index) => run(peer, index));
    },
  })),
  readings: [],
  trials: { race, fifo },
};
