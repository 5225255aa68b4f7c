import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { type AskResult, address, createMessage, createSystem, type Router } from "envoi";
import { type FileSystemRef, spawnFileSystem } from "envoi/tools";
import { fillTree, NEEDLE } from "../harness/file-samples";
import { disk, makeFolder, type Place, tmpfs } from "../harness/places";
import { median } from "../harness/statistics";
import type { Readings } from "../harness/suite";

export const FILES = address("files");

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

export async function withFiles<Value>(place: Place, work: (served: Served) => Promise<Value>): Promise<Value> {
  const served = serve(place);
  return work(served).finally(served.teardown);
}

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

export function told(reply: unknown): unknown {
  // The router knows no types; the protocol says that a reply, and an item, is one of these two.
  const outcome = reply as { ok: true; value: unknown } | { ok: false; error: { kind: string; message: string } };
  if (!outcome.ok) throw new Error(`${outcome.error.kind}: ${outcome.error.message}`);
  return outcome.value;
}

// Each of these runs in a process of its own.

/** Files in memory, if this machine has a place for them: a read from a disk can stop a process for any time. */
export const fast = "none" in tmpfs ? disk : tmpfs;

const SEARCHES = 5; // How often a search is done in one process, after one to warm up; the figure is the median.

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
