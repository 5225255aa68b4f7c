import { describe, expect, test } from "bun:test";
import { createContext, runInContext } from "node:vm";
import { toolsInCode } from "../../../../src/tools/code/tools/tools-in-code";

const table = {
  files: { read: "ask", fail: "ask", nothing: "ask", lines: "stream", broken: "stream", gaps: "stream" },
};

/** The host's answer to a request. */
function host(text: string): unknown {
  const { operation, next, close } = JSON.parse(text) as { operation?: string; next?: number; close?: number };
  if (close !== undefined) return { ok: true };
  if (next === 2) return { ok: false, kind: "timeout", message: "Too late." };
  if (next === 3) return { ok: true, value: { done: false } };
  if (next !== undefined) return { ok: true, value: { done: false, value: "line" } };
  if (operation === "fail") return { ok: false, kind: "refused", message: "No." };
  if (operation === "nothing") return { ok: true };
  if (operation === "read") return { ok: true, value: { text: "content", list: [1, 2] } };
  return { ok: true, value: operation === "lines" ? 1 : operation === "broken" ? 2 : 3 };
}

interface Report {
  readonly requests: readonly string[];
  readonly value: unknown;
}

/** Runs code in a realm of its own, that has such tools; its text is what is carried into the tiers. */
async function inCode(code: string, before = ""): Promise<Report> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const requests: string[] = [];
  const answer = (request: unknown): string => {
    if (typeof request !== "string") throw new TypeError("A request is a text.");
    requests.push(request);
    return JSON.stringify(host(request));
  };
  const realm = createContext({ answer, resolve, reject });
  runInContext(
    `{
      const { stringify } = JSON;
      const [settle, fail, ask, PromiseOf] = [resolve, reject, answer, Promise];
      ${before}
      const tools = (${toolsInCode})(${JSON.stringify(table)}, (request) => new PromiseOf((go) => go(ask(request))));
      const report = (value) => settle(stringify(value));
      (async () => { try { ${code} } catch (error) { fail(String(error)) } })();
    }`,
    realm,
  );
  return { requests, value: JSON.parse(await promise) };
}

const use = `
  const read = await tools.files.read({ path: "a" });
  const nothing = await tools.files.nothing();
  let fault;
  try { await tools.files.fail(1) } catch (thrown) {
    fault = thrown.name + "," + thrown.kind + "," + thrown.message;
  }
  let items = "";
  for await (const line of tools.files.lines({ from: 1 })) {
    items += line + ",";
    if (items.length > 9) break;
  }
  const gap = await tools.files.gaps().next();
  const isGap = gap.value === undefined && !gap.done;
  report({ text: read.text, second: read.list[1], isNothing: nothing === undefined, fault, items, isGap });
`;
const used: Report = {
  requests: [
    '{"tool":"files","operation":"read","payload":{"path":"a"}}',
    '{"tool":"files","operation":"nothing"}',
    '{"tool":"files","operation":"fail","payload":1}',
    '{"tool":"files","operation":"lines","payload":{"from":1}}',
    '{"next":1}',
    '{"next":1}',
    '{"close":1}',
    '{"tool":"files","operation":"gaps"}',
    '{"next":3}',
  ],
  value: {
    text: "content",
    second: 2,
    isNothing: true,
    fault: "ToolError,refused,No.",
    items: "line,line,",
    isGap: true,
  },
};

test("tools are asked, and streamed, and what is refused is thrown", async () => {
  expect(await inCode(use)).toEqual(used);
});

