import { expect, test } from "bun:test";
import { defineProtocol, type RefTo, Type } from "../../src/index";
import { channelPair, createPeer, type Peer, type PeerOptions, RpcError } from "../../src/rpc/index";
import type { TestSystem } from "../../src/testing/index";
import { testSystems } from "../actor/test-system";
import { notice, Raw } from "./raw";

const { createTestSystem } = testSystems();

const Editor = defineProtocol("editor", {
  read: { payload: Type.Object({ path: Type.String() }), reply: Type.String() },
  show: { payload: Type.Object({ path: Type.String() }) },
  total: { reply: Type.Number() },
  list: { payload: Type.Array(Type.Unknown()), reply: Type.Array(Type.String()) },
  any: { payload: Type.Unknown(), reply: Type.Unknown() },
  unnamed: { reply: Type.Number() },
});

interface Called {
  readonly peer: Peer<{ editor: typeof Editor }>;
  readonly editor: RefTo<typeof Editor>;
  readonly raw: Raw;
}

function callEditor(test: TestSystem, options: Omit<PeerOptions, "calls"> = {}): Called {
  const [here, there] = channelPair();
  const peer = createPeer(test.system, here, {
    ...options,
    calls: {
      editor: {
        protocol: Editor,
        methods: {
          read: "fs/read",
          show: "show",
          total: { method: "total", needs: "totals" },
          list: "list",
          any: "any",
        },
      },
    },
  });
  return { peer, editor: peer.refs.editor, raw: new Raw(there, test.clock) };
}

test("an ask is a request, a tell and an offer are notifications, and params are left out where there is no payload", async () => {
  const test = createTestSystem();
  const { editor, raw, peer } = callEditor(test, { capabilities: ["totals"] });
  const reply = editor.ask("read", { path: "a" });
  const total = editor.ask("total");
  editor.tell("show", { path: "b" });
  const offered = editor.offer("show", { path: "c" });
  await test.settle();
  expect(raw.take()).toEqual([
    { jsonrpc: "2.0", method: "fs/read", id: 1, params: { path: "a" } },
    { jsonrpc: "2.0", method: "total", id: 2 },
    { jsonrpc: "2.0", method: "show", params: { path: "b" } },
    { jsonrpc: "2.0", method: "show", params: { path: "c" } },
  ]);
  expect(peer.waiting).toBe(2);
  raw.say({ jsonrpc: "2.0", id: 2, result: 7 }, { jsonrpc: "2.0", id: 1, result: "text" });
  await test.settle();
  expect((await reply)._unsafeUnwrap()).toBe("text");
  expect((await total)._unsafeUnwrap()).toBe(7);
  expect((await offered).isOk()).toBe(true);
  expect(peer.waiting).toBe(0);
});

test("P18: a result is checked by the protocol, and an error becomes a kind", async () => {
  const test = createTestSystem();
  const { editor, raw } = callEditor(test);
  const error = (code: unknown, data?: unknown, message: unknown = "no"): object => ({
    error: { code, message, data },
  });
  const cases: [object, string, object?][] = [
    [{ result: 7 }, "handler-failed"],
    [{ result: null }, "handler-failed"],
    [{ result: "a", error: { code: 1, message: "both" } }, "handler-failed"],
    [{ error: null }, "handler-failed"],
    [{ error: "text" }, "handler-failed"],
    [{ error: [] }, "handler-failed"],
    [error("1"), "handler-failed"],
    [error(1.5), "handler-failed"],
    [error(1, undefined, 7), "handler-failed"],
    [error(-32601), "unknown-operation"],
    [
      error(-32602, undefined, "It must be a path."),
      "invalid-payload",
      { issues: [{ path: "", message: "is refused by the other side: It must be a path." }] },
    ],
    [error(-32603), "handler-failed"],
    [error(-32700), "handler-failed"],
    [error(-32600), "handler-failed"],
    [error(-32800), "cancelled"],
    [error(-32010), "handler-failed"], // Another implementation may mean something else by it.
    [error(-32010, { kind: "timeout", timeout: 70 }), "timeout", { timeout: 70 }],
    [error(0, { kind: "mailbox-full", capacity: 3 }), "mailbox-full", { capacity: 3, retryable: true }],
    [error(0, { kind: "payload-too-large", limit: 9 }), "payload-too-large", { limit: 9 }],
    [error(0, { kind: "stopped" }), "stopped"],
    [error(0, { kind: "no-recipient" }), "no-recipient"],
    [error(0, { kind: "ask-cycle", path: "x" }), "ask-cycle"],
    [error(0, { kind: "unreachable" }), "unreachable"],
    [error(0, { kind: "toString" }), "handler-failed"],
    [error(0, { kind: "invalid-payload", issues: [{ path: "/a", message: "odd" }, 7] }), "invalid-payload"],
    [error(0, JSON.parse('{"__proto__x":{"kind":"timeout"}}')), "handler-failed"],
  ];
  for (const [index, [answer, kind, more = {}]] of cases.entries()) {
    const reply = editor.ask("read", { path: "a" });
    await test.settle();
    raw.say({ jsonrpc: "2.0", id: index + 1, ...answer });
    await test.settle();
    const failed = (await reply)._unsafeUnwrapErr();
    expect({ answer, kind: failed.kind }).toEqual({ answer, kind: kind as typeof failed.kind });
    expect(failed).toMatchObject(more);
  }
  expect(raw.take()).toHaveLength(cases.length); // No answer was answered.
});

