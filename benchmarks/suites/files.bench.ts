import * as raw from "../harness/file-floors";
import { disk, type Place, tmpfs } from "../harness/places";
import type { Floor, LeftOut, Row, Suite } from "../harness/suite";
import * as files from "../subjects/files";
import { filesProbes } from "../subjects/files-probes";

const KB = 1024;
const MB = 1024 * KB;

/** A row that can stand on any file system. */
interface Kind {
  readonly name: string;
  readonly operations: number;
  readonly per?: number;
  readonly floor: (place: Place) => Floor;
  readonly work: files.OnPlace;
}

const kind = (name: string, operations: number, floor: Kind["floor"], work: files.OnPlace): Kind => ({
  name,
  operations,
  floor,
  work,
});

const on = (place: Place, { name, operations, per = 1, floor, work }: Kind): Row => ({
  kind: "timed",
  name: place === disk ? name : nameOnTmpfs(name),
  operations,
  per,
  floor: floor(place),
  setup: () => work(place, operations),
});

const nameOnTmpfs = (name: string): string => `${name}, tmpfs`;

/** Published, by their published names; and those that a limit is about. */
const both: readonly Kind[] = [
  kind("write 100 B", 10, raw.rawWhole(100), files.write(100)),
  kind("write 10 KB", 10, raw.rawWhole(10 * KB), files.write(10 * KB)),
  kind("write 100 KB", 10, raw.rawWhole(100 * KB), files.write(100 * KB)),
  kind("read file", 10, raw.rawRead(KB), files.read(KB)),
  kind("list directory", 1, raw.rawListDetails(1_000), files.list(1_000, true)),
  kind("delete file", 10, raw.rawDelete(100), files.writeAndDelete(100)),
  kind("write + read", 10, raw.rawWriteRead(100), files.writeAndRead(100)),
  { ...kind("10 concurrent writes", 10, raw.rawTenWrites(100), files.tenWrites(100)), per: 10 },
  kind("read 100 B", 20, raw.rawRead(100), files.read(100)),
  kind("read 10 KB", 20, raw.rawRead(10 * KB), files.read(10 * KB)),
  kind("write 100 B in place", 20, raw.rawInPlace(100), files.write(100, { inPlace: true })),
  kind("write 10 KB in place", 20, raw.rawInPlace(10 * KB), files.write(10 * KB, { inPlace: true })),
  kind("write 100 KB in place", 10, raw.rawInPlace(100 * KB), files.write(100 * KB, { inPlace: true })),
  kind("list of 1,000 entries", 1, raw.rawList(1_000), files.list(1_000)),
];

const onDisk: readonly Kind[] = [
  kind("write 100 B, durable", 1, raw.rawDurable(100), files.write(100, { durable: true })),
  kind("append 100 B", 20, raw.rawAppend(100), files.append(100)),
  kind("edit of a file of 10 KB", 10, raw.rawEdit(10 * KB), files.edit(10 * KB)),
  kind("stat", 20, raw.rawStat, files.stat),
  kind("list of 1 entry", 20, raw.rawList(1), files.list(1)),
  kind("list of 50 entries", 10, raw.rawList(50), files.list(50)),
  kind("list of 10,000 entries", 1, raw.rawList(10_000), files.list(10_000)),
];

const large: readonly Kind[] = [
  kind("read of a large file, 32 MB", 1, raw.rawReadLarge(32 * MB), files.readLarge(32 * MB)),
  kind("copy of a large file, 32 MB", 1, raw.rawCopyLarge(32 * MB), files.copyLarge(32 * MB)),
];

const { rows: rowsInMemory, leftOut } = inMemory(tmpfs);

function inMemory(place: typeof tmpfs): { readonly rows: readonly Row[]; readonly leftOut: readonly LeftOut[] } {
  const kinds = [...both, ...large];
  if (!("none" in place)) return { rows: kinds.map((each) => on(place, each)), leftOut: [] };
  return { rows: [], leftOut: kinds.map(({ name }) => ({ row: nameOnTmpfs(name), why: place.none })) };
}

export const suite: Suite = {
  name: "files",
  about: [
    "The file actor, warm, asked through the router, beside the bare calls of `node:fs`.",
    `Rows that do not say tmpfs are on the machine's temporary folder (${disk.kind}), its contents cached; *write* is whole or not`,
    "at all unless a row says in place. *read file* reads 1 KB, *list directory* lists 1,000 entries with size and time of each,",
    "*delete file* writes a file of 100 B and deletes it, *write + read* and *10 concurrent writes* write 100 B each. The file of 1 GB is a hole, on tmpfs where there is one.",
    "What other file tools take, and what they let out of their root, is in benchmarks/results/peers.md.",
  ].join("\n"),
  rows: [...[...both, ...onDisk, ...large].map((each) => on(disk, each)), ...rowsInMemory, ...filesProbes],
  leftOut,
};
