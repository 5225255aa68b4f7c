import { closeSync, ftruncateSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { type AskResult, address, createMessage, createSystem, type Router } from "envoi";
import { type FileSystemRef, spawnFileSystem } from "envoi/tools";
import { fillDirectory, fillTree, NEEDLE } from "../harness/file-samples";
import { disk, makeFolder, type Place, tmpfs } from "../harness/places";
import { median } from "../harness/statistics";
import type { Readings } from "../harness/suite";
import { watchTimer } from "../harness/timer";

/** The address that a file actor has unless it is given a name. */
export const FILES = address("files");

/** A file actor over a folder of its own. */
export interface Served {
  readonly folder: string;
  readonly files: FileSystemRef;
  readonly router: Router;
  readonly teardown: () => Promise<void>;
}

export function serve(place: Place): Served {
  const { path, remove } = makeFolder(place);
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
export interface Value {
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

/** The bytes of a file that is read as a stream, until it has ended or enough has come. */
export async function streamedBytes({ router }: Served, path: string, isEnough = (_bytes: number) => false) {
  let bytes = 0;
  for await (const item of router.stream(createMessage(FILES, "readStream", { path }))) {
    bytes += (told(item) as Uint8Array).length; // Bytes are what the stream gives where no encoding is named.
    if (isEnough(bytes)) break;
  }
  return bytes;
}

// What is run in a process of its own.

/** Where there is no disk to wait for, if there is such a place: reading what is not in memory stops a process at will. */
export const fast = "none" in tmpfs ? disk : tmpfs;

const GB = 1e9;

/** What even a short look reads: on a busy machine, its time may be up before anything came. */
const LEAST = 2e6;

/** A file of 1 GB, which is a hole, is read as a stream again and again beside a timer. */
export const timerBesideLargeRead = (milliseconds: number): Promise<Readings> =>
  withFiles(fast, (served) => {
    const file = openSync(join(served.folder, "large"), "w");
    ftruncateSync(file, GB);
    closeSync(file);
    const isShort = milliseconds < 100; // Sees only that it works.
    const work = async (isOver: () => boolean): Promise<number> => {
      let bytes = 0;
      const isEnough = (read: number) => isShort && isOver() && read >= LEAST;
      do bytes += await streamedBytes(served, "large", isEnough);
      while (!isOver());
      if (!isShort && bytes % GB !== 0) throw new Error(`${bytes} bytes came of files of ${GB}`);
      return Math.round(bytes / 1e6);
    };
    return watchTimer(milliseconds, work, "MB read");
  });

/** A directory of 10,000 entries is listed again and again beside a timer. */
export const timerBesideLists = (milliseconds: number): Promise<Readings> =>
  withFiles(fast, ({ folder, router }) => {
    fillDirectory(folder, 10_000);
    const work = async (isOver: () => boolean): Promise<number> => {
      let lists = 0;
      while (!isOver() || lists < 2) {
        const { entries } = replied(await router.ask(createMessage(FILES, "list", { path: "" })));
        if (entries?.length !== 10_000) throw new Error(`${entries?.length} of 10,000 entries were listed`);
        lists++;
      }
      return lists;
    };
    return watchTimer(milliseconds, work, "lists");
  });

/** How often a search is done in one process, after one to warm up; the figure is the median. */
const SEARCHES = 5;

/** Searches so many files, again and again; `search` gives how many had what is searched for, and how many it looked through. */
async function searching(files: number, search: () => Promise<readonly [matches: number, searched: number]>) {
  const times: number[] = [];
  for (let i = -1; i < SEARCHES; i++) {
    const start = performance.now();
    const [matches, searched] = await search();
    if (i >= 0) times.push(performance.now() - start);
    const due = Math.floor((files + 57) / 100); // One of a hundred, the 43rd.
    if (matches !== due || searched !== files) {
      throw new Error(`${matches} matches in ${searched} files, where ${due} are in ${files}`);
    }
  }
  return { time: median(times) };
}

/** By the file actor. */
export const searchFiles = (files: number): Promise<Readings> =>
  withFiles(disk, ({ folder, router }) => {
    fillTree(folder, files);
    return searching(files, async () => {
      let matches = 0;
      let searched = 0;
      for await (const item of router.stream(createMessage(FILES, "search", { text: NEEDLE }))) {
        // The items of a search, by its protocol.
        const found = told(item) as { kind: "match" } | { kind: "end"; files: number };
        if (found.kind === "match") matches++;
        else searched = found.files;
      }
      return [matches, searched];
    });
  });

/** By a bare loop that knows the paths. */
export function searchByLoop(files: number): Promise<Readings> {
  const folder = makeFolder(disk);
  const paths = fillTree(folder.path, files).map((path) => join(folder.path, path));
  const buffer = Buffer.allocUnsafe(65_536);
  const needle = Buffer.from(NEEDLE);
  return searching(files, async () => {
    let matches = 0;
    for (const path of paths) {
      const file = openSync(path, "r");
      const length = readSync(file, buffer, 0, buffer.length, 0);
      closeSync(file);
      if (buffer.subarray(0, length).indexOf(needle) >= 0) matches++;
    }
    return [matches, paths.length] as const;
  }).finally(folder.remove);
}
