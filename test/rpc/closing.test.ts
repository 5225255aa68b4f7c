import { expect, test } from "bun:test";
import { defineProtocol, type Terminated, Type } from "../../src/index";
import { type Channel, type ChannelEvents, channelPair, createPeer } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { methodsOf, serveDesk, spawnDesk } from "./desk";
import { Raw, request } from "./raw";

const { createTestSystem } = testSystems();

const Editor = defineProtocol("editor", {
  read: { payload: Type.Object({ path: Type.String() }), reply: Type.String() },
  show: {},
});
const calls = { editor: { protocol: Editor, methods: { read: "read", show: "show" } } } as const;

test("P17: at the end, what was sent is timeout, what comes later is unreachable, watchers are told, handlers are aborted", async () => {
  for (const who of ["this side", "the other side"]) {
    const test = createTestSystem();
    const { desk, log } = spawnDesk(test.system);
    const [here, there] = channelPair();
    const peer = createPeer(test.system, here, { serves: methodsOf(desk), calls });
    const raw = new Raw(there, test.clock);
    const { editor } = peer.refs;
    const ended: Terminated[] = [];
    const Watcher = defineProtocol("watcher", {});
    test.system.spawn("watcher", Watcher, (ctx) => {
      for (const ref of [editor, peer.ref]) ctx.watch(ref, (terminated) => ended.push(terminated));
      return {};
    });
    const sent = editor.ask("read", { path: "a" });
    raw.say(request(1, "wait", { name: "one" }), [request(2, "wait", { name: "two" })]);
    await test.settle();
    raw.take();
    if (who === "this side") peer.close();
    else raw.channel.close();
    await test.settle();
    expect((await sent)._unsafeUnwrapErr()).toMatchObject({
      kind: "timeout",
      cause: new Error("The connection is closed."),
    });
    expect((await editor.ask("read", { path: "b" }))._unsafeUnwrapErr().kind).toBe("unreachable");
    expect((await editor.offer("show"))._unsafeUnwrapErr().kind).toBe("unreachable");
    expect(ended.map(({ reason }) => reason)).toEqual(["unreachable", "unreachable"]);
    expect(log.aborted).toEqual(["one", "two"]);
    expect(raw.take()).toEqual([]);
    expect(raw.isClosed).toBe(true);
    expect(await peer.closed).toBeUndefined();
    expect([peer.serving, peer.waiting]).toEqual([0, 0]);
    expect(test.events.filter(({ kind }) => kind === "rpc:closed")).toHaveLength(1);
    peer.close();
    raw.say(request(3, "sum", [1]));
    await test.settle();
    expect(raw.take()).toEqual([]);
    test.takeLog();
    test.takeFailures();
  }
});

test("a shutdown of the system ends its connections", async () => {
  const test = createTestSystem();
  const { peer, raw } = serveDesk(test);
  await test.system.shutdown();
  await test.settle();
  expect([await peer.closed, raw.isClosed]).toEqual([undefined, true]);
});

test("a message that was sent before the end still arrives", async () => {
  const test = createTestSystem();
  const [here, there] = channelPair();
  const peer = createPeer(test.system, here, { calls });
  const raw = new Raw(there, test.clock);
  peer.refs.editor.tell("show");
  await test.settle();
  peer.refs.editor.tell("show");
  await Promise.resolve();
  peer.close();
  expect(there.send("late")).toBe(false);
  await test.settle();
  expect(raw.texts.length).toBeGreaterThan(0);
  expect([raw.isClosed, here.send("late"), there.send("late")]).toEqual([true, false, false]);
});

/** A channel whose methods do what the test says. */
class Odd implements Channel {
  unsentBytes = 0;
  events: ChannelEvents | null = null;
  readonly texts: string[] = [];
  readonly calls: string[] = [];
  readonly #throws: ReadonlySet<string>;

  constructor(...throws: string[]) {
    this.#throws = new Set(throws);
  }

  get unsent(): number {
    this.#called("unsent");
    return this.unsentBytes;
  }
  send(text: string): boolean {
    this.#called("send");
    this.texts.push(text);
    return true;
  }
  open(events: ChannelEvents): void {
    this.events = events;
    this.#called("open");
  }
  pause(): void {
    this.#called("pause");
  }
  resume(): void {
    this.#called("resume");
  }
  close(): void {
    this.#called("close");
  }
  #called(name: string): void {
    if (name !== "unsent" && name !== "send") this.calls.push(name);
    if (this.#throws.has(name)) throw new Error(`${name} threw`);
  }
}

test("a channel that throws ends the connection, and nothing else", async () => {
  for (const method of ["open", "send", "unsent", "pause", "close"]) {
    const test = createTestSystem();
    const { desk } = spawnDesk(test.system);
    const channel = new Odd(method);
    const peer = createPeer(test.system, channel, { serves: methodsOf(desk), calls, most: 1 });
    channel.events?.text(JSON.stringify(request(1, "wait", { name: "one" })));
    channel.events?.text(JSON.stringify(request(2, "no such method")));
    await test.settle();
    if (method === "close") peer.close();
    expect((await peer.refs.editor.ask("read", { path: "a" }))._unsafeUnwrapErr().kind).toBe("unreachable");
    expect(await peer.closed).toEqual(method === "close" ? undefined : new Error(`${method} threw`));
    channel.events?.text(JSON.stringify(request(3, "sum", [1])));
    channel.events?.closed(new Error("again"));
    channel.events?.drained();
    await test.settle();
    expect(peer.serving).toBe(0);
    test.takeLog();
    test.takeFailures();
  }
});

