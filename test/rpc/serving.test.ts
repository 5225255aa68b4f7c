import { expect, test } from "bun:test";
import {
  type AnyRef,
  address,
  createDeliveryError,
  createMessage,
  defineProtocol,
  expose,
  type Issue,
  Type,
} from "../../src/index";
import { channelPair, createPeer, type PeerOptions, RpcError } from "../../src/rpc/index";
import type { TestSystem } from "../../src/testing/index";
import { testSystems } from "../actor/test-system";
import { Desk, methodsOf, serveDesk, spawnDesk } from "./desk";
import { notice, Raw, request } from "./raw";

const { createTestSystem } = testSystems();

test("P18: an error tells its kind and what its sender can mend, and nothing of what was thrown", async () => {
  const test = createTestSystem();
  const { raw, log } = serveDesk(test);
  const secret = new Error("secret: /home/ada");
  const message = createMessage(address("secret"), "op", 1);
  const throwing = (thrown: unknown) => () => {
    throw thrown;
  };
  Object.assign(log.failures, {
    plain: throwing(secret),
    text: throwing("secret"),
    hostile: throwing(new Proxy({}, { get: throwing("secret"), has: throwing("secret") })),
    inner: throwing(createDeliveryError("invalid-payload", message, [{ path: "/secret", message: "secret" }])),
    exposed: throwing(expose(new Error("There is no such city."))),
    own: throwing(new RpcError(-32002, "There is no such file.", { uri: "a.txt" })),
    bigint: () => 1n,
    bytes: () => new Uint8Array(2),
    buffer: () => new ArrayBuffer(2),
    circle: () => {
      const circle: unknown[] = [];
      circle.push(circle);
      return circle;
    },
    toJSON: () => ({ toJSON: throwing(secret) }),
    nothing: () => undefined,
    function: () => () => {},
  });
  const answers = new Map<string, unknown>();
  for (const how of Object.keys(log.failures)) {
    raw.say(request(how, "fail", { how }));
    await test.settle();
    const [answer] = raw.take();
    answers.set(how, answer?.error ?? answer?.result);
  }
  const failed = {
    code: -32603,
    message: '"fail" failed in its handler.',
    data: { kind: "handler-failed", retryable: false },
  };
  for (const how of ["plain", "text", "hostile", "inner"]) expect([how, answers.get(how)]).toEqual([how, failed]);
  expect(answers.get("exposed")).toMatchObject({ code: -32603, message: "There is no such city." });
  expect(answers.get("own")).toEqual({ code: -32002, message: "There is no such file.", data: { uri: "a.txt" } });
  for (const how of ["bigint", "bytes", "buffer", "circle", "toJSON"]) {
    expect([how, answers.get(how)]).toMatchObject([
      how,
      { code: -32603, message: "The result cannot be written as JSON." },
    ]);
  }
  expect([answers.get("nothing"), answers.get("function")]).toEqual([null, null]);
  expect(JSON.stringify([...answers])).not.toContain("secret");
  const lines = test.takeLog().map(({ message: line }) => line);
  expect(lines.filter((line) => line.includes("failed for the other side"))).toHaveLength(5); // An RpcError is an answer.
  expect(lines.filter((line) => line.includes("cannot be written as JSON"))).toHaveLength(5);
  test.takeFailures();
});

test("P18: at most eight issues are told, and only some refusals a second are explained", async () => {
  const test = createTestSystem();
  const { raw, peer } = serveDesk(test);
  const many = new Array(20).fill("no number");
  const explained = async (count: number): Promise<number> => {
    for (let index = 0; index < count; index++) raw.say(request(index, "sum", many));
    await test.settle();
    const answers = raw.take();
    expect(answers.every(({ error }) => error?.code === -32602)).toBe(true);
    const issues = answers.map(({ error }) => error?.data?.["issues"] as readonly Issue[] | undefined);
    expect(issues[0]).toHaveLength(8);
    return issues.filter((each) => each !== undefined).length;
  };
  expect(await explained(100)).toBe(10);
  await test.advance(1_000);
  expect(await explained(1)).toBe(1);
  await test.advance(1_000);
  raw.say(request("long", "sum", ["x".repeat(20_000)]));
  await test.settle();
  expect(raw.take()[0]?.error).toEqual({
    code: -32602,
    message: "The params do not fit the method.",
    data: { kind: "invalid-payload", retryable: false },
  });
  expect(peer.counts.refused).toBe(102);
});