test("an error that is no kind of ours is the cause, with its code, its message and its data", async () => {
  const test = createTestSystem();
  const { editor, raw } = callEditor(test);
  const reply = editor.ask("read", { path: "a" });
  await test.settle();
  raw.say({
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32002, message: `no such file${"!".repeat(5_000)}`, data: { uri: "a" } },
  });
  await test.settle();
  const failed = (await reply)._unsafeUnwrapErr();
  if (failed.kind !== "handler-failed" || !RpcError.is(failed.cause)) throw failed;
  expect(failed.cause.code).toBe(-32002);
  expect(failed.cause.data).toEqual({ uri: "a" });
  expect(failed.cause.message.length).toBeLessThan(1_100);
});

test("P7: an ask that times out or is aborted is cancelled at the other side, and its late answer is told and not logged", async () => {
  const conventions = [
    ["$/cancel_request", { requestId: 1 }],
    ["$/cancelRequest", { id: 1 }],
    ["notifications/cancelled", { requestId: 1 }],
  ] as const;
  for (const [cancel, params] of conventions) {
    const test = createTestSystem();
    const { editor, raw, peer } = callEditor(test, { cancel });
    const reply = editor.ask("read", { path: "a" }, { timeout: 50 });
    await test.advance(50);
    expect((await reply)._unsafeUnwrapErr().kind).toBe("timeout");
    expect(raw.take()[1]).toEqual({ jsonrpc: "2.0", method: cancel, params });
    expect(peer.waiting).toBe(0);
    raw.say({ jsonrpc: "2.0", id: 1, result: "late" }, { jsonrpc: "2.0", id: 1, result: "again" });
    await test.settle();
    expect(peer.counts).toMatchObject({ late: 1, orphaned: 1 });
    expect(test.deadLetters.map(({ reason, reply: late }) => [reason, late])).toEqual([["late-reply", "late"]]);
    expect(test.events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["rpc:late", "rpc:orphaned"]));
    const lines = test.takeLog().map(({ message }) => message); // Of the second alone.
    expect(lines).toEqual([expect.stringContaining("names no request that waits for one")]);
  }
});

test("a cancelled request that the other side answers with an error leaves no dead letter", async () => {
  const test = createTestSystem();
  const { editor, raw, peer } = callEditor(test);
  const abort = new AbortController();
  const reply = editor.ask("read", { path: "a" }, { signal: abort.signal });
  await test.settle();
  abort.abort();
  expect((await reply)._unsafeUnwrapErr().kind).toBe("cancelled");
  raw.say({ jsonrpc: "2.0", id: 1, error: { code: -32800, message: "cancelled" } });
  await test.settle();
  expect(peer.counts).toMatchObject({ late: 1, orphaned: 0 });
  expect(test.deadLetters).toEqual([]);
});

test("responses that belong to nothing are counted and told, and never answered", async () => {
  const test = createTestSystem();
  const { raw, peer } = callEditor(test);
  raw.say({ jsonrpc: "2.0", id: 1, result: 1 }, { jsonrpc: "2.0", id: "1", result: 1 });
  raw.say({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "This is no JSON." } });
  raw.say({ jsonrpc: "2.0", id: {}, result: 1 }, { jsonrpc: "1.0", id: 1, result: 1 }, { jsonrpc: "2.0", result: 1 });
  await test.settle();
  expect(raw.take()).toEqual([]);
  expect(peer.counts).toEqual({ received: 6, refused: 2, orphaned: 4, late: 0 });
  const lines = test.takeLog().map(({ message }) => message);
  expect(lines).toContainEqual(expect.stringContaining('could not take a message: "This is no JSON." (-32700)'));
  expect(lines).toHaveLength(4);
});