test("a channel that tells no end is ended by close, and its cause is told", async () => {
  const test = createTestSystem();
  const channel = new Odd();
  const peer = createPeer(test.system, channel, { calls });
  const sent = peer.refs.editor.ask("read", { path: "a" });
  await test.settle();
  const cause = new Error("the cable is out");
  channel.events?.closed(cause);
  expect((await sent)._unsafeUnwrapErr()).toMatchObject({ kind: "timeout", cause });
  expect(await peer.closed).toBe(cause);
  const other = createPeer(test.system, new Odd(), {});
  other.close();
  expect(await other.closed).toBeUndefined();
});

test("once the other side has said its last, what it asked for is still answered, for a second", async () => {
  const test = createTestSystem();
  const { desk, log } = spawnDesk(test.system);
  for (const isInTime of [true, false]) {
    const channel = new Odd();
    const peer = createPeer(test.system, channel, { serves: methodsOf(desk), calls });
    const asked = peer.refs.editor.ask("read", { path: "a" });
    await test.settle();
    channel.events?.text(JSON.stringify(request(1, "wait", { name: "one" })));
    channel.events?.ended();
    await test.settle();
    expect((await asked)._unsafeUnwrapErr().kind).toBe("timeout"); // No answer can come.
    expect((await peer.refs.editor.ask("read", { path: "b" }))._unsafeUnwrapErr().kind).toBe("unreachable");
    expect(channel.calls).not.toContain("close");
    if (isInTime) log.release("one");
    await test.advance(1_000);
    expect(channel.calls).toContain("close");
    expect(await peer.closed).toBeUndefined();
    const answers = channel.texts.filter((text) => text.includes("is done"));
    expect([answers.length, log.aborted.length]).toEqual(isInTime ? [1, 0] : [0, 1]);
  }
  test.takeLog();
  test.takeFailures();
});

// ——— Back-pressure

test("with the most requests under way the channel is paused, for a second, and goes on once half of them have ended", async () => {
  const test = createTestSystem();
  const { desk, log } = spawnDesk(test.system);
  const channel = new Odd();
  const peer = createPeer(test.system, channel, { serves: methodsOf(desk), calls, most: 4 });
  const take = (id: number): void => channel.events?.text(JSON.stringify(request(id, "wait", { name: `${id}` })));
  for (const id of [1, 2, 3]) take(id);
  expect(channel.calls).toEqual(["open"]);
  take(4);
  expect(channel.calls).toEqual(["open", "pause"]);
  await test.settle();
  log.release("1");
  await test.settle();
  expect(channel.calls).toEqual(["open", "pause"]);
  log.release("2");
  await test.settle();
  expect(channel.calls).toEqual(["open", "pause", "resume"]);
  for (const id of [5, 6]) take(id);
  expect(channel.calls.at(-1)).toBe("pause");
  await test.advance(1_000);
  expect(channel.calls.at(-1)).toBe("resume"); // A cancellation may come.
  take(7);
  await test.settle();
  expect(channel.texts.map((text) => JSON.parse(text)).at(-1)).toMatchObject({
    id: 7,
    error: { code: -32013, data: { kind: "mailbox-full", retryable: true, capacity: 4 } },
  });
  expect(peer.serving).toBe(4);
  peer.close();
  await test.settle();
  test.takeLog();
  test.takeFailures();
});

test("P18: requests under way hold no more than sixteen texts of the greatest length, in batches, too", async () => {
  const test = createTestSystem();
  const { desk, log } = spawnDesk(test.system);
  const channel = new Odd();
  const peer = createPeer(test.system, channel, { serves: methodsOf(desk), maxBytes: 1_000 });
  const name = "x".repeat(900);
  const waiting = (id: number): object => request(id, "wait", { name: `${id}${name}` });
  for (let id = 0; id < 15; id++) channel.events?.text(JSON.stringify(waiting(id)));
  expect([peer.serving, channel.calls]).toEqual([15, ["open"]]);
  channel.events?.text(JSON.stringify([waiting(15), waiting(16)]));
  expect([peer.serving, channel.calls]).toEqual([17, ["open", "pause"]]);
  channel.events?.text(JSON.stringify(waiting(18)));
  await test.settle();
  expect(channel.texts.map((text) => JSON.parse(text))).toMatchObject([{ id: 18, error: { code: -32013 } }]);
  for (let id = 0; id < 17; id++) log.release(`${id}${name}`);
  await test.settle();
  expect([peer.serving, channel.calls.at(-1)]).toEqual([0, "resume"]);
  channel.events?.text(JSON.stringify(waiting(19)));
  expect(peer.serving).toBe(1);
  peer.close();
  await test.settle();
  test.takeLog();
  test.takeFailures();
});

