import { expect, test } from "bun:test";
import { join } from "node:path";
import { createSystem, defineProtocol, type System, Type } from "../../src/index";
import {
  type Channel,
  type Child,
  childChannel,
  createPeer,
  linesChannel,
  type Peer,
  portChannel,
  type ServerSocketChannel,
  serverSocketChannel,
  socketChannel,
} from "../../src/rpc/index";
import { createManualClock } from "../../src/testing/index";
import { recordIn } from "../actor/test-system";
import { Raw } from "./raw";

const Desk = defineProtocol("desk", {
  echo: { payload: Type.Object({ text: Type.String() }), reply: Type.String() },
  greet: { payload: Type.Object({ of: Type.String() }), reply: Type.String() },
  wait: { payload: Type.Object({ milliseconds: Type.Number() }), reply: Type.String() },
  note: {},
});
const calls = {
  desk: { protocol: Desk, methods: { echo: "echo", greet: "greet", wait: "wait", note: "note" } },
} as const;
const Parent = defineProtocol("parent", {
  name: { payload: Type.Object({ of: Type.String() }), reply: Type.String() },
});

const PROGRAM = join(import.meta.dir, "programs/desk.ts");
const start = () => Bun.spawn([process.execPath, PROGRAM], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });

const quiet = (): System => createSystem({ logger: recordIn([]) });

/** Serves what the other side asks this one. */
function connect(system: System, channel: Channel): Peer<{ desk: typeof Desk }> {
  const parent = system.spawn(`parent-${system.inspect().length}`, Parent, () => ({
    name: ({ of }) => of.toUpperCase(),
  }));
  return createPeer(system, channel, { calls, serves: { name: { ref: parent, operation: "name" } } });
}

test("a child process and its parent ask each other over its standard input and output", async () => {
  await using system = quiet();
  const child = start();
  const peer = connect(system, childChannel(child));
  const { desk } = peer.refs;
  const texts = ["", "é…\u2028\n\r\t", "\ud800", "x".repeat(1_000_000), "€".repeat(100_000)];
  const echoes = await Promise.all(texts.map((text) => desk.ask("echo", { text })));
  expect(echoes.map((echo) => echo._unsafeUnwrap())).toEqual(texts);
  expect((await desk.ask("greet", { of: "ada" }))._unsafeUnwrap()).toBe("good morning, ADA");
  peer.close();
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stderr).text()).toBe("ended\n");
  expect(await peer.closed).toBeUndefined();
});

test("a child that ends by itself ends its connection, with its exit code, and what was sent is timeout", async () => {
  await using system = quiet();
  const peer = connect(system, childChannel(start()));
  const { desk } = peer.refs;
  const waiting = desk.ask("wait", { milliseconds: 60_000 }, { timeout: 60_000 });
  desk.tell("note");
  expect((await waiting)._unsafeUnwrapErr().kind).toBe("timeout");
  expect((await peer.closed)?.message).toBe("The process has ended with code 3.");
  expect((await desk.ask("echo", { text: "a" }))._unsafeUnwrapErr().kind).toBe("unreachable");
});

test("requests in a file are answered, the last one also without a line break", async () => {
  const requests = ["a", "b", "c"].map((text, id) => ({ jsonrpc: "2.0", id, method: "echo", params: { text } }));
  const last = { jsonrpc: "2.0", id: 3, method: "wait", params: { milliseconds: 20 } };
  const child = start();
  child.stdin.write([...requests, last].map((each) => JSON.stringify(each)).join("\r\n"));
  await child.stdin.end();
  const lines = (await new Response(child.stdout).text()).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).result)).toEqual(["a", "b", "c", "slept"]);
  expect(await child.exited).toBe(0);
});

test("a child that reads nothing is written no more than its pipe and the bound, and one that does not end is ended", async () => {
  await using system = quiet();
  const child = Bun.spawn(["sleep", "60"], { stdin: "pipe", stdout: "pipe" });
  const channel = childChannel(child, { endsWithin: 20 });
  const peer = createPeer(system, channel, { calls, maxUnsent: 200_000 });
  const text = "x".repeat(50_000);
  const kinds: Promise<string>[] = [];
  for (let sent = 0; sent < 40; sent++) {
    kinds.push(
      peer.refs.desk.ask("echo", { text }, { timeout: 60_000 }).then((reply) => reply._unsafeUnwrapErr().kind),
    );
    await new Promise(setImmediate);
  }
  expect(channel.unsent).toBeLessThan(300_000);
  expect(channel.unsent).toBeGreaterThan(200_000);
  peer.close();
  const told = await Promise.all(kinds);
  expect(new Set(told)).toEqual(new Set(["mailbox-full", "timeout"]));
  await child.exited;
  expect(child.signalCode).toBe("SIGTERM");
});

