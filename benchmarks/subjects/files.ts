import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AskResult, address, createMessage, createSystem, type Router } from "envoi";
import { type FileSystemRef, spawnFileSystem } from "envoi/tools";
import {
  directoryOf,
  EDIT,
  entryNames,
  expectLast,
  expectNames,
  expectSame,
  expectSize,
  letters,
  writeLarge,
} from "../harness/file-samples";
import { type Folder, makeFolder, type Place } from "../harness/places";
import type { Prepared } from "../harness/suite";

/** The address that a file actor has unless it is given a name. */
export const FILES = address("files");

/** A file actor over a folder of its own. */
interface Served {
  readonly folder: string;
  readonly files: FileSystemRef;
  readonly router: Router;
  readonly teardown: () => Promise<void>;
}

/** Prepares a row's work on one file system. */
export type OnPlace = (place: Place, operations: number) => Prepared;

/** Serves a folder of its own, or one that is shared, since nothing in it is changed. */
function serve(place: Place, folder: Folder = makeFolder(place)): Served {
  const { path, remove } = folder;
  const system = createSystem();
  const files = spawnFileSystem(system, { root: path });
  const teardown = async () => {
    await system.shutdown();
    remove();
  };
  return { folder: path, files, router: system.router, teardown };
}

/** Works with a file actor, which ends with it. */
export async function withFiles<Value>(place: Place, work: (served: Served) => Promise<Value>): Promise<Value> {
  const served = serve(place);
  try {
    return await work(served);
  } finally {
    await served.teardown();
  }
}

/** Of all replies, what the rows look at. */
interface Value {
  readonly content?: string | Uint8Array;
  readonly size?: number;
  readonly entries?: readonly { readonly path: string; readonly size?: number }[];
  readonly cursor?: string;
  readonly deleted?: number;
  readonly bytes?: number;
}

/** The value of a reply; a refusal is thrown, since no row is about one. */
export function replied(answer: AskResult): Value {
  if (answer.isErr()) throw new Error(answer.error.message, { cause: answer.error });
  return told(answer.value) as Value; // By the protocol, as far as it goes.
}

/** The value of an item of a stream. */
export function told(reply: unknown): unknown {
  // The router knows no types; the protocol says that a reply, and an item, is one of these two.
  const outcome = reply as { ok: true; value: unknown } | { ok: false; error: { message: string } };
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

interface Asks {
  readonly type: string;
  readonly payload: (index: number) => object;
  /** Whether the reply is the one that must come. */
  readonly isDone: (value: Value, index: number) => boolean;
  readonly verify?: (done: number) => void;
}

/** Asks through the router, each awaited before the next. */
function asked({ router, teardown }: Served, operations: number, { type, payload, isDone, verify }: Asks): Prepared {
  let completed = 0;
  const run = async () => {
    for (let i = 0; i < operations; i++) {
      const answer = await router.ask(createMessage(FILES, type, payload(completed)));
      if (isDone(replied(answer), completed)) completed++;
    }
  };
  return { run, completed: () => completed, teardown, ...(verify && { verify: () => verify(completed) }) };
}

const FILE = "file.txt";
const turns = (bytes: number): readonly [string, string] => [letters(bytes, 0), letters(bytes, 1)];

/** The same file read again and again. */
export const read =
  (bytes: number): OnPlace =>
  (place, operations) => {
    const served = serve(place);
    const text = letters(bytes, 0);
    writeFileSync(join(served.folder, FILE), text);
    const payload = () => ({ path: FILE });
    return asked(served, operations, { type: "read", payload, isDone: ({ content }) => content === text });
  };

/** Two contents in turn, written to the same file. */
export const write =
  (bytes: number, options: { readonly inPlace?: boolean; readonly durable?: boolean } = {}): OnPlace =>
  (place, operations) => {
    const served = serve(place);
    const texts = turns(bytes);
    writeFileSync(join(served.folder, FILE), "");
    return asked(served, operations, {
      type: "write",
      payload: (index) => ({ path: FILE, content: texts[index & 1], ...options }),
      isDone: ({ size }) => size === bytes,
      verify: (done) => expectLast(join(served.folder, FILE), bytes, done),
    });
  };

/** Ten files written at once, each awaited with all the others. */
export const tenWrites =
  (bytes: number): OnPlace =>
  (place, operations) => {
    const { folder, router, teardown } = serve(place);
    const texts = turns(bytes);
    let completed = 0;
    const run = async () => {
      for (let sent = 0; sent < operations; sent += 10) {
        const asks: Promise<AskResult>[] = [];
        const content = texts[(completed / 10) & 1];
        for (let i = 0; i < 10; i++) {
          asks.push(router.ask(createMessage(FILES, "write", { path: `file-${i}.txt`, content })));
        }
        for (const answer of await Promise.all(asks)) if (replied(answer).size === bytes) completed++;
      }
    };
    const verify = () => {
      for (let i = 0; i < 10; i++) expectLast(join(folder, `file-${i}.txt`), bytes, completed / 10);
    };
    return { run, completed: () => completed, verify, teardown };
  };

/** A file written and read. */
export const writeAndRead =
  (bytes: number): OnPlace =>
  (place, operations) => {
    const { router, teardown } = serve(place);
    const texts = turns(bytes);
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        const content = texts[completed & 1];
        const written = replied(await router.ask(createMessage(FILES, "write", { path: FILE, content })));
        const found = replied(await router.ask(createMessage(FILES, "read", { path: FILE })));
        if (written.size === bytes && found.content === content) completed++;
      }
    };
    return { run, completed: () => completed, teardown };
  };