test("P18: names of the prototype are no methods, and a key __proto__ is refused wherever it is", async () => {
  const test = createTestSystem();
  const { raw, log } = serveDesk(test);
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "then", "onStart"];
  raw.say(...names.map((name) => request(name, name, {})), ...names.map((name) => notice(name, {})));
  await test.settle();
  expect(raw.take().map(({ id, error }) => [id, error?.code])).toEqual(names.map((name) => [name, -32601]));
  const bad = [
    '{"jsonrpc":"2.0","id":1,"method":"wait","params":{"name":"a","__proto__":{"polluted":true}}}',
    '{"jsonrpc":"2.0","id":1,"method":"wait","params":{"name":"a","deep":[{"\\u005f_proto__":{}}]}}',
    '{"jsonrpc":"2.0","id":1,"method":"wait","params":{"name":"a","deep":[{"__pr\\u006fto__":{}}]}}',
    '{"__proto__":{"method":"sum"},"jsonrpc":"2.0","id":1,"params":[1]}',
    '[{"jsonrpc":"2.0","id":1,"method":"wait","params":{"__proto__":null,"name":"a"}}]',
  ];
  raw.say(...bad);
  await test.settle();
  expect(raw.take().map(({ id, error }) => [id, error?.code])).toEqual(bad.map(() => [null, -32600]));
  expect(Reflect.get({}, "polluted")).toBeUndefined();
  raw.say(request(2, "wait", { name: "__proto__ in a text", a__b: "\\u005f_proto__", c: "_".repeat(40) }));
  await test.settle();
  log.release("__proto__ in a text");
  await test.settle();
  expect(raw.take()).toEqual([{ jsonrpc: "2.0", id: 2, result: "__proto__ in a text is done" }]);
});

