import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createManualClock } from "../../../../src/testing";
import { FileRefusal } from "../../../../src/tools/files/file-error";
import { openRoot } from "../../../../src/tools/files/root/open-root";
import type { Root } from "../../../../src/tools/files/root/root";
import { Staging } from "../../../../src/tools/files/write/staging";
import { WriteLock } from "../../../../src/tools/files/write/write-lock";
import { machineOf, resolutionOf } from "../programs/machine";
import { program } from "../programs/run";
import { type RootWay, rootWays, ways, withFiles, withRoot } from "../ways";

const onDisk = rootWays.filter((way) => way !== "memory");
const pairs = onDisk.flatMap((way) => onDisk.map((other): [RootWay, RootWay] => [way, other]));

/** A writer of its own, as each actor has one. */
function createWriter(root: Root) {
  const clock = createManualClock();
  const staging = new Staging(root);
  return { lock: new WriteLock(staging, clock), clock, [Symbol.dispose]: () => staging.dispose() };
}

/** Runs a test with a second root over the same directory. */
const withTwo = (way: RootWay, other: RootWay, body: (root: Root, second: Root, directory: string) => unknown) =>
  withRoot(way, async (root, directory) => {
    const place = { root: directory, resolution: resolutionOf(other) };
    const second = openRoot(place, createManualClock(), machineOf(other));
    try {
      await body(root, second, directory);
    } finally {
      second.dispose();
    }
  });

describe.each(pairs)("writers by %s and by %s", (way, other) => {
  test("exclude each other within a process", () =>
    withTwo(way, other, async (root, second) => {
      using ours = createWriter(root);
      using theirs = createWriter(second);
      expect(ours.lock.tryAcquire("a")).toBe(true);
      expect(theirs.lock.tryAcquire("a")).toBe(false);
      let isTheirs = false;
      const acquired = theirs.lock.acquire("a").then(() => {
        isTheirs = true;
      });
      await theirs.clock.advance(10);
      expect(isTheirs).toBe(false);
      ours.lock.release();
      await theirs.clock.advance(1);
      expect(isTheirs).toBe(true);
      await acquired;
      expect(ours.lock.tryAcquire("a")).toBe(false);
      theirs.lock.release();
      expect(ours.lock.tryAcquire("a")).toBe(true);
      ours.lock.release();
    }));

  test("exclude each other across processes, until one is killed", () =>
    withRoot(way, async (root, directory) => {
      const holder = await program("hold-lock", [directory, other], "held");
      using ours = createWriter(root);
      expect(ours.lock.tryAcquire("a")).toBe(false);
      const acquired = ours.lock.acquire("a");
      await holder.kill();
      await ours.clock.advance(1);
      await acquired;
      ours.lock.release();
    }));
});

// Either may be the first: the two are started at once.
const twos = onDisk.flatMap((way, i) => onDisk.slice(i).map((other): [RootWay, RootWay] => [way, other]));
test.each(twos)("writers by %s and by %s lose no step of each other", (way, other) =>
  withRoot(way, async (_root, directory) => {
    writeFileSync(join(directory, "count"), "0");
    const times = way === other ? 100 : 50;
    const running = await Promise.all([way, other].map((each) => program("add-one", [directory, each, String(times)])));
    await Promise.all(running.map((one) => one.ended()));
    expect(readFileSync(join(directory, "count"), "utf8")).toBe(String(2 * times));
  }),
);