test("a pipe that is full holds back what is sent, and tells when it has taken all", async () => {
  const clock = createManualClock();
  const written: string[] = [];
  let room: PromiseWithResolvers<void> | null = null;
  const isDone: Promise<void>[] = [];
  const input = new ReadableStream<Uint8Array>({});
  const sink = {
    write(text: string) {
      written.push(text);
      room = Promise.withResolvers();
      return text.length;
    },
    flush: () => room?.promise,
    end: () => void isDone.push(Promise.resolve()),
  };
  const channel = linesChannel(input, sink);
  let drained = 0;
  const events = { text() {}, refused() {}, ended() {}, closed() {}, drained: () => drained++ };
  channel.open(events, { clock, maxBytes: 1_000 });
  channel.send("a");
  channel.send("é");
  expect([written, channel.unsent]).toEqual([[], 5]);
  await clock.settle();
  channel.send("c");
  await clock.settle();
  expect([written, channel.unsent, drained]).toEqual([["a\né\n"], 7, 0]);
  (room as PromiseWithResolvers<void> | null)?.resolve();
  await clock.settle();
  expect([written, channel.unsent, drained]).toEqual([["a\né\n", "c\n"], 2, 0]);
  channel.close();
  expect([channel.send("d"), isDone.length]).toEqual([false, 0]);
  (room as PromiseWithResolvers<void> | null)?.resolve();
  await clock.settle();
  expect([written.length, channel.unsent, isDone.length]).toEqual([2, 0, 1]);
});

test("a failure to read or write closes a channel with its error, and a channel belongs to one peer", async () => {
  const clock = createManualClock();
  const sink = { write: () => {}, flush: () => {}, end: () => {} };
  const failing = new Raw(
    linesChannel(new ReadableStream({ start: (it) => it.error(new Error("unread")) }), sink),
    clock,
  );
  const broken = new Raw(
    linesChannel(new ReadableStream({}), { ...sink, flush: () => Promise.reject(new Error("EPIPE")) }),
    clock,
  );
  broken.say("x");
  await clock.settle();
  expect([failing.cause?.message, broken.cause?.message]).toEqual(["unread", "EPIPE"]);
  expect(() => new Raw(broken.channel, clock)).toThrow("belongs to a peer already");
  expect(() => childChannel({} as Child, { endsWithin: 0 })).toThrow(RangeError);
  const unpiped = Bun.spawn(["true"], { stdout: "ignore" }) as unknown as Child; // As a program without types has it.
  expect(() => childChannel(unpiped)).toThrow('stdin: "pipe"');
});

test("a paused channel reads no more than it has begun", async () => {
  const clock = createManualClock();
  let pulled = 0;
  const input = new ReadableStream<Uint8Array>(
    { pull: (it) => it.enqueue(new TextEncoder().encode(`${++pulled}\n${pulled}\n`)) },
    { highWaterMark: 0 },
  );
  const channel = linesChannel(input, { write() {}, flush() {}, end() {} });
  const texts: string[] = [];
  channel.open(
    {
      text(text) {
        texts.push(text);
        if (text === "3") channel.pause();
      },
      refused() {},
      ended() {},
      closed() {},
      drained() {},
    },
    { clock, maxBytes: 1_000 },
  );
  await clock.settle();
  expect([texts, pulled]).toEqual([["1", "1", "2", "2", "3"], 3]);
  await clock.settle();
  expect(pulled).toBe(3);
  channel.close();
});

interface SocketData {
  channel: ServerSocketChannel;
}

/** A server whose sockets serve a desk. */
function serveSockets(system: System, peers: Peer[] = []) {
  const desk = system.spawn("desk", Desk, () => ({
    echo: ({ text }) => text,
    greet: ({ of }) => of,
    wait: () => "slept",
    note() {},
  }));
  return Bun.serve<SocketData>({
    port: 0,
    fetch: (request, server) =>
      server.upgrade(request, { data: {} as SocketData }) ? undefined : new Response("a WebSocket, please"),
    websocket: {
      open(socket) {
        socket.data.channel = serverSocketChannel(socket);
        peers.push(
          createPeer(system, socket.data.channel, {
            serves: { echo: { ref: desk, operation: "echo" } },
            maxBytes: 10_000,
          }),
        );
      },
      message: (socket, text) => socket.data.channel.message(text),
      drain: (socket) => socket.data.channel.drain(),
      close: (socket, code, reason) => socket.data.channel.ended(code, reason),
    },
  });
}