/** A file written and deleted. */
export const writeAndDelete =
  (bytes: number): OnPlace =>
  (place, operations) => {
    const { folder, router, teardown } = serve(place);
    const [content] = turns(bytes);
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        replied(await router.ask(createMessage(FILES, "write", { path: FILE, content })));
        const { deleted } = replied(await router.ask(createMessage(FILES, "delete", { path: FILE })));
        if (deleted === 1) completed++;
      }
    };
    return { run, completed: () => completed, verify: () => expectNames(folder, [".envoi"]), teardown };
  };

/** A file added to. */
export const append =
  (bytes: number): OnPlace =>
  (place, operations) => {
    const served = serve(place);
    const [content] = turns(bytes);
    return asked(served, operations, {
      type: "append",
      payload: () => ({ path: FILE, content }),
      isDone: ({ size }, index) => size === (index + 1) * bytes,
      verify: (done) => expectSize(join(served.folder, FILE), done * bytes),
    });
  };

/** One word of a file replaced by another, there and back. */
export const edit =
  (bytes: number): OnPlace =>
  (place, operations) => {
    const served = serve(place);
    const text = EDIT.text(bytes);
    writeFileSync(join(served.folder, FILE), text);
    return asked(served, operations, {
      type: "edit",
      payload: (index) => {
        const [oldText, newText] = EDIT.words(index);
        return { path: FILE, edits: [{ oldText, newText }] };
      },
      isDone: ({ size }) => size === text.length,
    });
  };

/** What is known of a file. */
export const stat: OnPlace = (place, operations) => {
  const served = serve(place);
  writeFileSync(join(served.folder, FILE), letters(100, 0));
  return asked(served, operations, {
    type: "stat",
    payload: () => ({ path: FILE }),
    isDone: ({ size }) => size === 100,
  });
};

/** The names in a directory, sorted, in one page. */
export const list =
  (count: number, details = false): OnPlace =>
  (place, operations) => {
    const served = serve(place, { path: directoryOf(place, count), remove() {} });
    const last = entryNames(count).at(-1);
    return asked(served, operations, {
      type: "list",
      payload: () => (details ? { path: "", details } : { path: "" }),
      isDone: ({ entries = [], cursor }) => {
        const end = entries[count - 1];
        return entries.length === count && cursor === undefined && end?.path === last && (!details || end?.size === 0);
      },
    });
  };

/** A large file, read as a stream of bytes. */
export const readLarge =
  (bytes: number): OnPlace =>
  (place, operations) => {
    const { folder, router, teardown } = serve(place);
    writeLarge(join(folder, "large"), bytes);
    let completed = 0;
    const run = async () => {
      for (let i = 0; i < operations; i++) {
        let total = 0;
        for await (const item of router.stream(createMessage(FILES, "readStream", { path: "large" }))) {
          // Bytes are what the stream gives where no encoding is named.
          total += (told(item) as Uint8Array).length;
        }
        if (total === bytes) completed++;
      }
    };
    return { run, completed: () => completed, teardown };
  };

/** A large file, copied over the copy before. */
export const copyLarge =
  (bytes: number): OnPlace =>
  (place, operations) => {
    const served = serve(place);
    const { folder } = served;
    writeLarge(join(folder, "large"), bytes);
    return asked(served, operations, {
      type: "copy",
      payload: () => ({ from: "large", to: "copy", ifExists: "replace" }),
      isDone: (value) => value.bytes === bytes,
      verify: () => expectSame(join(folder, "large"), join(folder, "copy")),
    });
  };
