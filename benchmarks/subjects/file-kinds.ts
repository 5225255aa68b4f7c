import * as fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type AskResult, createMessage } from "envoi";
import { EDIT, fillDirectory, letters, writeWhole } from "../harness/file-samples";
import { disk, makeFolder } from "../harness/places";
import { counted, slowSteps, steps } from "../harness/rows";
import type { Prepared } from "../harness/suite";
import { FILES, replied, type Served, serve, told, type Value } from "./files";

const KB = 1024;
const FILE = "file.txt";

/** Work in a folder, step by step: by the bare calls of `node:fs`, and by asks of the file actor. A step tells whether it was done right. */
interface Kind {
  readonly bare: ((index: number) => boolean) | { readonly awaited: (index: number) => Promise<boolean> };
  readonly asked: OneAsk | ((served: Served, index: number) => Promise<boolean>);
  readonly verify?: (done: number) => void;
}

interface OneAsk {
  readonly type: string;
  readonly payload: (index: number) => object;
  readonly isDone: (value: Value, index: number) => boolean;
}

export type Open = (folder: string) => Kind;

export function byHand(open: Open, operations: number, width = 1): Prepared {
  const folder = makeFolder(disk);
  const { bare, verify } = open(folder.path);
  const more = { teardown: folder.remove, ...verified(verify, operations / width) };
  return typeof bare === "function"
    ? steps(operations, bare, more, width)
    : slowSteps(operations, bare.awaited, more, width);
}

export function byActor(open: Open, operations: number, width = 1): Prepared {
  const served = serve(disk);
  const { folder, router, teardown } = served;
  const { asked, verify } = open(folder);
  const more = { teardown, ...verified(verify, operations / width) };
  if (typeof asked === "function") return slowSteps(operations, (index) => asked(served, index), more, width);
  const { type, payload, isDone } = asked;
  let index = 0;
  return counted(async () => {
    let done = 0;
    for (let i = 0; i < operations; i++) {
      const answer = await router.ask(createMessage(FILES, type, payload(index)));
      if (isDone(replied(answer), index++)) done++;
    }
    return done;
  }, more);
}

const verified = (verify: Kind["verify"], steps: number) =>
  verify && { verify: (calls: number) => verify(calls * steps) };

function inTurn(bytes: number) {
  const texts = [letters(bytes, 0), letters(bytes, 1)] as const;
  const contents = [Buffer.from(texts[0]), Buffer.from(texts[1])] as const;
  return { text: (index: number) => texts[index & 1 ? 1 : 0], content: (index: number) => contents[index & 1 ? 1 : 0] };
}

const expect = (isSo: boolean): void => {
  if (!isSo) throw new Error("the folder does not hold what was written last");
};

export const read =
  (bytes: number): Open =>
  (folder) => {
    const path = join(folder, FILE);
    const text = letters(bytes, 0);
    fs.writeFileSync(path, text);
    return {
      bare: () => fs.readFileSync(path, "utf8") === text,
      asked: { type: "read", payload: () => ({ path: FILE }), isDone: ({ content }) => content === text },
    };
  };

const synced = promisify(fs.fsync);

export const write =
  (bytes: number, how: { readonly inPlace?: true; readonly durable?: true } = {}): Open =>
  (folder) => {
    const [temporary, path] = [join(folder, "temporary"), join(folder, FILE)];
    const { text, content } = inTurn(bytes);
    fs.writeFileSync(path, letters(bytes + 1, 0)); // Something to cut off, once.
    const inPlace = (index: number) => {
      const file = fs.openSync(path, "r+");
      const written = fs.writeSync(file, content(index));
      fs.ftruncateSync(file, bytes);
      fs.closeSync(file);
      return written === bytes;
    };
    const durable = async (index: number) => {
      const file = fs.openSync(temporary, "wx");
      const written = fs.writeSync(file, content(index));
      await synced(file);
      fs.closeSync(file);
      fs.renameSync(temporary, path);
      const directory = fs.openSync(folder, "r");
      await synced(directory);
      fs.closeSync(directory);
      return written === bytes;
    };
    const whole = (index: number) => writeWhole(temporary, path, content(index));
    return {
      bare: how.inPlace ? inPlace : how.durable ? { awaited: durable } : whole,
      asked: {
        type: "write",
        payload: (index) => ({ path: FILE, content: text(index), ...how }),
        isDone: ({ size }) => size === bytes,
      },
      verify: (done) => expect(fs.readFileSync(path, "utf8") === text(done - 1)),
    };
  };

export const tenWrites: Open = (folder) => {
  const { text, content } = inTurn(100);
  const temporary = join(folder, "temporary");
  const names = Array.from({ length: 10 }, (_, i) => `file-${i}.txt`);
  return {
    bare(index) {
      let written = 0;
      for (const name of names) if (writeWhole(temporary, join(folder, name), content(index))) written++;
      return written === 10;
    },
    async asked({ router }, index) {
      const asks: Promise<AskResult>[] = [];
      for (const path of names) asks.push(router.ask(createMessage(FILES, "write", { path, content: text(index) })));
      let written = 0;
      for (const answer of await Promise.all(asks)) if (replied(answer).size === 100) written++;
      return written === 10;
    },
    verify: (done) => {
      for (const name of names) expect(fs.readFileSync(join(folder, name), "utf8") === text(done - 1));
    },
  };
};

