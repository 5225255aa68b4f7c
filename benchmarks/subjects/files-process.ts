import { closeSync, ftruncateSync, openSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMessage, systemClock } from "envoi";
import { openRoot, Status } from "#internals";
import { fillDirectory, fillTree, letters, NEEDLE } from "../harness/file-samples";
import { disk, makeFolder, tmpfs } from "../harness/places";
import { median } from "../harness/statistics";
import type { Readings } from "../harness/suite";
import { watchTimer } from "../harness/timer";
import { FILES, replied, told, withFiles } from "./files";

// What the probes about files run in a process of its own, on the disk.

const GB = 1e9;

/** Where there is no disk to wait for, if there is such a place: reading what is not in memory stops a process at will. */
const fast = "none" in tmpfs ? disk : tmpfs;

/** What even a short look reads: on a busy machine, its time may be up before anything came. */
const LEAST = 2e6;

/** A file of 1 GB, which is a hole, is read as a stream again and again beside a timer. */
export const timerBesideLargeRead = (milliseconds: number): Promise<Readings> =>
  withFiles(fast, ({ folder, router }) => {
    const file = openSync(join(folder, "large"), "w");
    ftruncateSync(file, GB);
    closeSync(file);
    const isShort = milliseconds < 100; // Sees only that it works.
    const work = async (isOver: () => boolean): Promise<number> => {
      let bytes = 0;
      do {
        for await (const item of router.stream(createMessage(FILES, "readStream", { path: "large" }))) {
          bytes += (told(item) as Uint8Array).length; // Bytes are what the stream gives where no encoding is named.
          if (isShort && isOver() && bytes >= LEAST) break;
        }
      } while (!isOver());
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

/** A search of so many files for an exact text; and, of another one, the longest time that nothing else had a turn. */
export const searchFiles = (files: number): Promise<Readings> =>
  withFiles(disk, async ({ folder, router }) => {
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
    await search();
    const times: number[] = [];
    for (let i = 0; i < SEARCHES; i++) {
      const start = performance.now();
      await search();
      times.push(performance.now() - start);
    }
    return { time: median(times), gap: await longestGap(search) };
  });

/** The longest time between two turns of the event loop while something goes on. */
async function longestGap(work: () => Promise<void>): Promise<number> {
  let gap = 0;
  let isOver = false;
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  look();
  return gap;
}

/** The same by a bare loop that knows the paths, and lets nothing else have a turn. */
export function searchByLoop(files: number): Readings {
  const folder = makeFolder(disk);
  try {
    const paths = fillTree(folder.path, files).map((path) => join(folder.path, path));
    const buffer = Buffer.allocUnsafe(65_536);
    const needle = Buffer.from(NEEDLE);
    const search = (): void => {
      let matches = 0;
      for (const path of paths) {
        const file = openSync(path, "r");
        const length = readSync(file, buffer, 0, buffer.length, 0);
        closeSync(file);
        if (buffer.subarray(0, length).indexOf(needle) >= 0) matches++;
      }
      expectFound(matches, paths.length, files);
    };
    search();
    const times: number[] = [];
    for (let i = 0; i < SEARCHES; i++) {
      const start = performance.now();
      search();
      times.push(performance.now() - start);
    }
    return { time: median(times), gap: Math.max(...times) };
  } finally {
    folder.remove();
  }
}

function expectFound(matches: number, searched: number, files: number): void {
  const due = Math.floor((files + 57) / 100); // One of a hundred, the 43rd.
  if (matches === due && searched === files) return;
  throw new Error(`${matches} matches in ${searched} files, where ${due} are in ${files}`);
}

const READS = 200;
/** Turns that are not counted, for each that is: 30,000 reads of each kind in a full run, some 60 ms, as timed rows have. */
const WARM_UP = 1.5;

/**
 * Times a read of 100 B, asked through the router and through the reference, and the system calls that it makes, made
 * directly by the same root; in turns, and each by its median over the turns. What is left is the actor's own share.
 */
export const ownShare = (turns: number): Promise<Readings> =>
  withFiles(disk, async ({ folder, files, router }) => {
    const text = letters(100, 0);
    writeFileSync(join(folder, "file.txt"), text);
    const root = openRoot({ root: folder }, systemClock);
    const status = new Status();
    const buffer = Buffer.allocUnsafe(4096);
    let wrong = 0;
    const byRouter = async () => {
      for (let i = 0; i < READS; i++) {
        const answer = await router.ask(createMessage(FILES, "read", { path: "file.txt" }));
        if (replied(answer).content !== text) wrong++;
      }
    };
    const byRef = async () => {
      for (let i = 0; i < READS; i++) {
        const answer = await files.ask("read", { path: "file.txt" });
        if (replied(answer).content !== text) wrong++;
      }
    };
    const bare = () => {
      for (let i = 0; i < READS; i++) {
        const file = root.open("file.txt", "read");
        root.stat(file, status);
        const length = root.read(file, buffer, 4096, 0);
        root.close(file);
        if (status.size !== 100 || length !== 100) wrong++;
      }
    };
    const subjects = [byRouter, byRef, bare].map((run) => ({ run, times: [] as number[] }));
    for (let turn = -WARM_UP * turns; turn < turns; turn++) {
      for (const { run, times } of subjects) {
        const start = Bun.nanoseconds();
        await run();
        if (turn >= 0) times.push((Bun.nanoseconds() - start) / READS);
      }
    }
    root.dispose();
    if (wrong > 0) throw new Error(`${wrong} reads gave something else than the file`);
    const [routed = 0, referred = 0, calls = 0] = subjects.map(({ times }) => median(times));
    return { "own share by router": routed - calls, "own share by ref": referred - calls, "system calls": calls };
  });
