import { closeSync, ftruncateSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { createMessage, systemClock } from "../../src/index";
import { openRoot } from "../../src/tools/files/open-root";
import { Status } from "../../src/tools/files/root";
import { watchTimer } from "../harness/fairness";
import { fillDirectory, fillTree, letters, NEEDLE } from "../harness/file-samples";
import { disk, makeFolder, tmpfs } from "../harness/places";
import { median } from "../harness/statistics";
import type { Readings } from "../harness/suite";
import { FILES, replied, serve, told } from "./files";

// What the probes about files run in a process of its own, on the disk.

const GB = 1e9;

/** Where there is no disk to wait for, if there is such a place: reading what is not in memory stops a process at will. */
const fast = "none" in tmpfs ? disk : tmpfs;

/** A file of 1 GB, which is a hole, is read as a stream again and again beside a timer. */
export async function timerBesideLargeRead(milliseconds: number): Promise<Readings> {
  const { folder, router, teardown } = serve(fast);
  const file = openSync(join(folder, "large"), "w");
  ftruncateSync(file, GB);
  closeSync(file);
  const readings = await watchTimer(
    milliseconds,
    async (isOver) => {
      let bytes = 0;
      do {
        for await (const item of router.stream(createMessage(FILES, "readStream", { path: "large" }))) {
          bytes += (told(item) as Uint8Array).length; // Bytes are what the stream gives where no encoding is named.
          if (isOver() && milliseconds < 100) break; // The short run sees only that it works.
        }
      } while (!isOver());
      if (milliseconds >= 100 && bytes % GB !== 0) throw new Error(`${bytes} bytes came of files of ${GB}`);
      return Math.round(bytes / 1e6);
    },
    "MB read",
  );
  await teardown();
  return readings;
}

/** A directory of 10,000 entries is listed again and again beside a timer. */
export async function timerBesideLists(milliseconds: number): Promise<Readings> {
  const { folder, router, teardown } = serve(fast);
  fillDirectory(folder, 10_000);
  const readings = await watchTimer(
    milliseconds,
    async (isOver) => {
      let lists = 0;
      while (!isOver() || lists < 2) {
        const { entries } = replied(await router.ask(createMessage(FILES, "list", { path: "" })));
        if (entries?.length === 10_000) lists++;
      }
      return lists;
    },
    "lists",
  );
  await teardown();
  return readings;
}

/** How often a search is done in one process; the figure is the median. */
const SEARCHES = 5;

/** A search of so many files for an exact text, with the longest time that nothing else had a turn. */
export async function searchFiles(files: number): Promise<Readings> {
  const { folder, router, teardown } = serve(disk);
  fillTree(folder, files);
  const search = async (): Promise<void> => {
    let matches = 0;
    let searched = 0;
    for await (const item of router.stream(createMessage(FILES, "search", { text: NEEDLE }))) {
      // The items of a search, by its protocol.
      const found = told(item) as { kind: "match" } | { kind: "end"; files: number };
      if (found.kind === "match") matches++;
      else searched = found.files;
    }
    expectFound(matches, searched, files);
  };
  const times: number[] = [];
  let gap = 0;
  for (let i = 0; i <= SEARCHES; i++) {
    let last = performance.now();
    let isOver = false;
    const look = (): void => {
      const now = performance.now();
      if (i > 0) gap = Math.max(gap, now - last); // The first one warms up.
      last = now;
      if (!isOver) setImmediate(look);
    };
    const start = performance.now();
    setImmediate(look);
    await search();
    if (i > 0) times.push(performance.now() - start);
    isOver = true;
    look();
  }
  await teardown();
  return { time: median(times), gap };
}

/** The same by a bare loop that knows the paths. */
export function searchByLoop(files: number): Readings {
  const folder = makeFolder(disk);
  const paths = fillTree(folder.path, files).map((path) => join(folder.path, path));
  const buffer = Buffer.allocUnsafe(65_536);
  const needle = Buffer.from(NEEDLE);
  const times: number[] = [];
  for (let i = 0; i <= SEARCHES; i++) {
    const start = performance.now();
    let matches = 0;
    for (const path of paths) {
      const file = openSync(path, "r");
      const length = readSync(file, buffer, 0, buffer.length, 0);
      closeSync(file);
      if (buffer.subarray(0, length).indexOf(needle) >= 0) matches++;
    }
    if (i > 0) times.push(performance.now() - start);
    expectFound(matches, paths.length, files);
  }
  folder.remove();
  return { time: median(times), gap: Math.max(...times) };
}

function expectFound(matches: number, searched: number, files: number): void {
  const due = Math.floor((files + 57) / 100); // One of a hundred, the 43rd.
  if (matches === due && searched === files) return;
  throw new Error(`${matches} matches in ${searched} files, where ${due} are in ${files}`);
}

/**
 * Times a read of 100 B, asked through the router and through the reference, and the system calls that it makes, made
 * directly by the same root; in turns, and each by its median over the turns. What is left is the actor's own share.
 */
export async function ownShare(rounds: number): Promise<Readings> {
  const { folder, files, router, teardown } = serve(disk);
  const text = letters(100, 0);
  await Bun.write(join(folder, "file.txt"), text);
  const root = openRoot({ root: folder }, systemClock);
  const status = new Status();
  const buffer = Buffer.allocUnsafe(4096);
  let wrong = 0;
  const subjects = {
    "by router": async () => {
      for (let i = 0; i < READS; i++) {
        const answer = await router.ask(createMessage(FILES, "read", { path: "file.txt" }));
        if (replied(answer).content !== text) wrong++;
      }
    },
    "by ref": async () => {
      for (let i = 0; i < READS; i++) {
        const answer = await files.ask("read", { path: "file.txt" });
        if (replied(answer).content !== text) wrong++;
      }
    },
    "system calls": () => {
      for (let i = 0; i < READS; i++) {
        const file = root.open("file.txt", "read");
        root.stat(file, status);
        const length = root.read(file, buffer, 4096, 0);
        root.close(file);
        if (status.size !== 100 || length !== 100) wrong++;
      }
    },
  };
  const times = new Map<string, number[]>();
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [name, run] of Object.entries(subjects)) {
      const start = Bun.nanoseconds();
      await run();
      const taken = (Bun.nanoseconds() - start) / READS;
      if (round >= 0) times.set(name, [...(times.get(name) ?? []), taken]);
    }
  }
  root.dispose();
  await teardown();
  if (wrong > 0) throw new Error(`${wrong} reads gave something else than the file`);
  const of = (name: keyof typeof subjects): number => median(times.get(name) ?? []);
  const calls = of("system calls");
  return {
    "own share by router": of("by router") - calls,
    "own share by ref": of("by ref") - calls,
    "system calls": calls,
  };
}

const READS = 200;
const WARM_UP = 20;