test("a payload that JSON-RPC cannot carry is refused before anything is sent", async () => {
  const test = createTestSystem();
  const { editor, raw } = callEditor(test, { maxBytes: 1_000 });
  const circle: unknown[] = [];
  circle.push(circle);
  const kinds: string[] = [];
  for (const payload of ["text", 7, true, { n: 1n }, circle, new Date(0)]) {
    kinds.push((await editor.ask("any", payload))._unsafeUnwrapErr().kind);
  }
  expect(kinds).toEqual(new Array(6).fill("invalid-payload"));
  expect((await editor.ask("any", { text: "x".repeat(1_000) }))._unsafeUnwrapErr()).toMatchObject({
    kind: "payload-too-large",
    limit: 1_000,
  });
  expect((await editor.ask("unnamed"))._unsafeUnwrapErr().kind).toBe("unknown-operation");
  await test.settle();
  expect(raw.take()).toEqual([]);
});

test("a method whose capability is not there is not called, until it is", async () => {
  const test = createTestSystem();
  const { editor, raw, peer } = callEditor(test);
  expect((await editor.ask("total"))._unsafeUnwrapErr().kind).toBe("unknown-operation");
  peer.capabilities.add("totals");
  const reply = editor.ask("total");
  await test.settle();
  expect(raw.take()).toEqual([{ jsonrpc: "2.0", method: "total", id: 1 }]);
  raw.say({ jsonrpc: "2.0", id: 1, result: 3 });
  expect((await reply)._unsafeUnwrap()).toBe(3);
  peer.capabilities.delete("totals");
  expect((await editor.ask("total"))._unsafeUnwrapErr().kind).toBe("unknown-operation");
});

test("progress is asked for where the asker listens, and told to it alone", async () => {
  const test = createTestSystem();
  const { editor, raw } = callEditor(test);
  const heard: unknown[] = [];
  const reply = editor.ask("read", { path: "a" }, { onProgress: (progress) => heard.push(progress) });
  const other = editor.ask("read", { path: "b" });
  await test.settle();
  expect(raw.take().map(({ params }) => params)).toEqual([{ path: "a", _meta: { progressToken: 1 } }, { path: "b" }]);
  const tell = (params: object): object => notice("notifications/progress", params);
  raw.say(tell({ progressToken: 2, progress: 1 }), tell({ progressToken: 1, progress: "1" }), tell([]));
  raw.say(tell({ progressToken: 1, progress: 1, total: 4, message: "begun" }));
  await test.settle();
  raw.say(tell({ progressToken: 1, progress: 2 }));
  await test.settle();
  expect(heard).toEqual([{ done: 1, total: 4, note: "begun" }, { done: 2 }]);
  raw.say({ jsonrpc: "2.0", id: 1, result: "a" }, tell({ progressToken: 1, progress: 3 }), {
    jsonrpc: "2.0",
    id: 2,
    result: "b",
  });
  await test.settle();
  expect([(await reply).isOk(), (await other).isOk(), heard.length]).toEqual([true, true, 2]);
});

test("the progress of LSP begins, goes on in percent, and ends", async () => {
  const test = createTestSystem();
  const { editor, raw } = callEditor(test, { progress: "$/progress" });
  const heard: unknown[] = [];
  const reply = editor.ask("read", { path: "a" }, { onProgress: (progress) => heard.push(progress) });
  await test.settle();
  expect(raw.take()[0]?.params).toEqual({ path: "a", workDoneToken: 1 });
  for (const value of [
    { kind: "begin", title: "Reading", percentage: 0 },
    { kind: "report", message: "half", percentage: 50 },
    { kind: "end" },
    { kind: "odd" },
    null,
  ]) {
    raw.say(notice("$/progress", { token: 1, value }));
    await test.settle();
  }
  raw.say({ jsonrpc: "2.0", id: 1, result: "a" });
  expect((await reply).isOk()).toBe(true);
  expect(heard).toEqual([
    { done: 0, total: 100, note: "Reading" },
    { done: 50, total: 100, note: "half" },
  ]);
});