test("P18: what is nested too deep or too long is refused before it is parsed", async () => {
  const test = createTestSystem();
  const { raw } = serveDesk(test, { maxDepth: 8, maxBytes: 5_000 });
  const nested = (depth: number): string =>
    `{"jsonrpc":"2.0","id":1,"method":"wait","params":{"name":"x","deep":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
  raw.say(nested(6), nested(7), nested(2_000), nested(100_000), `"${"€".repeat(2_000)}"`);
  raw.say(request(2, "sum", [1]));
  await test.settle();
  expect(raw.take().map(({ id, error, result }) => [id, error?.code ?? result])).toEqual([
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [2, 1],
  ]);
  raw.say(notice("$/cancel_request", { requestId: 1 }));
  await test.settle();
  expect(raw.take()[0]?.error?.code).toBe(-32800);
  test.takeLog();
});

test("P7: a cancelled request aborts its handler, and is answered as its convention says", async () => {
  const conventions = [
    ["$/cancel_request", "requestId", true],
    ["$/cancelRequest", "id", true],
    ["notifications/cancelled", "requestId", false],
  ] as const;
  for (const [cancel, member, isAnswered] of conventions) {
    const test = createTestSystem();
    const { raw, log, peer } = serveDesk(test, { cancel });
    raw.say(request("a", "wait", { name: "one" }), [request("b", "wait", { name: "two" }), request("c", "sum", [1])]);
    await test.settle();
    for (const id of ["b", "a", "a", "unknown", null, {}, 1.5]) raw.say(notice(cancel, { [member]: id }));
    raw.say(notice(cancel), notice(cancel, ["a"]), notice("other", { id: "a" }));
    await test.settle();
    expect(log.aborted).toEqual(["two", "one"]);
    const codes = raw
      .take()
      .map((answer) =>
        Array.isArray(answer) ? answer.map(({ id, error }) => [id, error?.code]) : [answer.id, answer.error?.code],
      );
    expect(codes).toEqual(
      isAnswered
        ? [
            [
              ["c", undefined],
              ["b", -32800],
            ],
            ["a", -32800],
          ]
        : [[["c", undefined]]],
    );
    expect(peer.serving).toBe(0);
    raw.say(request("a", "sum", [2])); // Its id is free.
    await test.settle();
    expect(raw.take()).toEqual([{ jsonrpc: "2.0", id: "a", result: 2 }]);
    test.takeLog();
    test.takeFailures();
  }
});

const Pages = defineProtocol("pages", {
  read: { payload: Type.Object({ pages: Type.Number() }), reply: Type.String() },
});

/** An actor that tells how far it is, twice a page, and goes on when `next` is called. */
function servePages(test: TestSystem, options: PeerOptions = {}): { readonly raw: Raw; next(): Promise<void> } {
  const steps: (() => void)[] = [];
  const pages = test.system.spawn("pages", Pages, (ctx) => ({
    async read({ pages: count }) {
      for (let page = 1; page <= count; page++) {
        ctx.progress(page - 0.5, count);
        ctx.progress(page, count, `page ${page}`);
        await new Promise<void>((resolve) => steps.push(resolve));
      }
      return "read";
    },
  }));
  const [here, there] = channelPair();
  createPeer(test.system, here, { serves: { read: { ref: pages, operation: "read" } }, ...options });
  return {
    raw: new Raw(there, test.clock),
    async next() {
      steps.shift()?.();
      await test.settle();
    },
  };
}

test("progress goes to a sender that asked for it, once a turn, and never after the answer", async () => {
  const test = createTestSystem();
  const { raw, next } = servePages(test);
  for (const [id, token] of ["t", 7, undefined, {}, 1.5, null].entries()) {
    raw.say(request(id, "read", { pages: 2, ...(token !== undefined && { _meta: { progressToken: token } }) }));
    await test.settle();
    await next();
    await next();
    const told = raw.take();
    expect(told.pop()).toEqual({ jsonrpc: "2.0", id, result: "read" });
    const of = (progress: number) => ({ progressToken: token, progress, total: 2, message: `page ${progress}` });
    const isToken = typeof token === "string" || token === 7;
    expect(told).toEqual(
      (isToken ? [1, 2] : []).map((page) => ({ jsonrpc: "2.0", method: "notifications/progress", params: of(page) })),
    );
  }
});

test("the progress of LSP begins with a title, and ends", async () => {
  const test = createTestSystem();
  const { raw, next } = servePages(test, { progress: "$/progress" });
  raw.say(request(1, "read", { pages: 4, workDoneToken: 7 }));
  await test.settle();
  for (let page = 0; page < 4; page++) await next();
  expect(raw.take().map((message) => message.params?.["value"] ?? message.result)).toEqual([
    { kind: "begin", title: "read", message: "page 1", percentage: 25 },
    ...[2, 3, 4].map((page) => ({ kind: "report", message: `page ${page}`, percentage: 25 * page })),
    { kind: "end" },
    "read",
  ]);
});

test("a method without its capability is not there, and methods come and go", async () => {
  const test = createTestSystem();
  const { desk } = spawnDesk(test.system);
  const [here, there] = channelPair();
  const peer = createPeer(test.system, here, {
    serves: { sum: { ref: desk, operation: "sum", needs: "sums" }, data: { ref: desk, operation: "data" } },
  });
  const raw = new Raw(there, test.clock);
  const codes = async (): Promise<unknown[]> => {
    raw.say(request(1, "sum", [1]), request(2, "data"));
    await test.settle();
    return raw.take().map(({ error }) => error?.code);
  };
  expect(await codes()).toEqual([-32601, undefined]);
  peer.capabilities.add("sums");
  expect((await codes()).filter((code) => code !== undefined)).toEqual([]);
  peer.serve("data", undefined);
  expect(await codes()).toEqual([-32601, undefined]);
  peer.serve("data", { ref: desk, operation: "data" });
  expect((await codes()).filter((code) => code !== undefined)).toEqual([]);
  expect(() => peer.serve("x", { ref: desk, operation: "no" })).toThrow('leads to no operation "no"');
});

test("a function finds the actor by the params, and what it cannot find is refused", async () => {
  const test = createTestSystem();
  const [ada, bob] = [spawnDesk(test.system, "ada"), spawnDesk(test.system, "bob")];
  const desks: Record<string, AnyRef> = { ada: ada.desk, bob: bob.desk };
  const [here, there] = channelPair();
  createPeer(test.system, here, {
    serves: {
      wait: {
        ref: (params) => {
          const { of } = params as { of: string }; // It throws for params that are left out.
          if (of === "odd") return {} as AnyRef;
          return Object.hasOwn(desks, of) ? desks[of] : undefined;
        },
        operation: "wait",
      },
    },
  });
  const raw = new Raw(there, test.clock);
  for (const of of ["ada", "bob", "nobody", "odd", "toString"]) raw.say(request(of, "wait", { name: of, of }));
  raw.say(request("none", "wait"), notice("wait", { of: "nobody" }));
  await test.settle();
  ada.log.release("ada");
  bob.log.release("bob");
  await test.settle();
  const answers = raw.take();
  expect(answers.filter(({ error }) => error?.code === -32602)).toHaveLength(4);
  expect(answers.filter(({ result }) => result !== undefined).map(({ id, result }) => [id, result])).toEqual([
    ["ada", "ada is done"],
    ["bob", "bob is done"],
  ]);
  expect(test.takeLog().filter(({ message }) => message.includes("the actor of wait threw"))).toHaveLength(2);
});

test("a request may take so long as its method may, and a stopped actor says so", async () => {
  const test = createTestSystem();
  const { desk, log } = spawnDesk(test.system);
  const [here, there] = channelPair();
  createPeer(test.system, here, {
    serves: { ...methodsOf(desk), quick: { ref: desk, operation: "wait", longest: 100 } },
    longest: 1_000,
  });
  const raw = new Raw(there, test.clock);
  raw.say(request(1, "quick", { name: "quick" }), request(2, "wait", { name: "slow" }));
  await test.advance(100);
  expect(raw.take().map(({ id, error }) => [id, error?.data])).toEqual([
    [1, { kind: "timeout", retryable: true, timeout: 100 }],
  ]);
  await test.advance(900);
  expect(raw.take().map(({ id, error }) => [id, error?.data?.["kind"]])).toEqual([[2, "timeout"]]);
  expect(log.aborted).toEqual(["quick", "slow"]);
  await test.system.stop(desk);
  raw.say(request(3, "sum", [1]));
  await test.settle();
  expect(raw.take()[0]?.error).toEqual({
    code: -32012,
    message: "The handler has stopped.",
    data: { kind: "stopped", retryable: false },
  });
  test.takeLog();
  test.takeFailures();
});

test("errors can be worded in another way, and a function that throws tells nothing", async () => {
  const test = createTestSystem();
  const { raw } = serveDesk(test, {
    errorOf({ kind }, method) {
      if (kind === "invalid-payload") return { code: 7, message: `odd params for ${method}` };
      throw new Error("secret");
    },
  });
  raw.say(request(1, "sum", ["x"]), request(2, "fail", { how: "undefined" }));
  await test.settle();
  raw.say(request(3, "fail", {}));
  await test.settle();
  expect(raw.take().map(({ id, error }) => [id, error])).toEqual([
    [1, { code: 7, message: "odd params for sum" }],
    [2, undefined],
    [3, { code: 7, message: "odd params for fail" }],
  ]);
});

test("two peers of one system call each other, and kinds of errors arrive as they were", async () => {
  const test = createTestSystem();
  const { desk, log } = spawnDesk(test.system);
  const [here, there] = channelPair();
  createPeer(test.system, there, { serves: methodsOf(desk), most: 2 });
  const { refs } = createPeer(test.system, here, {
    calls: {
      desk: {
        protocol: Desk,
        methods: { sum: "sum", wait: "wait", fail: "fail", data: "no such method", update: "update" },
      },
    },
  });
  expect((await refs.desk.ask("sum", [1, 2]))._unsafeUnwrap()).toBe(3);
  expect((await refs.desk.ask("data"))._unsafeUnwrapErr().kind).toBe("unknown-operation");
  expect((await refs.desk.ask("fail", { how: "x" })).isOk()).toBe(true);
  const invalid = (await refs.desk.ask("sum", ["x"] as unknown as number[]))._unsafeUnwrapErr();
  expect(invalid).toMatchObject({ kind: "invalid-payload", issues: [{ path: "/0", message: "must be a number" }] });
  const abort = new AbortController();
  const waiting = refs.desk.ask("wait", { name: "one" }, { signal: abort.signal });
  await test.settle();
  abort.abort();
  expect((await waiting)._unsafeUnwrapErr().kind).toBe("cancelled");
  await test.settle();
  expect(log.aborted).toEqual(["one"]);
  test.takeLog();
  test.takeFailures();
});
