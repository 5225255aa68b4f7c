import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checks } from "../../../benchmarks/peers/actors/checks";
import type { ActorPeer } from "../../../benchmarks/peers/actors/peer";
import { actors, readFairness, readHeap } from "../../../benchmarks/peers/actors/rows";
import { files } from "../../../benchmarks/peers/files";
import { lacksOf } from "../../../benchmarks/peers/measure";
import { openPeer } from "../../../benchmarks/peers/room";
import { PreparedWork } from "../../../benchmarks/peers/sampler";
import { ONE_AT_A_TIME } from "../../../benchmarks/peers/standing";
import { peerResult } from "./sample";

// Of the candidates, those that need no package.
const OWN = ["envoi", "promise", "mailbox"] as const;
const open = (name: string) => openPeer(actors, name);

describe("a row completes as many operations as it is told, on", () => {
  for (const name of OWN) {
    const candidate = actors.candidates.find((each) => each.name === name);
    for (const { row, prepare } of actors.timed) {
      if (candidate?.without?.[row] !== undefined) continue;
      test(`${name}: ${row}`, async () => {
        const peer = await open(name);
        const work = await (actors.own?.(peer, row) ?? prepare(peer, ""));
        const operations = row.startsWith("fan-out") ? 1_000 : 100;
        for (let i = 0; i < 2; i++) expect(await work(operations)).toBe(operations);
      });
    }
  }
});

test("each row of files works on envoi, and what it left on the disk is looked at", async () => {
  const root = await mkdtemp(join(tmpdir(), "envoi-peers-rows-"));
  try {
    const peer = await openPeer(files, "envoi", root);
    for (const { row, prepare, verify } of files.timed) {
      if (row === "search of 2,000 files" && process.env["ENVOI_LONG"] === undefined) continue; // It makes them all.
      const work = await prepare(peer, root);
      for (let done = 1; done <= 2; done++) {
        expect(await work(1)).toBe(1);
        verify?.(root, done);
      }
    }
    await Bun.write(join(root, "write.txt"), "something else");
    const writing = files.timed.find(({ row }) => row === "write 100 B");
    expect(() => writing?.verify?.(root, 2)).toThrow("does not hold what was written last");
  } finally {
    await rm(root, { recursive: true });
  }
});

describe("a row is refused where", () => {
  test("its work is not complete, or what was done is not there", async () => {
    const incomplete = new PreparedWork((count) => count - 1, 100);
    await expect(incomplete.sample()).rejects.toThrow("99 of 100 operations were complete");
    const lost = new PreparedWork(
      (count) => count,
      1,
      (done) => {
        throw new Error(`${done} are not there`);
      },
    );
    await expect(lost.samples(0, 3)).rejects.toThrow("3 are not there");
  });

  test("replies are wrong", async () => {
    const wrong: ActorPeer = {
      spawn: (_name, handler) => handler,
      tell: () => {},
      ask: async () => 1,
      valueOf: (answer) => answer,
    };
    for (const { prepare } of actors.timed.filter(({ row }) => row.startsWith("ask"))) {
      expect(await (await prepare(wrong, ""))(100)).toBe(1);
    }
  });

  test("a peer lacks what the row needs", async () => {
    const poor: ActorPeer = { tell() {}, ask: async () => 0, valueOf: (answer) => answer };
    for (const { prepare } of actors.timed) expect(async () => prepare(poor, "")).toThrow();
  });
});

test("operations that come one after the other are as many as take a while, and no more than there are to be", async () => {
  let most = 0;
  let calls = 0;
  const quick = new PreparedWork(async (count) => {
    most = count;
    if (++calls < 3) await Bun.sleep(5); // As code does that is not compiled yet.
    return count;
  });
  await quick.fit(1_000, 200);
  await quick.sample();
  expect(most).toBe(1_000);
  const slow = new PreparedWork(async (count) => {
    most = count;
    await Bun.sleep(count);
    return count;
  });
  await slow.fit(1_000, 20);
  await slow.sample();
  expect(most).toBe(1);
});

test("an idle actor keeps some heap, and a mailbox that drains in a microtask leaves a timer nothing", async () => {
  const heap = await readHeap(await open("mailbox"));
  expect(heap).toBeGreaterThan(0);
  expect(heap).toBeLessThan(600);
  const { ticks, gap } = await readFairness(await open("mailbox"));
  expect(ticks).toBe(0);
  expect(gap).toBeGreaterThan(190);
});

describe("the checks find", () => {
  test("that envoi does all of it", async () => {
    // In this process and all at once, which spares ten seconds: it throws at nobody.
    const outcomes = checks.map(async ({ holds }) => holds(await open("envoi")));
    expect(await Promise.all(outcomes)).toEqual(checks.map(() => true));
  });

  test("what runs on the caller's stack, and what goes on after its stop", async () => {
    const direct: ActorPeer<(message: unknown) => unknown> = {
      spawn: (_name, handler) => handler,
      // By a call of the runtime, whose frames are large: a chain of plain ones may fit on a stack.
      tell: (to, message) => [message].forEach((each) => void to(each)),
      ask: async (to, message) => to(message),
      valueOf: (answer) => answer,
      stop() {},
    };
    const outcomes = await Promise.all(
      checks
        .filter(({ name }) => /tell|20,000|sender|stopped/.test(name))
        .map(async ({ name, holds }) => [name, await holds(direct as ActorPeer)] as const), // Its actors are its own.
    );
    expect(Object.fromEntries(outcomes)).toEqual({
      "`tell` returns before the handler runs": false,
      "a message goes along 20,000 actors": false,
      "a throw harms neither sender nor process": false,
      "a stopped actor handles nothing": false,
    });
  });

  test("what a peer lacks, after what is said of it", () => {
    const { rows } = peerResult({ envoi: 1, loose: 2 }, { loose: "less" });
    const lack = checks.find(({ name }) => name === ONE_AT_A_TIME)?.lack ?? "";
    expect(lacksOf({ name: "loose", said: ["no names"] }, rows)).toEqual(["no names", lack]);
    expect(lacksOf({ name: "envoi" }, rows)).toEqual([]);
  });
});