describe.each([...onDisk])("the write lock by %s", (way) => {
  test("is handed over in the order of asking, and nobody overtakes", () =>
    withRoot(way, async (root) => {
      using writer = createWriter(root);
      const { lock, clock } = writer;
      expect(lock.tryAcquire("a")).toBe(true);
      const order: number[] = [];
      for (const turn of [1, 2, 3]) void lock.acquire("a").then(() => order.push(turn));
      await clock.settle();
      expect(order).toEqual([]);
      for (const turn of [1, 2, 3]) {
        lock.release();
        expect(lock.tryAcquire("a")).toBe(false);
        void lock.acquire("a").then(() => order.push(turn + 3));
        await clock.settle();
        expect(order).toEqual([1, 2, 3].slice(0, turn));
      }
      for (let i = 0; i < 4; i++) {
        lock.release();
        await clock.settle();
      }
      expect(order).toEqual([1, 2, 3, 4, 5, 6]);
      expect(lock.tryAcquire("a")).toBe(true);
      lock.release();
    }));

  test("that others gave back is the first one's who waited for it", () =>
    withTwo(way, way, async (root, second) => {
      using ours = createWriter(root);
      using theirs = createWriter(second);
      expect(theirs.lock.tryAcquire("a")).toBe(true);
      const first = ours.lock.acquire("a");
      theirs.lock.release();
      expect(ours.lock.tryAcquire("a")).toBe(false);
      await ours.clock.advance(1);
      await first;
      ours.lock.release();
    }));

  test("is not kept from others by a queue", () =>
    withTwo(way, way, async (root, second) => {
      using ours = createWriter(root);
      using theirs = createWriter(second);
      theirs.lock.tryAcquire("a");
      let done = 0;
      for (let i = 0; i < 100; i++) {
        void ours.lock.acquire("a").then(() => {
          done++;
          ours.lock.release();
        });
      }
      await ours.clock.settle(); // Now it knows that others are there.
      theirs.lock.release();
      await ours.clock.advance(1);
      expect(done).toBeGreaterThan(0);
      expect(done).toBeLessThan(100);
      expect(theirs.lock.tryAcquire("a")).toBe(true);
      theirs.lock.release();
      await ours.clock.advance(10);
      expect(done).toBe(100);
    }));

  test("that is disposed of refuses whoever waits for it, and whoever asks later", () =>
    withTwo(way, way, async (root, second) => {
      using ours = createWriter(root);
      using theirs = createWriter(second);
      expect(theirs.lock.tryAcquire("a")).toBe(true);
      const first = ours.lock.acquire("b").catch((thrown) => thrown);
      const next = ours.lock.acquire("c").catch((thrown) => thrown);
      ours.lock.dispose();
      expect((await first).error).toMatchObject({ kind: "io", path: "b" });
      expect((await next).error).toMatchObject({ kind: "io", path: "c" });
      expect(() => ours.lock.tryAcquire("d")).toThrow();
      theirs.lock.release();
    }));

  test("that cannot be taken is told to each who asks", () =>
    withRoot(way, async (root, directory) => {
      using writer = createWriter(root);
      mkdirSync(join(directory, ".envoi"));
      mkdirSync(join(directory, ".envoi", "lock"));
      const asked = ["a", "b"].map((path) => writer.lock.acquire(path).catch((thrown) => thrown));
      for (const [i, path] of ["a", "b"].entries()) {
        const thrown = await asked[i];
        expect(thrown).toBeInstanceOf(FileRefusal);
        expect(thrown.error.path).toBe(path);
      }
      expect(() => writer.lock.tryAcquire("c")).toThrow();
      rmSync(join(directory, ".envoi"), { recursive: true });
      await writer.lock.acquire("a");
      writer.lock.release();
    }));
});

test.each([...ways])("what is given up while others write is not done, by %s", (way) =>
  withFiles(way, async ({ files, directory, disk, system }) => {
    writeFileSync(join(directory, "a"), "old");
    const root = openRoot({ root: directory, resolution: resolutionOf(way) }, createManualClock());
    const other = new Staging(root);
    expect(other.lock("a")).toBe(true);
    const asker = new AbortController();
    const options = { signal: asker.signal };
    const going = [
      files.ask("delete", { path: "a" }, options),
      files.ask("move", { from: "a", to: "b" }, options),
      files.ask("append", { path: "a", content: "!" }, options),
      files.ask("write", { path: "c", content: "!", inPlace: true }, options),
      files.ask("write", { path: "d", content: "!" }, options),
    ];
    await new Promise<void>((resolve) => setImmediate(resolve));
    asker.abort();
    for (const answer of going) expect((await answer)._unsafeUnwrapErr().kind).toBe("cancelled");
    other.unlock();
    other.dispose();
    root.dispose();
    await system.stop(files, { drain: true });
    expect(disk.readFileSync(join(directory, "a"), "utf8")).toBe("old");
    for (const name of ["b", "c", "d"]) expect(disk.existsSync(join(directory, name))).toBe(false);
  }),
);
