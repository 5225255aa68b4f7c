import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createGateway } from "../../../src/http/index";
import { openDatabase, VERSION } from "../../../src/http/sessions/database";
import { threadProgram } from "../../../src/http/sessions/executor";
import { LiveSession } from "../../../src/http/sessions/live-session";
import { SessionStore } from "../../../src/http/sessions/store";
import { ThreadRunner } from "../../../src/http/sessions/writer";
import { systemClock } from "../../../src/index";
import { createTestSystem } from "../../../src/testing/index";
import { Chat, createChat, eventsOf, Room } from "./chat";

const folder = mkdtempSync(join(tmpdir(), "envoi-sessions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const freshPath = (): string => join(folder, `${++files}.sqlite`);

const INSERT = "INSERT INTO sessions (id, owner, metadata, created_at, used_at) VALUES (?, 'ada', '{}', 0, 0)";

/** A file as the first version of the schema wrote it: without idempotency keys. */
function writeFirstVersion(path: string): void {
  const file = new Database(path, { create: true });
  file.run(`CREATE TABLE sessions (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, metadata TEXT NOT NULL,
    created_at INTEGER NOT NULL, used_at INTEGER NOT NULL, first_event INTEGER NOT NULL DEFAULT 1,
    last_event INTEGER NOT NULL DEFAULT 0, last_message INTEGER NOT NULL DEFAULT 0)`);
  file.run("CREATE INDEX sessions_of_owner ON sessions (owner, id)");
  file.run(`CREATE TABLE messages (session INTEGER NOT NULL, number INTEGER NOT NULL, first_event INTEGER NOT NULL,
    last_event INTEGER, PRIMARY KEY (session, number)) WITHOUT ROWID`);
  file.run("CREATE INDEX open_messages ON messages (session) WHERE last_event IS NULL");
  file.run(`CREATE TABLE events (session INTEGER NOT NULL, id INTEGER NOT NULL, message INTEGER NOT NULL, at INTEGER NOT NULL,
    event TEXT, data TEXT NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID`);
  file.run("INSERT INTO sessions VALUES (1, 'first', 'ada', '{\"n\":1}', 0, 0, 1, 6, 2)");
  file.run("INSERT INTO messages VALUES (1, 1, 1, 3), (1, 2, 4, NULL)");
  const request = (text: string) => `'{"operation":"say","payload":"${text}"}'`;
  file.run(`INSERT INTO events VALUES (1, 1, 1, 0, 'request', ${request("a")}), (1, 2, 1, 0, NULL, '"a"'), (1, 3, 1, 0, 'end', '{}'),
    (1, 4, 2, 0, 'request', ${request("b c")}), (1, 5, 2, 0, NULL, '"b"'), (1, 6, 2, 0, NULL, '"c"')`);
  file.run(`PRAGMA application_id = ${0x656e766f}`);
  file.run("PRAGMA user_version = 1");
  file.close();
}

test("a file of version 1 is brought to this version, with all that is in it", async () => {
  const path = freshPath();
  writeFirstVersion(path);
  await using room = new Room({ path });
  expect(await (await room.fetch("GET", "/sessions/first")).json()).toMatchObject({ metadata: { n: 1 }, lastEvent: 7 });
  const events = await Array.fromAsync(eventsOf(await room.fetch("GET", "/sessions/first/events?message=2&after=5")));
  // The message was not ended when the last process ended: its readers are told.
  expect(events.map(({ id, event, data = "" }) => [id, event, JSON.parse(data).retryable])).toEqual([
    ["6", undefined, undefined],
    ["7", "error", true],
  ]);
  const key = { "idempotency-key": "new" };
  await (await room.send("/sessions/first", "say", "d", key)).text();
  expect(await (await room.send("/sessions/first", "heard")).json()).toEqual(["a", "b c", "d"]);
});

test("P5: long events are not read where others are searched, in a new file and in one of an earlier version", async () => {
  const [fresh, former] = [freshPath(), freshPath()];
  writeFirstVersion(former);
  for (const path of [fresh, former]) {
    const { database, close } = openDatabase(path, () => undefined);
    // A table without row numbers has them in the nodes of its tree, which each search compares as a whole.
    expect(database.query("SELECT wr FROM pragma_table_list WHERE name = 'events'").get()).toEqual({ wr: 0 });
    close();
  }
});

test("a session that is used while the clock is behind does not look unused once that is right again", async () => {
  let now = 2_000_000;
  const store = new SessionStore(":memory:", "normal", { ...systemClock, wallTime: () => now }, "{}");
  const { number } = await store.create("one", "ada", null, "{}");
  now = 1_000_000;
  await store.write(store.append(number, 1, 1, [{ id: 1, data: "1" }]), () => false);
  expect(store.find("one")?.usedAt).toBe(2_000_000);
  expect(store.unused(1_500_000, null)).toBeNull();
  expect(store.unused(2_500_000, null)?.id).toBe("one");
  await store.close();
});

test("what was stored is there again after a restart, and events count on", async () => {
  const path = freshPath();
  let at = "";
  {
    await using room = new Room({ path });
    at = await room.open({ title: "kept" }, { "idempotency-key": "k" });
    await (await room.send(at, "say", "one", { "idempotency-key": "m" })).text();
  }
  await using room = new Room({ path });
  expect(await room.open({ title: "kept" }, { "idempotency-key": "k" })).toBe(at);
  const again = await (await room.send(at, "say", "one", { "idempotency-key": "m" })).text();
  expect(again).toContain('id: 2\ndata: "one"');
  const next = await Array.fromAsync(eventsOf(await room.send(at, "say", "two")));
  expect(next[0]?.id).toBe("5");
  expect(await (await room.send(at, "heard")).json()).toEqual(["one", "two"]);
});

test("an orderly end takes nothing new, and ends messages with an error that says so", async () => {
  const path = freshPath();
  let at = "";
  {
    await using room = new Room({ path });
    at = await room.open();
    const reader = eventsOf(await room.send(at, "hang"));
    expect((await reader.next()).value?.data).toBe("1");
    const draining = room.gateway.drain(1_000);
    expect((await room.fetch("POST", "/sessions")).status).toBe(503);
    expect((await room.send(at, "hang")).status).toBe(503);
    await room.test.advance(1_000);
    await draining;
    expect((await reader.next()).value?.event).toBe("reconnect");
  }
  await using room = new Room({ path });
  const [last] = await Array.fromAsync(eventsOf(await room.fetch("GET", `${at}/events?message=1&after=2`)));
  expect(last).toMatchObject({ id: "3", event: "error" });
  expect(JSON.parse(last?.data ?? "")).toMatchObject({ retryable: true });
});

test("an orderly end does not wait for those who read a session, which has no end: they are told to come back", async () => {
  await using room = new Room();
  const at = await room.open();
  const idle = eventsOf(await room.fetch("GET", `${await room.open()}/events`));
  const message = eventsOf(await room.send(at, "hang"));
  expect((await message.next()).value?.data).toBe("1");
  const all = eventsOf(await room.fetch("GET", `${at}/events?after=2`));
  const draining = room.gateway.drain(60_000);
  await room.fetch("DELETE", `${at}/messages/1`);
  expect((await message.next()).value?.event).toBe("error");
  await draining; // The clock stands still.
  for (const reader of [idle, all]) expect((await Array.fromAsync(reader)).at(-1)?.event).toBe("reconnect");
});

test("a file is used by one gateway at a time", async () => {
  const path = freshPath();
  {
    await using first = new Room({ path });
    await first.open();
    expect(() => new Room({ path })).toThrow("in use by another gateway");
    symlinkSync(path, `${path}-link`);
    expect(() => new Room({ path: `${path}-link` })).toThrow("in use by another gateway");
    const script = `
      import { openDatabase } from ${JSON.stringify(join(import.meta.dir, "../../../src/http/sessions/database"))};
      try { openDatabase(${JSON.stringify(path)}, () => {}); } catch (error) { console.log(error.message); }`;
    const other = Bun.spawnSync([process.execPath, "-e", script]);
    expect(other.stdout.toString()).toContain("in use by another gateway");
  }
  await using second = new Room({ path });
  expect((await second.fetch("GET", "/sessions")).status).toBe(200);
});

test("a file is used by one gateway at a time, also where a link led to it before it was there", async () => {
  const path = freshPath();
  symlinkSync(path, `${path}-link`);
  symlinkSync(basename(`${path}-link`), `${path}-second`);
  await using first = new Room({ path: `${path}-second` });
  await first.open();
  for (const other of [path, `${path}-link`])
    expect(() => new Room({ path: other })).toThrow("in use by another gateway");
});

test("a gateway that could not be made leaves the file to the next one", async () => {
  const path = freshPath();
  expect(() => new Room({ path, idle: 2 ** 40 })).toThrow("idle"); // Longer than an actor can be idle.
  {
    await using next = new Room({ path });
    await next.open();
  }
  const { system } = createTestSystem();
  const failing = (): never => {
    throw new Error("a part that fails");
  };
  const sessions = { protocol: Chat, factory: createChat, operations: ["say"] as const, path };
  expect(() => createGateway(system, { expose: {}, sessions, parts: [failing] })).toThrow("a part that fails");
  await new Promise((resolve) => setImmediate(resolve)); // It is closed in the same turn.
  await using last = new Room({ path });
  await last.open();
});

test("a file that cannot be used is refused when the gateway is made, with what to do", () => {
  const newer = freshPath();
  openDatabase(newer, (database) => database.run("SELECT 1")).close();
  const file = new Database(newer);
  file.run(`PRAGMA user_version = ${VERSION + 1}`);
  file.close();
  expect(() => new Room({ path: newer })).toThrow("written by a newer envoi");

  const foreign = freshPath();
  const other = new Database(foreign, { create: true });
  other.run("CREATE TABLE cakes (name TEXT)");
  other.close();
  expect(() => new Room({ path: foreign })).toThrow("another program");

  const text = freshPath();
  writeFileSync(text, "this is no database, but a text of some length, which somebody has put here".repeat(20));
  expect(() => new Room({ path: text })).toThrow("it is no database");

  expect(() => new Room({ path: join(folder, "no", "such", "folder.sqlite") })).toThrow("make its folder");
  expect(() => new Room({ path: folder })).toThrow("Sessions cannot be kept in");
});

test.skipIf(process.getuid?.() === 0)("a file that is read-only is refused when the gateway is made", () => {
  const path = freshPath();
  openDatabase(path, (database) => database.run("SELECT 1")).close();
  chmodSync(path, 0o444);
  expect(() => new Room({ path })).toThrow("let this process write");
});

test("a damaged file is refused when the gateway is made, or answers 503 while the rest goes on", async () => {
  const path = freshPath();
  let at = "";
  {
    await using room = new Room({ path });
    at = await room.open();
    await (await room.send(at, "count", 5_000)).text();
  }
  const bytes = await Bun.file(path).bytes();
  writeFileSync(path, bytes.fill(0xa5, bytes.length / 2)); // Events are there.
  {
    await using room = new Room({ path });
    expect((await room.fetch("GET", `${at}/events?after=4990`)).status).toBe(503);
    expect((await room.fetch("GET", at)).status).toBe(200);
    await room.test.expectLogged("could not be read");
  }
  writeFileSync(path, bytes.fill(0xa5, 100)); // All but the header.
  expect(() => new Room({ path })).toThrow("it is damaged");
});

test("nothing is acknowledged once the file was deleted or moved, and what is there can be read", async () => {
  const path = freshPath();
  await using room = new Room({ path });
  const at = await room.open();
  renameSync(path, `${path}-moved`);
  expect((await room.fetch("POST", "/sessions")).status).toBe(503);
  await room.test.expectLogged("deleted or moved");
  expect((await room.fetch("GET", at)).status).toBe(200);
  renameSync(`${path}-moved`, path);
  expect((await room.fetch("POST", "/sessions")).status).toBe(201);
  rmSync(path);
  expect((await room.send(at, "heard")).status).toBe(503);
  await room.test.expectLogged("deleted or moved");
});

test("P5: while a write waits for the disk, other requests are answered", async () => {
  const path = freshPath();
  await using room = new Room({ path });
  const at = await room.open();
  const slow = new Database(path); // Holds the file as a slow disk would.
  slow.run("BEGIN IMMEDIATE");
  let isMade = false;
  const making = room.open().then(() => {
    isMade = true;
  });
  for (let n = 0; n < 100; n++) expect((await room.fetch("GET", at)).status).toBe(200);
  expect(await (await room.send(at, "peek")).json()).toBe(0);
  expect(isMade).toBe(false);
  slow.run("COMMIT");
  slow.close();
  await making;
  expect((await room.list()).sessions.length).toBe(2);
});

test("what comes in one turn is committed together, in order", async () => {
  const store = new SessionStore(freshPath(), "normal", systemClock, "{}");
  await Promise.all(
    Array.from({ length: 500 }, (_, n) => store.create(`s-${String(n).padStart(3, "0")}`, "ada", null, "{}")),
  );
  expect(store.writer.commits).toBe(1);
  expect(store.page("ada", "~", 1_000).map(({ number }) => number)).toEqual(
    Array.from({ length: 500 }, (_, n) => 500 - n),
  );
  await store.close();
});

test("rows that cannot be written are refused together, and the next ones are written", async () => {
  const store = new SessionStore(freshPath(), "normal", systemClock, "{}");
  await store.create("a", "ada", null, "{}");
  const failing = [store.create("b", "ada", null, "{}"), store.create("a", "ada", null, "{}")];
  // "a" is there already, from another row: the whole batch is taken back.
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(store.find("b")).toBeNull();
  await store.create("b", "ada", null, "{}");
  expect(store.find("b")).not.toBeNull();
  await store.close();
});

test("a thread that ends by itself is replaced, and the batch that it had is refused", async () => {
  const path = freshPath();
  openDatabase(path, () => undefined).close();
  const runner = new ThreadRunner({ path, pragmas: [], statements: [INSERT] });
  expect(await runner.run('[[0,"a"]]')).toBe("");
  expect(await runner.run("")).toContain("has ended"); // This text ends it.
  expect(await runner.run('[[0,"b"]]')).toBe("");
  await runner.close();
  const { database, close } = openDatabase(path, () => undefined);
  expect(database.query("SELECT id FROM sessions ORDER BY id").values()).toEqual([["a"], ["b"]]);
  close();
});

test("the program of the thread names nothing from outside of itself, also when it is bundled and minified", async () => {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../../src/http/sessions/executor.ts")],
    target: "bun",
    minify: true,
  });
  const bundle = freshPath().replace(".sqlite", ".mjs");
  await Bun.write(bundle, (await built.outputs[0]?.text()) ?? "");
  const { threadProgram: bundled } = (await import(bundle)) as { threadProgram: () => string };
  for (const program of [threadProgram(), bundled()]) {
    const path = freshPath();
    openDatabase(path, (database) => database.run("SELECT 1")).close();
    const worker = new Worker(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
    const answer = (): Promise<string> =>
      new Promise((resolve) => worker.addEventListener("message", ({ data }) => resolve(data), { once: true }));
    const ended = new Promise((resolve) => worker.addEventListener("close", resolve));
    worker.postMessage(JSON.stringify({ path, pragmas: [], statements: [INSERT] }));
    expect(await answer()).toBe("");
    worker.postMessage('[[0,"a"],[0,"b"]]');
    expect(await answer()).toBe("");
    worker.postMessage('[[0,"c"],[0,"a"]]');
    expect(await answer()).toContain("SQLITE_CONSTRAINT");
    worker.postMessage("");
    await ended;
    const { database, close } = openDatabase(path, () => undefined);
    expect(database.query("SELECT id FROM sessions ORDER BY id").values()).toEqual([["a"], ["b"]]);
    close();
  }
});

test("events that the thread has committed are read once their session has heard of it, and not before", async () => {
  const store = new SessionStore(freshPath(), "normal", systemClock, "{}");
  const row = await store.create("one", "ada", null, "{}");
  const limits = { events: 100, unread: Number.POSITIVE_INFINITY };
  const session = new LiveSession(row, store, systemClock, limits, () => {});
  const message = await session.begin('{"operation":"say"}', null);
  await session.append(message.number, [{ data: "1" }], false);
  await store.write(store.append(row.number, message.number, 1, [{ id: 3, data: "2" }]), () => false);
  for (const [view, event] of [
    [session.view(message), { id: 2, data: "1" }],
    [session.view(null), { id: 2, message: 1, data: "1" }],
  ] as const) {
    expect([view.last, view.read(1, 10)]).toEqual([2, [event]]);
    expect(view.read(2, 10)).toEqual([]);
  }
  await store.close();
});