const changes: readonly [string, string][] = [
  [
    "Promise.prototype.then",
    "const { then } = Promise.prototype; Promise.prototype.then = function (...all) { if (this.isOurs) return; return then.apply(this, all) }",
  ],
  [
    "Promise.prototype.constructor",
    "Object.defineProperty(Promise.prototype, 'constructor', { get: () => class Other {} })",
  ],
  [
    "both",
    "const { then } = Promise.prototype; const { apply } = Reflect; Object.defineProperty(Promise.prototype, 'constructor', { get: () => class Other {} }); " +
      "Promise.prototype.then = function (onValue, onError) { return apply(then, this, [() => onValue('forged'), onError]) }",
  ],
  ["Promise[Symbol.species]", "Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } })"],
  ["Promise", "globalThis.Promise = function () { throw 1 }"],
  ["JSON", "JSON.parse = JSON.stringify = () => { throw 1 }; globalThis.JSON = 1"],
  [
    "toJSON of all",
    "Object.prototype.toJSON = undefined; Object.defineProperty(Object.prototype, 'toJSON', { get() { return this.tool ? () => ({ tool: 'other' }) : undefined } })",
  ],
  ["toJSON of texts", "String.prototype.toJSON = () => 'other'; Number.prototype.toJSON = () => 5"],
  [
    "members of all, to get",
    "for (const key of ['value', 'kind', 'message', 'name', 'get', 'set', 'next', 'close', 'payload', 'tool', 'operation', 'writable', 'enumerable']) Object.defineProperty(Object.prototype, key, { __proto__: null, get: () => 'other', set() { throw 1 }, configurable: true })",
  ],
  [
    "members of all",
    "Object.prototype.ok = true; Object.prototype.value = 'other'; Object.prototype.get = () => 'other'; Object.prototype.done = true",
  ],
  [
    "lists",
    "Array.prototype[Symbol.iterator] = () => { throw 1 }; Object.defineProperty(Array.prototype, '0', { set() { throw 1 } }); Array.prototype.push = () => { throw 1 }",
  ],
  [
    "Object",
    "for (const key of ['keys', 'create', 'freeze', 'defineProperty', 'hasOwn']) Object[key] = () => { throw 1 }",
  ],
  [
    "Error",
    "globalThis.Error = class { constructor() { throw 1 } }; Object.defineProperty(TypeError.prototype, 'message', { get() { throw 1 } })",
  ],
  [
    "Function.prototype",
    "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }",
  ],
];

describe("code that changes the language gains nothing, and breaks nothing of its tools", () => {
  test.each([...changes])("%s", async (_, change) => {
    expect(await inCode(`${change}\n${use}`)).toEqual(used);
  });

  const reachable = changes.filter(([name]) => !["JSON", "Object", "Error", "Promise"].includes(name));
  test.each([...reachable])("%s, in a run before", async (_, change) => {
    expect(await inCode(use, change)).toEqual(used);
  });
});

test("code finds nothing behind its tools", async () => {
  const { value } = await inCode(`
    let callers = [];
    await tools.files.read({ toJSON: function sloppy() { callers.push(typeof sloppy.caller, typeof arguments.callee.caller); return 1 } });
    const method = tools.files.read;
    report({
      callers: callers.filter((kind) => kind === "function"),
      isFrozen: Object.isFrozen(tools) && Object.isFrozen(tools.files),
      prototypes: [tools, tools.files].map(Object.getPrototypeOf).map((of) => [Object.getPrototypeOf(of), Reflect.ownKeys(of), Object.isFrozen(of)]),
      own: Reflect.ownKeys(method).filter((key) => key !== "name" && key !== "length"),
      none: [typeof tools.constructor, typeof tools.files.constructor, typeof tools.__proto__, typeof tools.then],
    });
  `);
  expect(value).toEqual({
    callers: [],
    isFrozen: true,
    prototypes: [
      [null, [], true],
      [null, [], true],
    ],
    own: [],
    none: ["undefined", "undefined", "undefined", "undefined"],
  });
});

test("a stream is opened when it is read first, once, and is over when it fails or is left", async () => {
  expect(await inCode("tools.files.lines(); report(1)")).toEqual({ requests: [], value: 1 });
  const ahead = await inCode(
    "const lines = tools.files.lines(); report((await Promise.all([lines.next(), lines.next()])).length)",
  );
  expect(ahead.requests.filter((request) => request.includes("lines"))).toHaveLength(1);
  const failed = await inCode(`
    const lines = tools.files.broken();
    const fault = await lines.next().catch((thrown) => thrown.kind);
    report([fault, await lines.next(), await lines.return(4)]);
  `);
  expect(failed.value).toEqual(["timeout", { done: true }, { done: true, value: 4 }]);
  expect(failed.requests).toHaveLength(2);
  const left = await inCode(`
    const lines = tools.files.lines();
    const unread = await lines.return(1);
    const other = tools.files.lines();
    await other.next();
    report([unread, await lines.next(), await other.return(2), await other.return(3), await other.next()]);
  `);
  expect(left.value).toEqual([
    { done: true, value: 1 },
    { done: true },
    { done: true, value: 2 },
    { done: true, value: 3 },
    { done: true },
  ]);
  expect(left.requests.filter((request) => request.includes("close"))).toHaveLength(1);
});
