import {
  closeSync,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  directoryOf,
  EDIT,
  expectLast,
  expectNames,
  expectSame,
  expectSize,
  letters,
  PIECE,
  writeLarge,
} from "./file-samples";
import { makeFolder, type Place } from "./places";
import type { Floor, Prepared } from "./suite";

const NOTHING = Buffer.alloc(0);

type Prepare = (folder: string, operations: number) => Prepared;
type OnPlace = (place: Place) => Floor;

/** The bare calls of `node:fs`, in a folder of their own. */
const floor =
  (name: string, about: string, prepare: Prepare): OnPlace =>
  (place) => ({
    name,
    about,
    varies: true, // By the size of what is read or written, and by the file system.
    setup: (operations) => {
      const folder = makeFolder(place);
      return { ...prepare(folder.path, operations), teardown: folder.remove };
    },
  });

/** `isDone` does one operation and tells whether it was done right. */
const loop =
  (isDone: (folder: string) => (index: number) => boolean, verify?: (folder: string, done: number) => void): Prepare =>
  (folder, operations) => {
    const step = isDone(folder);
    let completed = 0;
    const run = () => {
      for (let i = 0; i < operations; i++) if (step(completed)) completed++;
    };
    return { run, completed: () => completed, ...(verify && { verify: () => verify(folder, completed) }) };
  };

const lastOf = (bytes: number) => (folder: string, done: number) => expectLast(join(folder, "file.txt"), bytes, done);

/** The same file read again and again. */
export const rawRead = (bytes: number): OnPlace =>
  floor(
    "raw read",
    '`readFileSync(path, "utf8")`',
    loop((folder) => {
      const path = join(folder, "file.txt");
      const text = letters(bytes, 0);
      writeFileSync(path, text);
      return () => readFileSync(path, "utf8") === text;
    }),
  );

/** Two contents in turn, written into the same file. */
export const rawInPlace = (bytes: number): OnPlace =>
  floor(
    "raw write in place",
    '`openSync(path, "r+")`, `writeSync` of a Buffer, `ftruncateSync`, `closeSync`',
    loop((folder) => {
      const path = join(folder, "file.txt");
      const contents = [0, 1].map((turn) => Buffer.from(letters(bytes, turn)));
      writeFileSync(path, letters(bytes + 1, 0)); // Something to cut off, once.
      return (index) => {
        const file = openSync(path, "r+");
        const written = writeSync(file, contents[index & 1] ?? NOTHING);
        ftruncateSync(file, bytes);
        closeSync(file);
        return written === bytes;
      };
    }, lastOf(bytes)),
  );

/** A file that has its name once it is whole. */
export function writeWhole(temporary: string, path: string, content: Buffer): boolean {
  const file = openSync(temporary, "wx");
  const written = writeSync(file, content);
  closeSync(file);
  renameSync(temporary, path);
  return written === content.length;
}

/** Two contents in turn, each in a new file that takes the name of the one before. */
export const rawWhole = (bytes: number): OnPlace =>
  floor(
    "raw write whole",
    'a temporary file: `openSync(path, "wx")`, `writeSync` of a Buffer, `closeSync`; then `renameSync`',
    loop((folder) => {
      const [temporary, path] = [join(folder, "temporary"), join(folder, "file.txt")];
      const contents = [0, 1].map((turn) => Buffer.from(letters(bytes, turn)));
      return (index) => writeWhole(temporary, path, contents[index & 1] ?? NOTHING);
    }, lastOf(bytes)),
  );

/** Ten files, each replaced as a whole. */
export const rawTenWrites = (bytes: number): OnPlace =>
  floor(
    "raw write whole, 10 files",
    "the same for ten files, one after the other",
    loop((folder) => {
      const temporary = join(folder, "temporary");
      const contents = [0, 1].map((turn) => Buffer.from(letters(bytes, turn)));
      return (index) => {
        const content = contents[Math.floor(index / 10) & 1] ?? NOTHING;
        return writeWhole(temporary, join(folder, `file-${index % 10}.txt`), content);
      };
    }),
  );

/** A file written as a whole, and read. */
export const rawWriteRead = (bytes: number): OnPlace =>
  floor(
    "raw write and read",
    "*raw write whole*, then *raw read*",
    loop((folder) => {
      const [temporary, path] = [join(folder, "temporary"), join(folder, "file.txt")];
      const texts = [0, 1].map((turn) => letters(bytes, turn));
      const contents = texts.map((text) => Buffer.from(text));
      return (index) =>
        writeWhole(temporary, path, contents[index & 1] ?? NOTHING) && readFileSync(path, "utf8") === texts[index & 1];
    }),
  );

/** A file written as a whole, and deleted. */
export const rawDelete = (bytes: number): OnPlace =>
  floor(
    "raw write and delete",
    "*raw write whole*, then `unlinkSync`",
    loop(
      (folder) => {
        const [temporary, path] = [join(folder, "temporary"), join(folder, "file.txt")];
        const content = Buffer.from(letters(bytes, 0));
        return () => {
          const isWritten = writeWhole(temporary, path, content);
          unlinkSync(path);
          return isWritten;
        };
      },
      (folder) => expectNames(folder, []),
    ),
  );

/** A file added to. */
export const rawAppend = (bytes: number): OnPlace =>
  floor(
    "raw append",
    '`openSync(path, "a")`, `writeSync` of a Buffer, `closeSync`',
    loop(
      (folder) => {
        const path = join(folder, "file.txt");
        const content = Buffer.from(letters(bytes, 0));
        return () => {
          const file = openSync(path, "a");
          const written = writeSync(file, content);
          closeSync(file);
          return written === bytes;
        };
      },
      (folder, done) => expectSize(join(folder, "file.txt"), done * bytes),
    ),
  );