test("two sides of a WebSocket, of which one is still connecting; bytes and long texts are refused", async () => {
  await using system = quiet();
  const peers: Peer[] = [];
  const server = serveSockets(system, peers);
  const peer = connect(system, socketChannel(new WebSocket(server.url)));
  expect((await peer.refs.desk.ask("echo", { text: "é" }))._unsafeUnwrap()).toBe("é");
  expect((await peer.refs.desk.ask("greet", { of: "a" }))._unsafeUnwrapErr().kind).toBe("unknown-operation");
  const raw = new WebSocket(server.url);
  const answers: string[] = [];
  const answered = Promise.withResolvers<void>();
  raw.onmessage = ({ data }) => answers.push(data) === 3 && answered.resolve();
  await new Promise((resolve) => {
    raw.onopen = resolve;
  });
  raw.send(new Uint8Array([123, 125]));
  raw.send(`"${"x".repeat(10_000)}"`);
  raw.send('{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"a"}}');
  await answered.promise;
  expect(answers.map((text) => JSON.parse(text)).map(({ error, result }) => error?.code ?? result)).toEqual([
    -32700,
    -32600,
    "a",
  ]);
  peer.close();
  expect(await peer.closed).toBeUndefined();
  raw.close();
  expect(await Promise.all(peers.map(({ closed }) => closed))).toEqual([undefined, undefined]);
  await server.stop(true);
});

test("a WebSocket that is cut off tells it at both sides", async () => {
  await using system = quiet();
  const peers: Peer[] = [];
  const server = serveSockets(system, peers);
  const peer = connect(system, socketChannel(new WebSocket(server.url)));
  expect((await peer.refs.desk.ask("echo", { text: "a" })).isOk()).toBe(true);
  await server.stop(true);
  expect((await peer.closed) === undefined || (await peer.closed) instanceof Error).toBe(true);
  expect((await peer.refs.desk.ask("echo", { text: "a" }))._unsafeUnwrapErr().kind).toBe("unreachable");
  await peers[0]?.closed;
});

test("a side of a WebSocket that sends on while the other has paused is ended beyond a bound", () => {
  const clock = createManualClock();
  const ends: unknown[] = [];
  const channel = serverSocketChannel({
    send: () => 1,
    getBufferedAmount: () => 0,
    close: (...given) => void ends.push(given),
  });
  const texts: string[] = [];
  const causes: (string | undefined)[] = [];
  channel.open(
    {
      text: (text) => void texts.push(text),
      refused() {},
      ended() {},
      closed: (cause) => void causes.push(cause?.message),
      drained() {},
    },
    { clock, maxBytes: 100 },
  );
  const text = "x".repeat(100);
  channel.pause();
  for (let sent = 0; sent < 4; sent++) channel.message(text);
  expect([texts.length, ends.length]).toEqual([0, 0]);
  channel.resume();
  expect(texts.length).toBe(4);
  channel.pause();
  for (let sent = 0; sent < 5; sent++) channel.message(text);
  expect([ends, causes]).toEqual([
    [[1008, "More came than may wait: send slower."]],
    ["More came than may wait: send slower."],
  ]);
  channel.message(text);
  channel.resume();
  expect([texts.length, channel.send("x")]).toEqual([4, false]);
});

test("P18: what has no length counts, too, while it waits: empty frames, and frames that are no text", () => {
  const clock = createManualClock();
  for (const frame of ["", new Uint8Array(0)]) {
    let ends = 0;
    const channel = serverSocketChannel({ send: () => 1, getBufferedAmount: () => 0, close: () => void ends++ });
    const events = { text() {}, refused() {}, ended() {}, closed() {}, drained() {} };
    channel.open(events, { clock, maxBytes: 10_000 });
    channel.pause();
    for (let sent = 0; sent < 500; sent++) channel.message(frame);
    expect(ends).toBe(0);
    for (let sent = 0; sent < 500; sent++) channel.message(frame);
    expect(ends).toBe(1);
  }
});

test("two sides of a message port", async () => {
  await using system = quiet();
  const { port1, port2 } = new MessageChannel();
  const desk = system.spawn("desk", Desk, () => ({
    echo: ({ text }) => text,
    greet: ({ of }) => of,
    wait: () => "slept",
    note() {},
  }));
  const served = createPeer(system, portChannel(port2), { serves: { echo: { ref: desk, operation: "echo" } } });
  const peer = connect(system, portChannel(port1));
  expect((await peer.refs.desk.ask("echo", { text: "\ud800" }))._unsafeUnwrap()).toBe("\ud800");
  port1.postMessage({ jsonrpc: "2.0" } as unknown as string); // No text.
  expect((await peer.refs.desk.ask("echo", { text: "b" }))._unsafeUnwrap()).toBe("b");
  expect(served.counts.refused).toBe(1);
  peer.close();
  expect(await served.closed).toBeUndefined();
});
