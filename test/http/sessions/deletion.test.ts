import { expect, test } from "bun:test";
import { createSystem } from "../../../src/index";
import { createChat, eventsOf, gatewayOf, Room } from "./chat";

const typesOf = async (response: Response): Promise<(string | undefined)[]> =>
  (await Array.fromAsync(eventsOf(response))).map(({ event }) => event);

test("where a session could not be deleted, the messages that this ended have a stored end", async () => {
  let isBroken = true;
  await using room = new Room({
    onDelete() {
      if (isBroken) throw new Error("a secret");
    },
  });
  const at = await room.open();
  const reader = eventsOf(await room.send(at, "hang", undefined, { "idempotency-key": "one" }));
  expect((await reader.next()).value?.data).toBe("1");
  expect((await room.fetch("DELETE", at)).status).toBe(500);
  await room.test.expectLogged("The gateway failed");
  expect(await room.show(at)).toMatchObject({ running: 0, lastEvent: 3 });
  expect(await typesOf(await room.fetch("GET", `${at}/events?message=1`))).toEqual([undefined, "error"]);
  expect(await typesOf(await room.send(at, "hang", undefined, { "idempotency-key": "one" }))).toEqual([
    undefined,
    "error",
  ]);
  expect((await room.send(at, "heard")).status).toBe(200);
  await reader.return(undefined);
  isBroken = false;
  expect((await room.fetch("DELETE", at)).status).toBe(204);
});

test("where a session could not be deleted, a message that came at that moment has a stored end", async () => {
  let hasBeenCut = false;
  // The message is being stored, or was stored and is not sent yet, or is being answered.
  for (let gap = 0; gap < 40; gap++) {
    await using room = new Room({
      async onDelete() {
        for (let tick = 0; tick < 40; tick++) await null;
        throw new Error("a secret");
      },
    });
    const at = await room.open();
    const key = { "idempotency-key": "one" };
    const sending = room.send(at, "say", "a", key);
    for (let tick = 0; tick < gap; tick++) await null;
    const deleting = room.fetch("DELETE", at);
    const first = await sending;
    expect((await deleting).status).toBe(500);
    await room.test.expectLogged("The gateway failed");
    hasBeenCut ||= first.status === 404;
    await first.text();
    const last = (await typesOf(await room.send(at, "say", "a", key))).at(-1);
    expect(["end", "error"]).toContain(last ?? "");
    expect(await room.show(at)).toMatchObject({ running: 0, messages: 1 });
  }
  expect(hasBeenCut).toBe(true);
});

test("an ask that is answered while its session is deleted is told so", async () => {
  await using room = new Room({
    factory: (ctx, session) => ({
      ...createChat(ctx, session),
      heard: () => new Promise((resolve) => ctx.onAbort(() => resolve([]))),
    }),
  });
  const at = await room.open();
  const asking = room.send(at, "heard");
  await room.test.settle();
  expect((await room.fetch("DELETE", at)).status).toBe(204);
  expect((await asking).status).toBe(410);
  await room.test.expectLogged("late-reply");
});

test("one unused session that cannot be deleted does not keep the others, nor old events", async () => {
  const HOUR = 3_600_000;
  const kept = new Set<string>();
  await using room = new Room({
    keep: { idle: 10 * HOUR, age: 5 * HOUR },
    onDelete({ id }) {
      if (kept.has(id)) throw new Error("a secret");
    },
  });
  const first = await room.open();
  kept.add(first.slice("/sessions/".length));
  const second = await room.open();
  const used = await room.open();
  await room.send(used, "heard");
  await room.test.advance(6 * HOUR);
  await room.send(used, "heard");
  await room.test.advance(5 * HOUR);
  await room.test.expectLogged("could not be deleted");
  expect((await room.fetch("GET", first)).status).toBe(200);
  expect((await room.fetch("GET", second)).status).toBe(404);
  expect(await room.show(used)).toMatchObject({ firstEvent: 3, lastEvent: 4 });
  kept.clear();
  room.test.takeLog();
});

test("one unused session whose onDelete never ends does not keep the others", async () => {
  const { promise: never, resolve: end } = Promise.withResolvers<void>();
  let calls = 0;
  await using room = new Room({ keep: { idle: 60_000 }, onDelete: () => (calls++ === 0 ? never : undefined) });
  const [first, second] = [await room.open(), await room.open()];
  await room.test.advance(200_000);
  expect((await room.fetch("GET", second)).status).toBe(404);
  end();
  await room.test.settle();
  expect((await room.fetch("GET", first)).status).toBe(404);
  expect(calls).toBe(2);
});

test("P18: a session whose actor does not stop is not deleted, and its client is told in time", async () => {
  const { promise: stuck, resolve: end } = Promise.withResolvers<string[]>();
  const deleted: string[] = [];
  await using room = new Room({
    factory: (ctx, session) => ({ ...createChat(ctx, session), heard: () => stuck }), // It ignores its signal.
    onDelete: ({ id }) => void deleted.push(id),
  });
  const at = await room.open();
  const asking = room.send(at, "heard");
  await room.test.settle();
  const deleting = room.fetch("DELETE", at);
  await room.test.advance(30_000);
  expect((await deleting).status).toBe(504);
  expect((await asking).status).toBe(410);
  expect(deleted).toEqual([]);
  expect((await room.fetch("GET", at)).status).toBe(200);
  end([]);
  await room.test.settle();
  expect((await room.fetch("DELETE", at)).status).toBe(204);
  expect(deleted).toEqual([at.slice("/sessions/".length)]);
  room.test.takeLog();
});

test("where the clock jumps ahead, nothing is deleted before it had an hour to be set right", async () => {
  const DAY = 86_400_000;
  await using room = new Room();
  const { clock } = room.test;
  let jump = 0;
  // The same clock, but for the time of the day.
  const set = Object.create(clock, { wallTime: { value: () => clock.wallTime() + jump } }) as typeof clock;
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const system = createSystem({ clock: set, logger: { warn: log, error: log } });
  const gateway = gatewayOf(system);
  const made = await gateway.fetch(new Request("http://x/sessions", { method: "POST" }));
  const show = async (): Promise<number> => {
    const response = gateway.fetch(new Request(`http://x${made.headers.get("location")}`));
    return (await response).status;
  };
  jump = 100 * DAY;
  await clock.advance(3_600_000);
  expect([await show(), logged.length]).toEqual([200, 1]);
  expect(logged[0]).toContain("The clock was set");
  jump = 0;
  await clock.advance(2 * 3_600_000);
  expect(await show()).toBe(200);
  jump = 100 * DAY; // For good.
  await clock.advance(2 * 3_600_000);
  expect(await show()).toBe(404);
  await system.shutdown();
  await gateway.close();
});