/** One word of a file replaced by another, there and back. */
export const rawEdit = (bytes: number): OnPlace =>
  floor(
    "raw edit",
    "*raw read*, `indexOf` until the text is known to occur once, the text put together anew, *raw write whole*",
    loop((folder) => {
      const [temporary, path] = [join(folder, "temporary"), join(folder, "file.txt")];
      writeFileSync(path, EDIT.text(bytes));
      return (index) => {
        const [oldText, newText] = EDIT.words(index);
        const text = readFileSync(path, "utf8");
        const at = text.indexOf(oldText);
        if (at < 0 || text.indexOf(oldText, at + 1) >= 0) return false;
        const edited = `${text.slice(0, at)}${newText}${text.slice(at + oldText.length)}`;
        return writeWhole(temporary, path, Buffer.from(edited));
      };
    }),
  );

/** What is known of a file. */
export const rawStat: OnPlace = floor(
  "raw stat",
  "`statSync`",
  loop((folder) => {
    const path = join(folder, "file.txt");
    writeFileSync(path, letters(100, 0));
    return () => statSync(path).size === 100;
  }),
);

/** The names in a directory, with their kinds. */
export const rawList = (entries: number): OnPlace =>
  onDirectory("raw list", "`readdirSync(path, { withFileTypes: true })`", entries, (folder) => {
    return readdirSync(folder, { withFileTypes: true }).length === entries;
  });

/** The names in a directory, with sizes and times. */
export const rawListDetails = (entries: number): OnPlace =>
  onDirectory(
    "raw list with details",
    "`readdirSync(path, { withFileTypes: true })`, and `statSync` of each",
    entries,
    (folder) => {
      let found = 0;
      for (const { name } of readdirSync(folder, { withFileTypes: true })) {
        if (statSync(join(folder, name)).size === 0) found++;
      }
      return found === entries;
    },
  );

/** A directory of so many entries, which is looked at again and again. */
const onDirectory =
  (name: string, about: string, entries: number, isDone: (folder: string) => boolean): OnPlace =>
  (place) => ({
    name,
    about,
    varies: true, // By the size of what is read or written, and by the file system.
    setup: (operations) => {
      const folder = directoryOf(place, entries);
      return loop(() => () => isDone(folder))(folder, operations);
    },
  });

const synced = promisify(fsync);

/** A file written as a whole, which a loss of power does not take. */
export const rawDurable = (bytes: number): OnPlace =>
  floor(
    "raw durable write",
    "*raw write whole*, with an asynchronous `fsync` of the file before it gets its name, and one of its directory after",
    (folder, operations) => {
      const [temporary, path] = [join(folder, "temporary"), join(folder, "file.txt")];
      const contents = [0, 1].map((turn) => Buffer.from(letters(bytes, turn)));
      let completed = 0;
      const run = async () => {
        for (let i = 0; i < operations; i++) {
          const file = openSync(temporary, "wx");
          const written = writeSync(file, contents[completed & 1] ?? NOTHING);
          await synced(file);
          closeSync(file);
          renameSync(temporary, path);
          const directory = openSync(folder, "r");
          await synced(directory);
          closeSync(directory);
          if (written === bytes) completed++;
        }
      };
      return { run, completed: () => completed, verify: () => lastOf(bytes)(folder, completed) };
    },
  );

/** The pieces of a stream, and how many of them are on their way, where its reader says nothing. */
const STREAMED = 128 * 1024;
const CREDIT = 16;

/** A large file, read piece by piece, each into a Buffer of its own: whoever gets it may keep it. */
export const rawReadLarge = (bytes: number): OnPlace =>
  floor(
    "raw read of a large file",
    "`openSync`, `readSync` of 128 KB into a new Buffer each, 16 of them kept as a stream keeps them for its reader, until the end; `closeSync`",
    loop((folder) => {
      const path = join(folder, "large");
      writeLarge(path, bytes);
      return () => {
        const file = openSync(path, "r");
        const kept: Buffer[] = [];
        let total = 0;
        for (let count = 1; count > 0; total += count) {
          const piece = Buffer.allocUnsafeSlow(STREAMED);
          count = readSync(file, piece, 0, STREAMED, null);
          kept[(total / STREAMED) % CREDIT] = piece;
        }
        closeSync(file);
        return total === bytes;
      };
    }),
  );

/** A large file, copied piece by piece. */
export const rawCopyLarge = (bytes: number): OnPlace =>
  floor(
    "raw copy of a large file",
    "`readSync` of 256 KB and `writeSync` into a new file until the end; then `renameSync` over the copy before",
    loop(
      (folder) => {
        const path = join(folder, "large");
        writeLarge(path, bytes);
        const piece = Buffer.allocUnsafe(PIECE);
        return () => {
          const [from, to] = [openSync(path, "r"), openSync(join(folder, "temporary"), "wx")];
          let total = 0;
          for (;;) {
            const count = readSync(from, piece, 0, PIECE, null);
            if (count === 0) break;
            total += writeSync(to, piece, 0, count);
          }
          const isWhole = fstatSync(to).size === bytes;
          closeSync(from);
          closeSync(to);
          renameSync(join(folder, "temporary"), join(folder, "copy"));
          return isWhole && total === bytes;
        };
      },
      (folder) => expectSame(join(folder, "large"), join(folder, "copy")),
    ),
  );
