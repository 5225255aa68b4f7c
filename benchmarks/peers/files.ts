import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EDIT, fillDirectory, fillTree, letters, NEEDLE } from "../harness/file-samples";
import { type Candidate, Lacks, type Room, type Task, type Timed, timed } from "./room";

export interface FilePeer {
  read(path: string): Promise<string>;
  write(path: string, content: string): Promise<void>;
  edit(path: string, oldText: string, newText: string): Promise<void>;
  list(path: string): Promise<number>;
  /** The number of lines below the root with a text. Left out if the peer cannot search. */
  search?(text: string): Promise<number>;
}

const candidates: readonly Candidate[] = [
  { name: "envoi", how: "the file actor of this repository, asked through its reference, in process" },
  {
    name: "MCP",
    packages: ["@modelcontextprotocol/server-filesystem", "@modelcontextprotocol/sdk"],
    how: "the Model Context Protocol's file server in a process of its own (Bun), through its official client over stdio; it searches names, no contents",
  },
  {
    name: "deepagents",
    packages: ["deepagents"],
    how: "its `FilesystemBackend` with `virtualMode`, which keeps paths below the root, in process; it starts ripgrep where there is one",
  },
  {
    name: "just-bash",
    packages: ["just-bash"],
    how: "its shell over a `ReadWriteFs`, in process: `cat`, `cat >`, `sed -i`, `ls`, `grep -rF`; without `defenseInDepth`, whose patches of JavaScript do not apply under Bun",
  },
];

const BYTES = 100;
const ENTRIES = 1_000;
const FILES = 2_000;
const TEXTS = [letters(BYTES, 0), letters(BYTES, 1)] as const;

function expect(found: unknown, due: unknown, what: string): void {
  if (found !== due) throw new Error(`${what}: ${found}, where it should be ${due}`);
}

/** A row of single operations: `make` makes what they work on, `run` does one and throws unless it was done. */
const operation = (
  row: string,
  make: (root: string) => void,
  run: (peer: FilePeer, index: number) => Promise<void>,
  verify?: Timed<FilePeer>["verify"],
): Task<FilePeer> =>
  timed({
    row,
    verify,
    prepare(peer, root) {
      make(root);
      let done = 0;
      return async () => {
        await run(peer, done++);
        return 1;
      };
    },
  });

const operations: readonly Task<FilePeer>[] = [
  operation(
    "read 100 B",
    (root) => writeFileSync(join(root, "read.txt"), TEXTS[0]),
    async (peer) => expect(await peer.read("read.txt"), TEXTS[0], "the text that was read"),
  ),
  operation(
    "write 100 B",
    () => {},
    (peer, index) => peer.write("write.txt", TEXTS[index % 2 === 0 ? 0 : 1]),
    (root, done) =>
      expect(readFileSync(join(root, "write.txt"), "utf8"), TEXTS[done % 2 === 0 ? 1 : 0], "the text that is there"),
  ),
  operation(
    "edit of 10 KB",
    (root) => writeFileSync(join(root, "edit.txt"), EDIT.text(10_240)),
    (peer, index) => peer.edit("edit.txt", ...EDIT.words(index)),
    (root, done) => {
      const [word, other] = EDIT.words(done);
      const text = readFileSync(join(root, "edit.txt"), "utf8");
      if (text.includes(other) || !text.includes(word)) throw new Error("the edit was not made");
    },
  ),
  operation(
    "list of 1,000",
    (root) => {
      mkdirSync(join(root, "list"));
      fillDirectory(join(root, "list"), ENTRIES);
    },
    async (peer) => expect(await peer.list("list"), ENTRIES, "entries that were listed"),
  ),
  operation(
    "search of 2,000 files",
    (root) => void fillTree(root, FILES),
    async (peer) => {
      if (peer.search === undefined) throw new Lacks("it has no such operation");
      expect(await peer.search(NEEDLE), FILES / 100, "matches that were found");
    },
  ),
];

const RACE = 5_000; // Milliseconds.
const HANGS = 3_000; // Milliseconds: a FIFO that was not refused by then never will be.

const race: Task<FilePeer> = {
  name: "race",
  kind: "tried",
  heads: [
    { table: "race", row: "reads that left the root", unit: "" },
    { table: "race", row: "reads inside of it", unit: "" },
    { table: "race", row: "reads refused", unit: "" },
  ],
  prepare: (peer, root) => async () => {
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
    const end = performance.now() + RACE;
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
    return [escapes, inside, reads - escapes - inside].map((median) => ({ median }));
  },
};

const fifo: Task<FilePeer> = {
  name: "fifo",
  kind: "tried",
  heads: [{ table: "race", row: "a FIFO that nobody writes to", unit: "" }],
  prepare: (peer, root) => async () => {
    await expectPlainRead(peer, root);
    if (!Bun.spawnSync(["mkfifo", join(root, "pipe")]).success) throw new Error("mkfifo failed");
    const answer = peer.read("pipe").then(() => "reads");
    return [{ says: await answer.catch(() => "refuses") }];
  },
  late: { after: HANGS, readings: [{ says: "hangs" }] },
};

async function expectPlainRead(peer: FilePeer, root: string): Promise<void> {
  writeFileSync(join(root, "first.txt"), "first");
  expect((await peer.read("first.txt")).trim(), "first", "the text of a plain file");
}

export const files: Room<FilePeer> = { candidates, tasks: [...operations, race, fifo] };