test("a mistake in the options, the methods or the channel throws at once, and leaves nothing behind", async () => {
  const test = createTestSystem();
  const make =
    (options: object, channel: unknown = channelPair()[0]) =>
    () =>
      createPeer(test.system, channel as ReturnType<typeof channelPair>[0], options as PeerOptions);
  const editor = (methods: object) => ({ calls: { editor: { protocol: Editor, methods } } });
  const Streams = defineProtocol("streams", { ticks: { stream: Type.Number() } });
  expect(make({}, {})).toThrow("has no send()");
  expect(make({}, null)).toThrow("has no send()");
  expect(make({ serve: {} })).toThrow('There is no option "serve" for a peer');
  expect(make({ most: 0 })).toThrow("The most of a peer is a whole number from 1; got 0.");
  expect(make({ longest: -1 })).toThrow("milliseconds above 0");
  expect(make({ maxDepth: 513 })).toThrow("from 1 to 512");
  expect(make({ cancel: "cancel" })).toThrow("is one of $/cancel_request");
  expect(make({ serves: { a: null } })).toThrow('The method "a" is served by { ref, operation }');
  expect(make({ serves: { a: { ref: {}, operation: "b" } } })).toThrow(TypeError);
  expect(make({ serves: { "$/cancel_request": { ref: () => undefined, operation: "b" } } })).toThrow(
    "is that of a convention",
  );
  expect(make(editor({ raed: "read" }))).toThrow('The operation "raed" of "editor" is not in its protocol');
  expect(make(editor({ read: 7 }))).toThrow("has a method, which is a text");
  expect(make({ calls: { editor: { methods: {} } } })).toThrow("what defineProtocol() returned");
  expect(make({ calls: { a: { protocol: Streams, methods: { ticks: "t" } } } })).toThrow("is a stream");
  expect(make({ name: "a b" })).toThrow("is not an actor id");
  await test.settle();
  expect(test.system.inspect().map(({ address }) => address)).toEqual([]);
});

test("the references of several peers have addresses of their own, and a name that is in use is refused", async () => {
  const test = createTestSystem();
  const one = callEditor(test);
  const two = callEditor(test);
  const named = callEditor(test, { name: "zed" });
  expect([one, two, named].map(({ editor }) => editor.address)).toEqual([
    "@(rpc/1/editor)",
    "@(rpc/2/editor)",
    "@(zed/editor)",
  ]);
  expect(() => callEditor(test, { name: "zed" })).toThrow();
  named.peer.close();
  await test.settle();
  expect(callEditor(test, { name: "zed" }).peer.ref.address).toBe("@(zed)");
});

test("P6: an answer that is too long, too deep, or has a key __proto__ ends its ask at once, and is not answered", async () => {
  const test = createTestSystem();
  const { peer, editor, raw } = callEditor(test, { maxBytes: 1_000, maxDepth: 10 });
  const long = `"${"x".repeat(2_000)}"`;
  const answers = [
    (id: unknown) => `{"jsonrpc":"2.0","id":${id},"result":${long}}`,
    (id: unknown) => ` { "id" : ${id} , "jsonrpc" : "2.0" , "error" : { "code": 1, "message": ${long} } }`,
    (id: unknown) => `{"jsonrpc":"2.0","id":${id},"result":${"[".repeat(20)}${"]".repeat(20)}}`,
    (id: unknown) => `{"jsonrpc":"2.0","id":${id},"result":{"__proto__":{}}}`,
  ];
  for (const answer of answers) {
    const asked = editor.ask("read", { path: "a" }, { timeout: Number.POSITIVE_INFINITY });
    await test.settle();
    raw.say(answer(raw.take()[0]?.id));
    await test.settle();
    const error = (await asked)._unsafeUnwrapErr();
    expect(error).toMatchObject({ kind: "handler-failed", cause: { code: -32_600 } });
  }
  // Those whose beginning says less.
  raw.say(`{"jsonrpc":"2.0","result":${long},"id":9}`, `{"jsonrpc":"2.0","id":"\\x","result":${long}}`);
  raw.say(
    `{"jsonrpc":"2.0","method":"m","id":9,"result":${long}}`,
    `{"jsonrpc":"2.0","method":"m","params":[${long}]}`,
  );
  raw.say(`{"jsonrpc":"2.0","id":7,"method":"m","params":[${long}]}`, `{"jsonrpc":"2.0","id":99,"result":${long}}`);
  await test.settle();
  expect(raw.take().map(({ id, error }) => [id, error?.code])).toEqual([
    [null, -32_600],
    [null, -32_600],
    [null, -32_600],
    [null, -32_600],
    [7, -32_600],
  ]);
  expect(peer.counts).toMatchObject({ orphaned: 1, refused: 10 });
  test.takeLog();
});