export const writeAndRead: Open = (folder) => {
  const [temporary, path] = [join(folder, "temporary"), join(folder, FILE)];
  const { text, content } = inTurn(100);
  return {
    bare: (index) => writeWhole(temporary, path, content(index)) && fs.readFileSync(path, "utf8") === text(index),
    async asked({ router }, index) {
      const written = replied(await router.ask(createMessage(FILES, "write", { path: FILE, content: text(index) })));
      const found = replied(await router.ask(createMessage(FILES, "read", { path: FILE })));
      return written.size === 100 && found.content === text(index);
    },
  };
};

export const writeAndDelete: Open = (folder) => {
  const [temporary, path] = [join(folder, "temporary"), join(folder, FILE)];
  const text = letters(100, 0);
  const content = Buffer.from(text);
  return {
    bare() {
      const isWritten = writeWhole(temporary, path, content);
      fs.unlinkSync(path);
      return isWritten;
    },
    async asked({ router }) {
      replied(await router.ask(createMessage(FILES, "write", { path: FILE, content: text })));
      return replied(await router.ask(createMessage(FILES, "delete", { path: FILE }))).deleted === 1;
    },
    verify: () => expect(fs.readdirSync(folder).every((name) => name === ".envoi")),
  };
};

export const append: Open = (folder) => {
  const path = join(folder, FILE);
  const text = letters(100, 0);
  const content = Buffer.from(text);
  return {
    bare() {
      const file = fs.openSync(path, "a");
      const written = fs.writeSync(file, content);
      fs.closeSync(file);
      return written === 100;
    },
    asked: {
      type: "append",
      payload: () => ({ path: FILE, content: text }),
      isDone: ({ size }, index) => size === (index + 1) * 100,
    },
    verify: (done) => expect(fs.statSync(path).size === done * 100),
  };
};

export const edit =
  (bytes: number): Open =>
  (folder) => {
    const [temporary, path] = [join(folder, "temporary"), join(folder, FILE)];
    const whole = EDIT.text(bytes);
    fs.writeFileSync(path, whole);
    return {
      bare(index) {
        const [oldText, newText] = EDIT.words(index);
        const text = fs.readFileSync(path, "utf8");
        const at = text.indexOf(oldText);
        if (at < 0 || text.indexOf(oldText, at + 1) >= 0) return false;
        const edited = `${text.slice(0, at)}${newText}${text.slice(at + oldText.length)}`;
        return writeWhole(temporary, path, Buffer.from(edited));
      },
      asked: {
        type: "edit",
        payload: (index) => {
          const [oldText, newText] = EDIT.words(index);
          return { path: FILE, edits: [{ oldText, newText }] };
        },
        isDone: ({ size }) => size === whole.length,
      },
      verify: (done) => expect(fs.readFileSync(path, "utf8").includes(EDIT.words(done)[0])),
    };
  };

/** The names in a directory, sorted and in one page by the actor; with sizes and times where details are asked for. */
export const list =
  (count: number, details = false): Open =>
  (folder) => {
    fillDirectory(folder, count);
    const last = fs.readdirSync(folder).sort().at(-1);
    const isRight = ({ entries = [], cursor }: Value) => {
      const end = entries[count - 1];
      return entries.length === count && cursor === undefined && end?.path === last && (!details || end?.size === 0);
    };
    const namesOnly = () => fs.readdirSync(folder, { withFileTypes: true }).length === count;
    const withDetails = () => {
      let found = 0;
      for (const { name } of fs.readdirSync(folder, { withFileTypes: true })) {
        if (fs.statSync(join(folder, name)).size === 0) found++;
      }
      return found === count;
    };
    return {
      bare: details ? withDetails : namesOnly,
      asked: { type: "list", payload: () => (details ? { path: "", details } : { path: "" }), isDone: isRight },
    };
  };

const PIECE = 256 * KB; // Of a large file, written at a time.
/** The pieces of a stream, and how many of them are on their way, where its reader says nothing. */
const STREAMED = 128 * KB;
const CREDIT = 16;

/** Writes a file of so many bytes, no two pieces of which are the same. */
function writeLarge(path: string, bytes: number): void {
  const file = fs.openSync(path, "w");
  const piece = Buffer.from(letters(PIECE, 0));
  for (let at = 0; at < bytes; at += PIECE) {
    piece.writeUInt32LE(at / PIECE);
    fs.writeSync(file, piece, 0, Math.min(PIECE, bytes - at));
  }
  fs.closeSync(file);
}

/** A large file, read piece by piece, each into a Buffer of its own: whoever gets it may keep it. */
export const readLarge =
  (bytes: number): Open =>
  (folder) => {
    const path = join(folder, "large");
    writeLarge(path, bytes);
    return {
      bare() {
        const file = fs.openSync(path, "r");
        const kept: Buffer[] = [];
        let total = 0;
        for (let count = 1; count > 0; total += count) {
          const piece = Buffer.allocUnsafeSlow(STREAMED);
          count = fs.readSync(file, piece, 0, STREAMED, null);
          kept[(total / STREAMED) % CREDIT] = piece;
        }
        fs.closeSync(file);
        return total === bytes;
      },
      async asked({ router }) {
        let read = 0;
        for await (const item of router.stream(createMessage(FILES, "readStream", { path: "large" })))
          read += (told(item) as Uint8Array).length; // Bytes are what the stream gives where no encoding is named.
        return read === bytes;
      },
    };
  };