test("while this side waits for an answer, the channel is not paused: the answer comes by it", async () => {
  const test = createTestSystem();
  const { desk } = spawnDesk(test.system);
  const channel = new Odd();
  const peer = createPeer(test.system, channel, { serves: methodsOf(desk), calls, most: 2 });
  const take = (id: number): void => channel.events?.text(JSON.stringify(request(id, "wait", { name: `${id}` })));
  take(1);
  take(2);
  expect(channel.calls).toEqual(["open", "pause"]);
  const asked = peer.refs.editor.ask("read", { path: "a" });
  await test.settle();
  expect(channel.calls).toEqual(["open", "pause", "resume"]);
  take(3);
  channel.events?.text('{"jsonrpc":"2.0","id":1,"result":"text"}');
  expect((await asked)._unsafeUnwrap()).toBe("text");
  expect(channel.texts.filter((text) => text.includes("-32013"))).toHaveLength(1);
  peer.close();
  await test.settle();
  test.takeLog();
  test.takeFailures();
});

test("while too much is unsent, nothing is read and nothing more is sent; a side that reads nothing is closed", async () => {
  const test = createTestSystem();
  const channel = new Odd();
  const peer = createPeer(test.system, channel, { calls, maxUnsent: 1_000, stalledAfter: 5_000 });
  const { editor } = peer.refs;
  channel.unsentBytes = 1_001;
  expect((await editor.ask("read", { path: "a" }))._unsafeUnwrapErr()).toMatchObject({
    kind: "mailbox-full",
    capacity: 1_000,
  });
  expect((await editor.offer("show"))._unsafeUnwrapErr().kind).toBe("mailbox-full");
  channel.events?.text("{}");
  expect(channel.calls).toEqual(["open", "pause"]);
  await test.advance(4_000);
  channel.unsentBytes = 0;
  channel.events?.drained();
  expect(channel.calls).toEqual(["open", "pause", "resume"]);
  await test.advance(10_000);
  expect((await editor.offer("show")).isOk()).toBe(true);
  channel.unsentBytes = 1_001;
  channel.events?.text("{}");
  await test.advance(5_000);
  expect(await peer.closed).toEqual(new Error("The other side has read nothing for 5000 ms."));
  expect(channel.calls.at(-1)).toBe("close");
});

test("P12: a side that reads nothing is closed, too, where this side only tells and nothing comes", async () => {
  class Clogged extends Odd {
    override send(text: string): boolean {
      this.unsentBytes += text.length;
      return super.send(text);
    }
  }
  const test = createTestSystem();
  const channel = new Clogged();
  const peer = createPeer(test.system, channel, { calls, maxUnsent: 100, stalledAfter: 5_000 });
  for (let told = 0; told < 10; told++) peer.refs.editor.tell("show");
  await test.advance(5_000);
  expect(await peer.closed).toEqual(new Error("The other side has read nothing for 5000 ms."));
  expect(channel.texts.length).toBeLessThan(5);
  expect(channel.calls).toEqual(["open", "close"]); // What the other side sends is still read: it may be the same there.
  test.takeLog();
});

test("a side that reads slowly is not closed while it reads", async () => {
  const test = createTestSystem();
  const channel = new Odd();
  const peer = createPeer(test.system, channel, { calls, maxUnsent: 1_000, stalledAfter: 5_000 });
  for (let unsent = 2_000; unsent <= 9_000; unsent += 1_000) {
    channel.unsentBytes = unsent;
    channel.events?.text("{}"); // It is answered.
  }
  for (let looks = 0; looks < 5; looks++) {
    await test.advance(4_000);
    channel.unsentBytes -= 1_000;
    await test.advance(1_000);
    expect(channel.calls).toEqual(["open", "pause"]);
  }
  await test.advance(5_000);
  expect(await peer.closed).toEqual(new Error("The other side has read nothing for 5000 ms."));
});

test("the connection says why it has ended, also when its channel tells its own end meanwhile", async () => {
  const test = createTestSystem();
  const [here, there] = channelPair();
  const peer = createPeer(test.system, here, { calls, maxUnsent: 100, stalledAfter: 5_000 });
  there.pause();
  for (let told = 0; told < 10; told++) peer.refs.editor.tell("show");
  await test.advance(5_000);
  expect(await peer.closed).toEqual(new Error("The other side has read nothing for 5000 ms."));
  test.takeLog();
});

test("P9: a second peer for a channel ends by itself, and the first goes on", async () => {
  const test = createTestSystem();
  const { desk } = spawnDesk(test.system);
  const [here, there] = channelPair();
  createPeer(test.system, here, { serves: methodsOf(desk) });
  const raw = new Raw(there, test.clock);
  const second = createPeer(test.system, here, { calls });
  expect((await second.closed)?.message).toStartWith("This channel belongs to a peer already");
  expect((await second.refs.editor.ask("read", { path: "a" }))._unsafeUnwrapErr().kind).toBe("unreachable");
  raw.say(request(1, "sum", [1, 2]));
  await test.settle();
  expect(raw.take()).toMatchObject([{ id: 1, result: 3 }]);
});
