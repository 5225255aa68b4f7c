import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EDIT, fillDirectory, fillTree, letters, NEEDLE } from "../../harness/file-samples";
import type { FilePeer } from "./peer";

/** What is measured of each candidate. */
export interface Operation {
  readonly row: string;
  /** Makes what it works on, in the candidate's own root. */
  readonly prepare: (root: string) => void;
  /** Whether a candidate has it; all of them unless this says otherwise. */
  readonly isOf?: (peer: FilePeer) => boolean;
  /** Does it once, and throws unless it was done. */
  readonly run: (peer: FilePeer, index: number) => Promise<void>;
  /** Looks at what is there after `done` of them, and throws unless it is as it should be. */
  readonly verify?: (root: string, done: number) => void;
}

const BYTES = 100;
const FILES = 2_000;
const texts = [letters(BYTES, 0), letters(BYTES, 1)] as const;
const textOf = (index: number): string => texts[index % 2 === 0 ? 0 : 1];

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

export const operations: readonly Operation[] = [
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
