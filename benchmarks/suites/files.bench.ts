import { disk } from "../harness/places";
import { apart, type Declared, probe, suiteOf, timed, withRatio } from "../harness/rows";
import * as kinds from "../subjects/file-kinds";

const KB = 1024;
const MB = 1024 * KB;

type Bare = readonly [name: string, about: string];
type Limits = readonly [atMost: number, aim: number];

const row = (
  name: string,
  operations: number,
  [floor, about]: Bare,
  open: kinds.Open,
  reason: string,
  [atMost, aim]: Limits,
  width = 1,
): Declared =>
  timed(
    name,
    {
      name: floor,
      about,
      varies: true, // By the size of what is read or written, and by the file system.
      setup: (all) => kinds.byHand(open, all, width),
    },
    (all) => kinds.byActor(open, all, width),
    [atMost, aim, reason],
    { operations, per: width },
  );

const READ: Bare = ["raw read", '`readFileSync(path, "utf8")`'];
const WHOLE: Bare = [
  "raw write whole",
  'a temporary file: `openSync(path, "wx")`, `writeSync` of a Buffer, `closeSync`; then `renameSync`',
];
const IN_PLACE: Bare = [
  "raw write in place",
  '`openSync(path, "r+")`, `writeSync` of a Buffer, `ftruncateSync`, `closeSync`',
];
const TEN: Bare = ["raw write whole, 10 files", "the same for ten files, one after the other"];
const WRITE_READ: Bare = ["raw write and read", "*raw write whole*, then *raw read*"];
const DELETE: Bare = ["raw write and delete", "*raw write whole*, then `unlinkSync`"];
const APPEND: Bare = ["raw append", '`openSync(path, "a")`, `writeSync` of a Buffer, `closeSync`'];
const EDIT: Bare = [
  "raw edit",
  "*raw read*, `indexOf` until the text is known to occur once, the text put together anew, *raw write whole*",
];
const LIST: Bare = ["raw list", "`readdirSync(path, { withFileTypes: true })`"];
const DETAILS: Bare = ["raw list with details", "`readdirSync(path, { withFileTypes: true })`, and `statSync` of each"];
const DURABLE: Bare = [
  "raw durable write",
  "*raw write whole*, with an asynchronous `fsync` of the file before it gets its name, and one of its directory after",
];
const READ_LARGE: Bare = [
  "raw read of a large file",
  "`openSync`, `readSync` of 128 KB into a new Buffer each, 16 of them kept as a stream keeps them for its reader, until the end; `closeSync`",
];
const READS = "a read is a message there and back, the path checked, the file's kind looked at, and an etag";
const CHANGES = "a write is a message, a lock that other processes heed, and the etag of what was written";
const REPLACES = "the file system does the most of it; the actor adds the lock, and a look at what is replaced";
const LISTS = "the names come in the same calls, and are sorted and checked";
const STREAMS = "90 % of a bare loop's throughput, with back-pressure";

const MODULE = new URL("../subjects/files.ts", import.meta.url).href;
const TREE = { smoke: 100, full: 2_000 };

export const suite = suiteOf(
  "files",
  [
    "The file actor, warm, asked through the router, beside the bare calls of `node:fs`.",
    `Rows are on the machine's temporary folder (${disk.kind}), its contents cached; *write* is whole or not`,
    "at all unless a row says in place. *read file* reads 1 KB, *list directory* lists 1,000 entries with size and time of each,",
    "*delete file* writes a file of 100 B and deletes it, *write + read* and *10 concurrent writes* write 100 B each.",
    "What other file tools take, and what they let out of their root, is in benchmarks/results/peers.md.",
  ].join("\n"),
  [
    row("write 100 B", 10, WHOLE, kinds.write(100), REPLACES, [1.3, 1.15]),
    row("write 10 KB", 10, WHOLE, kinds.write(10 * KB), REPLACES, [1.3, 1.15]),
    row("write 100 KB", 10, WHOLE, kinds.write(100 * KB), REPLACES, [1.3, 1.15]),
    row("read file", 10, READ, kinds.read(KB), READS, [1.7, 1.2]),
    row("list directory", 1, DETAILS, kinds.list(1_000, true), LISTS, [1.05, 0.7]),
    row("delete file", 10, DELETE, kinds.writeAndDelete, REPLACES, [1.7, 1.2]),
    row("write + read", 10, WRITE_READ, kinds.writeAndRead, READS, [1.7, 1.1]),
    row("10 concurrent writes", 10, TEN, kinds.tenWrites, REPLACES, [1.3, 1.1], 10),
    row("read 100 B", 20, READ, kinds.read(100), READS, [2, 1.6]),
    row("write 100 B in place", 20, IN_PLACE, kinds.write(100, { inPlace: true }), CHANGES, [2, 1.5]),
    row("write 100 B, durable", 1, DURABLE, kinds.write(100, { durable: true }), REPLACES, [2.3, 1.1]),
    row("append 100 B", 20, APPEND, kinds.append, CHANGES, [3.4, 1.5]),
    row("edit of a file of 10 KB", 10, EDIT, kinds.edit(10 * KB), REPLACES, [1.4, 1.1]),
    row("list of 1,000 entries", 1, LIST, kinds.list(1_000), LISTS, [1.5, 1]),
    row("read of a large file, 32 MB", 1, READ_LARGE, kinds.readLarge(32 * MB), STREAMS, [1.11, 1]),
    probe(
      "search of 2,000 files of 2 KB for a text that is in 20",
      withRatio("ms", "time"),
      { name: "open, read, close, indexOf", measure: apart(MODULE, "searchByLoop", TREE) },
      apart(MODULE, "searchFiles", TREE),
      [["time", "atMost", 27, 15, "as fast as those that start ripgrep, in milliseconds"]],
    ),
  ],
);
