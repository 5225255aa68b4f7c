import { describe, expect, test } from "bun:test";
import { address, createMessage } from "../../../src/index";
import { inspected, named, open, outline, rowOf, spawnBoss, spawnWorker, Worker } from "./service";

describe("The stream of the inspector", () => {
  test("has the tree of actors: many siblings of one name are one line, and lines open", async () => {
    const { system, look } = inspected();
    spawnBoss(system, "pool", [...named("worker", 7), "clerk"]);
    spawnWorker(system, "alone");
    await using closed = await look();
    const first = await closed.next();
    expect(first.service).toEqual({ name: "shop", version: "1.2.3" });
    expect(first.totals.actors).toBe(10);
    expect(outline(first)).toEqual(["+ pool", "  alone"]);
    const group = "*@(pool)/worker-*";
    await using opened = await look(open("@(pool)", group));
    const frame = await opened.next();
    expect(outline(frame)).toEqual([
      "- pool",
      "  - worker-* ×7",
      ...named("worker", 7).map((name) => `      ${name}`),
      "    clerk",
      "  alone",
    ]);
    expect(rowOf(frame, "worker-*")).toMatchObject({ key: group, kind: "group", level: 2, place: 1, siblings: 2 });
    expect(rowOf(frame, "worker-3")).toMatchObject({
      key: "@(pool/worker-3)",
      level: 3,
      place: 3,
      siblings: 7,
      actor: { address: "@(pool/worker-3)", protocol: "worker", state: "idle", current: [] },
    });
  });

  test("has rates, what waits, and what runs, of actors and of groups", async () => {
    const { system, clock, look } = inspected();
    const boss = spawnBoss(system, "pool", named("worker", 6));
    const alone = spawnWorker(system, "alone");
    await clock.settle();
    for (let count = 0; count < 20; count++) alone.tell("work", count);
    await clock.settle();
    await using page = await look(open("@(pool)"));
    const first = await page.next();
    expect(first.period).toBe(0);
    expect(rowOf(first, "alone").numbers).toMatchObject({ handled: 20, rate: 0 });
    for (let count = 0; count < 5; count++) boss.tell("work");
    alone.tell("wait");
    for (let count = 0; count < 3; count++) alone.tell("work", count);
    const frame = await page.later(1_000);
    expect(frame.period).toBe(1_000);
    expect(rowOf(frame, "worker-*").numbers).toMatchObject({ handled: 30, rate: 30, queued: 0 });
    expect(rowOf(frame, "pool").numbers).toMatchObject({ rate: 5 });
    expect(rowOf(frame, "alone")).toMatchObject({
      numbers: { queued: 3 },
      actor: { state: "awaiting", current: [{ operation: "wait" }] },
    });
    expect(frame.totals).toMatchObject({ queued: 3, rate: 35 });
    const quiet = await page.later(1_000);
    expect(rowOf(quiet, "worker-*").numbers).toMatchObject({ handled: 30, rate: 0 });
  });

  test("counts no rate wrong where actors come and go", async () => {
    const { system, clock, look } = inspected();
    const boss = spawnBoss(system, "pool", named("worker", 8));
    await clock.settle();
    for (let count = 0; count < 100; count++) boss.tell("work");
    await clock.settle();
    await using page = await look(open("@(pool)"));
    await page.next();
    for (let count = 1; count <= 3; count++) boss.tell("dismiss", `worker-${count}`);
    boss.tell("hire", "worker-9");
    await clock.settle();
    boss.tell("work");
    const frame = await page.later(1_000);
    expect(rowOf(frame, "worker-*")).toMatchObject({ count: 6, numbers: { rate: 6 } });
    expect(outline(frame)).toEqual(["- pool", "  + worker-* ×6"]);
  });

  test("tells failures, restarts and dead letters as they happen, with their sentences and without stacks", async () => {
    const { system, clock, look } = inspected();
    spawnBoss(system, "pool", ["clerk"]);
    await using page = await look(open("@(pool)"));
    const { logged } = await page.next();
    system.router.tell(createMessage(address("pool/clerk"), "fail", undefined));
    system.router.tell(createMessage(address("nobody"), "greet", undefined));
    system.router.tell(createMessage(address("nobody"), "greet", undefined));
    system.publish({ kind: "nats:connected", address: address("node-7"), detail: "after 2 attempts" });
    await clock.settle();
    const frame = await page.later();
    expect(frame.logged).toBeGreaterThan(logged);
    expect(frame.isLogCut).toBe(false);
    const told = frame.log.map(({ kind, address: at, text }) => [kind, at, text]);
    expect(told).toContainEqual(["failed", "@(pool/clerk)", "fail: the disk is full (restart)"]);
    expect(told).toContainEqual(["restarted", "@(pool/clerk)", "for the 1st time: the disk is full"]);
    expect(told).toContainEqual(["nats:connected", "@(node-7)", "after 2 attempts"]);
    expect(told.filter(([kind]) => kind === "dead-letter").length).toBe(2);
    expect(JSON.stringify(frame)).not.toMatch(/\.ts:\d|\/test\/|at .*\(/);
    expect(frame.letters).toEqual([
      expect.objectContaining({ reason: "no-recipient", address: "@(nobody)", operation: "greet", count: 2 }),
    ]);
    expect(frame.totals).toMatchObject({ dead: 2, failed: 1, restarts: 1 });
    expect(rowOf(frame, "clerk").numbers).toMatchObject({ failed: 1, restarts: 1 });
    for (const name of ["somebody", "nobody"]) system.router.tell(createMessage(address(name), "greet", undefined));
    await clock.settle();
    const { letters } = await page.later();
    expect(letters.map((row) => [String(row.address), row.count])).toEqual([
      ["@(nobody)", 3],
      ["@(somebody)", 1],
    ]);
  });

  test("has all restarts at the top, also those of actors that have stopped since", async () => {
    const { system, look } = inspected();
    const boss = spawnBoss(system, "pool", ["clerk"]);
    await using page = await look(open("@(pool)"));
    await page.next();
    system.router.tell(createMessage(address("pool/clerk"), "fail", undefined));
    expect((await page.later()).totals.restarts).toBe(1);
    boss.tell("dismiss", "clerk");
    const frame = await page.later();
    expect(frame.rows.map(({ name }) => name)).toEqual(["pool"]);
    expect(frame.totals.restarts).toBe(1);
  });

  test("says how many of a group are held back or restart", async () => {
    const { system, clock, look } = inspected();
    spawnBoss(system, "pool", named("worker", 6));
    await using page = await look(open("@(pool)", "*@(pool)/worker-*"));
    expect(rowOf(await page.next(), "worker-*").troubled).toBe(0);
    await clock.advance(950);
    system.router.tell(createMessage(address("pool/worker-3"), "fail", undefined)); // It restarts after 100 ms.
    const frame = await page.later(50);
    expect(rowOf(frame, "worker-*").troubled).toBe(1);
    expect(rowOf(frame, "worker-3").actor?.state).toBe("restarting");
    expect(rowOf(await page.later(), "worker-*").troubled).toBe(0);
  });

  test("sends an entry of the log once, and to a page that comes back what came meanwhile", async () => {
    const { system, clock, look } = inspected();
    const page = await look();
    await page.next();
    spawnWorker(system, "one");
    const { log, logged, since } = await page.later();
    expect(log.map(({ kind, address: at }) => `${kind} ${at}`)).toEqual(["started @(one)"]);
    expect((await page.later()).log).toEqual([]);
    await using other = await look();
    await other.next();
    await page[Symbol.asyncDispose]();
    spawnWorker(system, "two");
    await clock.settle();
    await using back = await look(`logged=${logged}`);
    expect((await back.next()).log.map(({ address: at }) => String(at))).toEqual(["@(two)"]);
    await using same = await look(`logged=${logged}&since=${since}`);
    expect((await same.next()).log.map(({ address: at }) => String(at))).toEqual(["@(two)"]);
    for (const before of ["logged=999999", `logged=${logged}&since=${since - 1}`]) {
      await using stranger = await look(before); // It was here before the service began anew.
      expect((await stranger.next()).log.map(({ address: at }) => String(at))).toEqual(["@(one)", "@(two)"]);
    }
  });

  test("finds actors by their names and paths, wherever they are in the tree", async () => {
    const { system, look } = inspected();
    spawnBoss(system, "pool", [...named("worker", 120), "Clerk"]);
    spawnBoss(system, "other", ["worker-11"]);
    const names = async (find: string): Promise<[number | null, string[]]> => {
      await using page = await look(`find=${encodeURIComponent(find)}`);
      const frame = await page.next();
      return [frame.found, outline(frame).map((line) => line.trim())];
    };
    expect(await names("clerk")).toEqual([1, ["pool/Clerk"]]);
    expect(await names("worker-11")).toEqual([
      12,
      [...["pool/worker-11", ...Array.from({ length: 10 }, (_, n) => `pool/worker-11${n}`)], "other/worker-11"],
    ]);
    expect(await names("other/work")).toEqual([1, ["other/worker-11"]]);
    expect(await names("(*.")).toEqual([0, []]);
    const [found, rows] = await names("worker");
    expect(found).toBe(121);
    expect(rows.length).toBe(51);
    expect(rows.at(-1)).toBe("(Next: 51–100 of 121)");
  });

  test("shows siblings page by page, and in the order that is wished", async () => {
    const { system, clock, look } = inspected();
    spawnBoss(system, "pool", named("worker", 120));
    await clock.settle();
    const worker = system.ref(address("pool/worker-77"), Worker);
    worker.tell("wait");
    worker.tell("work", 1);
    await clock.settle();
    const key = encodeURIComponent("*@(pool)/worker-*");
    const page = async (from: number, order = "spawned"): Promise<string[]> => {
      await using one = await look(`${open("@(pool)")}&open=${from}.${key}&order=${order}`);
      return outline(await one.next())
        .slice(2)
        .map((line) => line.trim());
    };
    const middle = await page(50);
    expect(middle.length).toBe(52);
    expect([middle[0], middle[1], middle[50], middle[51]]).toEqual([
      "(Previous: 1–50 of 120)",
      "worker-51",
      "worker-100",
      "(Next: 101–120 of 120)",
    ]);
    expect((await page(100)).length).toBe(21);
    expect(await page(9_000)).toEqual(await page(100)); // The others have gone since.
    expect((await page(0, "queued"))[0]).toBe("worker-77");
  });

  test("shows operations with the times of their handlers where the system has metrics, the busiest first", async () => {
    const without = inspected();
    await using none = await without.look();
    expect((await none.next()).operations).toBeNull();
    const { system, clock, look } = inspected({ inspector: { isOpen: true } }, { metrics: { sample: 1 } });
    const worker = spawnWorker(system, "one");
    await using page = await look();
    await page.next();
    for (let count = 0; count < 4; count++) worker.tell("work", count);
    worker.tell("fail");
    await clock.settle();
    const { operations, totals } = await page.later();
    expect(totals).toMatchObject({ failed: 1, dead: 0 });
    expect(operations?.map(({ operation, rate, failed }) => [operation, rate, failed])).toEqual([
      ["work", 4, 0],
      ["fail", 1, 1],
    ]);
    expect(operations?.[0]).toMatchObject({ protocol: "worker", mean: 0 });
    expect((await page.later()).operations?.[0]).toMatchObject({ rate: 0, mean: null, high: null });
  });
});

describe("Nothing is observed", () => {
  test("while nobody looks: no timer is set, no event is heard, and no actor is kept", async () => {
    const { system, clock, look } = inspected();
    spawnWorker(system, "one");
    const before = clock.timers;
    const page = await look();
    const { logged } = await page.next();
    expect(clock.timers).toBeGreaterThan(before);
    expect(clock.heldTimers).toBe(0); // It keeps no process alive.
    await page[Symbol.asyncDispose]();
    await clock.advance(60_000); // The keep-alive of streams looks once more.
    expect(clock.timers).toBe(before);
    spawnWorker(system, "unseen");
    await clock.settle();
    await using again = await look();
    const frame = await again.next();
    expect(frame.logged).toBe(logged);
    expect(frame.period).toBe(0);
    expect(frame.totals.actors).toBe(2);
  });

  test("twice for two who look: they share each look", async () => {
    const { clock, look } = inspected();
    await using one = await look();
    await using two = await look("order=rate");
    const first = await one.next();
    expect((await two.next()).look).toBe(first.look);
    await clock.advance(1_000);
    expect([(await one.next()).look, (await two.next()).look]).toEqual([first.look + 1, first.look + 1]);
  });

  test("after the gateway has drained: pages are told to come back", async () => {
    const { clock, gateway, look, get } = inspected();
    const page = await look();
    await page.next();
    const drained = gateway.drain(100);
    await clock.advance(100);
    await drained;
    await expect(page.next()).rejects.toThrow("reconnect");
    expect((await get("/inspect/live")).status).toBe(503);
    await gateway.close();
    await clock.advance(60_000);
    expect(clock.timers).toBe(0);
  });
});

test("A look at many actors takes several turns of the event loop, and shows them when all were seen", async () => {
  const { system, clock, look, get } = inspected();
  spawnBoss(system, "pool", named("worker", 2_300));
  await clock.settle();
  await using page = await look(open("@(pool)"));
  const frame = await page.next();
  expect(frame.totals.actors).toBe(2_301);
  expect(rowOf(frame, "worker-*").count).toBe(2_300);
  expect(frame.rows.length).toBe(2);
  expect((await get("/inspect")).status).toBe(200);
});
