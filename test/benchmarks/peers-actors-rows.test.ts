import { describe, expect, test } from "bun:test";
import { checkPeer, summariseChecks } from "../../benchmarks/peers/actors/checking";
import { checks, ONE_AT_A_TIME, YIELDS } from "../../benchmarks/peers/actors/checks";
import { type ActorPeer, candidates, openPeer } from "../../benchmarks/peers/actors/peer";
import { PreparedWork } from "../../benchmarks/peers/actors/prepared-work";
import type { Checked } from "../../benchmarks/peers/actors/results";
import { readFairness, readHeap, timedRows } from "../../benchmarks/peers/actors/rows";
import { named, type RoomRun } from "../../benchmarks/peers/room";

// Of the candidates, those that need no package.
const OWN = ["envoi", "promise", "mailbox"] as const;

const LEAVES = 100;

const nowhere: RoomRun = {
  root: "",
  folder: "",
  rounds: 1,
  seconds: 1,
  missing: undefined,
  say() {},
  failure: () => ({ failed: "" }),
};

describe("a row completes as many operations as it is told, on", () => {
  for (const name of OWN) {
    for (const { row, prepare } of timedRows) {
      if (named(candidates, name).without[row] !== undefined) continue;
      test(`${name}: ${row}`, async () => {
        const peer = await openPeer(name);
        const work = await (peer.own?.[row]?.() ?? prepare(peer, LEAVES));
        const operations = row.startsWith("fan-out") ? 1_000 : 100;
        for (let i = 0; i < 2; i++) expect(await work(operations)).toBe(operations);
      });
    }
  }
});

describe("a row is refused where", () => {
  test("its work is not complete", async () => {
    const incomplete = new PreparedWork((count) => count - 1, 100);
    await expect(incomplete.sample()).rejects.toThrow("99 of 100 operations were complete");
  });

  test("replies are wrong", async () => {
    const wrong: ActorPeer = {
      spawn: (_name, handler) => handler,
      tell: () => {},
      ask: async () => 1,
      valueOf: (answer) => answer,
    };
    for (const row of timedRows.filter(({ row }) => row.startsWith("ask"))) {
      expect(await (await row.prepare(wrong, LEAVES))(100)).toBe(1);
    }
  });

  test("a peer lacks what the row needs", async () => {
    const poor: ActorPeer = { tell() {}, ask: async () => 0, valueOf: (answer) => answer };
    for (const row of timedRows) expect(async () => row.prepare(poor, LEAVES)).toThrow();
  });
});

test("operations that come one after the other are as many as take a while, and no more than there are to be", async () => {
  let most = 0;
  let calls = 0;
  const quick = new PreparedWork(async (count) => {
    most = count;
    if (++calls < 3) await Bun.sleep(5); // As code does that is not compiled yet.
    return count;
  }, 1);
  await quick.fit(1_000, 200);
  await quick.sample();
  expect(most).toBe(1_000);
  const slow = new PreparedWork(async (count) => {
    most = count;
    await Bun.sleep(count);
    return count;
  }, 1);
  await slow.fit(1_000, 20);
  await slow.sample();
  expect(most).toBe(1);
});

test("an idle actor keeps some heap, and no more than is known of it", async () => {
  const heap = await readHeap(await openPeer("mailbox"));
  expect(heap).toBeGreaterThan(0);
  expect(heap).toBeLessThan(600);
});

test("a mailbox that drains in a microtask leaves a timer nothing", async () => {
  const { ticks, gap } = await readFairness(await openPeer("mailbox"));
  expect(ticks).toBe(0);
  expect(gap).toBeGreaterThan(190);
});

describe("the checks find", () => {
  const found = async (name: string): Promise<Record<string, Checked["outcome"]>> => {
    const run: RoomRun = { ...nowhere, failure: (_candidate, what, reason) => ({ failed: `${what}: ${reason}` }) };
    const { checks } = await checkPeer(run, named(candidates, name), undefined, true);
    return Object.fromEntries(checks.map(({ check, outcome }) => [check, outcome]));
  };

  test("that envoi does all of it", async () => {
    // In this process and all at once, which spares ten seconds: it throws at nobody.
    const outcomes = checks.map(async ({ holds }) => holds(await openPeer("envoi")));
    expect(await Promise.all(outcomes)).toEqual(checks.map(() => true));
  });

  test("what the bare mailbox lacks", async () => {
    expect(await found("mailbox")).toEqual({
      "`tell` returns before the handler runs": true,
      [ONE_AT_A_TIME]: false,
      "a message goes along 20,000 actors": true,
      "an ask times out": false,
      "an asker is told that the handler threw": false,
      "a throw harms neither sender nor process": false,
      "an actor goes on after a throw": true,
      "a stopped actor handles nothing": { none: "nothing stops" },
      [YIELDS]: true,
    });
  }, 240_000);

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
});

describe("what follows from the checks:", () => {
  const [candidate] = candidates;
  if (candidate === undefined) throw new Error("there are candidates");

  test("what does not hold is lacking, after what is said of a peer; what could not be checked is not", () => {
    const { lacks, keepsOneAtATime, yieldsToTimers } = summariseChecks({ ...candidate, said: ["no names"] }, [
      { check: ONE_AT_A_TIME, outcome: false },
      { check: "an ask times out", outcome: { none: "it has no ask" } },
      { check: YIELDS, outcome: true },
    ]);
    expect(lacks).toEqual(["no names", "the next message does not wait for the promise of the one before"]);
    expect({ keepsOneAtATime, yieldsToTimers }).toEqual({ keepsOneAtATime: false, yieldsToTimers: true });
  });

  test("a peer that is not there keeps no promise, and lacks nothing that was found", async () => {
    const gone = { failed: "it did not start" };
    const found = await checkPeer(nowhere, candidate, gone, undefined);
    expect(found).toMatchObject({ lacks: [], keepsOneAtATime: false, yieldsToTimers: false });
    expect(found.checks.map(({ outcome }) => outcome)).toEqual([...checks, YIELDS].map(() => gone));
  });
});
