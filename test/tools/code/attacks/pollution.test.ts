import { expect, test } from "bun:test";
import { valueIn } from "../tiers";
import { inEachArena } from "./arena";

/** Changes that a run makes to the shared objects of the language. */
const POLLUTIONS: Readonly<Record<string, string>> = {
  "prototypes by assignment": `for (const shared of [Object, Array, Function, String, Number, Boolean, Promise, RegExp, Map, Set, Date, Error, Symbol]) {
    shared.polluted = 1; try { shared.prototype.polluted = 1 } catch {} }`,
  "prototypes by __proto__":
    "({}).__proto__.polluted = 1; [].__proto__.polluted = 1; (() => {}).__proto__.polluted = 1",
  "prototypes by a setter": "Object.defineProperty(Object.prototype, 'kind', { get() { return 'value' }, set() {} })",
  "prototypes of what has no name": `for (const odd of [async () => {}, function* () {}, async function* () {}, [][Symbol.iterator](), new Map().entries(), ''.matchAll(/./g)]) {
    Object.getPrototypeOf(odd).polluted = 1; Object.getPrototypeOf(odd).next = () => ({ done: true }) }`,
  "the functions that make and read JSON": `JSON.stringify = () => '"forged"'; JSON.parse = () => 'forged'; Object.prototype.toJSON = () => 'forged'; BigInt.prototype.toJSON = () => 1`,
  promises:
    "const then = Promise.prototype.then; Promise.prototype.then = () => {}; Promise.resolve = null; globalThis.Promise = class {}",
  functions:
    "Function.prototype.call = null; Function.prototype.apply = null; Function.prototype.bind = null; Reflect.apply = null",
  arrays: `Array.prototype.map = () => 'forged'; Array.prototype[Symbol.iterator] = null; Array.prototype.push = () => { throw 1 }; Array.isArray = () => false
    Object.defineProperty(Array.prototype, 0, { set() {}, get() { return 'forged' } })`,
  "strings and numbers":
    "String.prototype.toString = null; String.prototype.slice = () => 'x'; Math.random = () => 4; Math.floor = null; Number.isFinite = null",
  "the console":
    "console.log = null; console.error = () => 'forged'; Object.setPrototypeOf(console, null); try { globalThis.console = null } catch {}",
  globals:
    "globalThis.leaked = 1; globalThis.Object = null; globalThis.Array = class {}; globalThis.JSON = {}; delete globalThis.Map; Object.freeze(globalThis)",
  "what it freezes":
    "for (const name of Reflect.ownKeys(globalThis)) try { Object.freeze(globalThis[name]); Object.freeze(globalThis[name].prototype) } catch {}",
  "symbols that all share":
    "Symbol.for('x').description; Object.prototype[Symbol.toPrimitive] = () => 'x'; Object.prototype[Symbol.toStringTag] = 'x'; Symbol.iterator = null",
  "regular expressions":
    "RegExp.prototype.exec = () => ['forged']; /(leaked)/.test('leaked'); RegExp.prototype.test = () => true",
  "its tools":
    "for (const shared of [tools, tools.desk, tools.desk.echo, progress, input]) try { shared.polluted = 1; shared.echo = null; Object.setPrototypeOf(shared, { polluted: 1 }) } catch {}",
};

/** Code that checks the language: a clean run gives a known value. */
const CLEAN = `const own = (shared) => Object.keys(shared).length + Object.keys(shared.prototype).length
  console.log("clean")
  const parts = { leaked: typeof leaked, polluted: ({}).polluted ?? [].polluted ?? (() => {}).polluted ?? ''.polluted ?? null, kind: ({}).kind ?? null,
    json: JSON.stringify([JSON.parse("1"), { a: 1 }]), map: [1, 2].map((x) => x * 2), spread: [...[1], ...new Map([[1, 2]]).keys()],
    own: [Object, Array, Function, Promise, RegExp].map(own), awaited: await Promise.resolve(2), async: await (async () => 3)(), generated: [...(function* () { yield 4 })()],
    random: Math.random() < 1, slice: "abc".slice(1), called: (function () { return this.a }).call({ a: 5 }), text: String({}), last: RegExp.$1 ?? "", found: /b+/.exec("abb")[0],
    frozen: Object.isFrozen(Object.prototype), asked: await tools.desk.echo({ a: [6] }), tools: Object.keys(tools.desk).length, given: input }
  return parts`;

const FRESH = {
  ...{ leaked: "undefined", polluted: null, kind: null, json: '[1,{"a":1}]', map: [2, 4], spread: [1, 1] },
  ...{ own: [0, 0, 0, 0, 0], awaited: 2, async: 3, generated: [4], random: true, slice: "bc", called: 5 },
  ...{ text: "[object Object]", last: "", found: "bb", frozen: false, asked: { a: [6] }, tools: 5, given: { a: 1 } },
};

const HOSTILE_TEXT = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"then":1}`;

inEachArena("Pollution", {}, (arena) => {
  const { run } = arena;
  for (const [what, body] of Object.entries(POLLUTIONS)) {
    test(`of ${what} is gone in the next run`, async () => {
      await run(`${body}\nreturn 1`, { input: { a: 1 } });
      const outcome = await run(CLEAN, { input: { a: 1 } });
      expect(valueIn(outcome)).toEqual(FRESH);
      expect(outcome.ok && outcome.value.logs).toMatchObject([{ level: "log", text: "clean" }]);
    });
  }

  test("of all at once is gone after a run that was ended in its midst", async () => {
    const all = Object.values(POLLUTIONS).map((body) => `try {\n${body}\n} catch {}`);
    for (const end of ["for (;;);", "(function again() { again() })()", "const kept = []; for (;;) kept.push([1])"]) {
      await run(`${all.join("\n")}\n${end}`, { input: { a: 1 }, timeout: 300 });
      expect(valueIn(await run(CLEAN, { input: { a: 1 } }))).toEqual(FRESH);
    }
  });

  test("of a session stays in that session", async () => {
    const open = async () => {
      const opened = (await arena.code.ask("session", {}))._unsafeUnwrap();
      return opened.ok ? opened.value.session : "";
    };
    const [bad, good] = [await open(), await open()];
    for (const body of Object.values(POLLUTIONS)) {
      await arena.execute(`var kept = 1; (() => {\n${body}\n})()`, {
        session: bad,
        language: "javascript",
        timeout: 50,
      });
      const told = await arena.execute("var kept; kept ??= 'mine'; [kept, ({}).polluted, typeof leaked]", {
        session: good,
        language: "javascript",
      });
      expect(valueIn(told)).toEqual(["mine", null, "undefined"]);
    }
    expect(valueIn(await run(CLEAN, { input: { a: 1 } }))).toEqual(FRESH);
    for (const session of [bad, good]) await arena.code.ask("endSession", { session });
  });

  test("of a session breaks neither the end of its run nor the calls of the next one", async () => {
    const opened = (await arena.code.ask("session", {}))._unsafeUnwrap();
    const session = opened.ok ? opened.value.session : "";
    const given = { language: "javascript", session, timeout: 2_000 } as const;
    const pollution = `const Promise_ = Promise; const broken = () => { throw new Error("broken") };
      for (const shared of [Map, Set, WeakMap]) for (const key of ["get", "set", "add", "has", "delete", "clear"]) shared.prototype[key] = broken;
      for (const shared of [Map, Set]) Object.defineProperty(shared.prototype, "size", { get: () => 1e9 });
      globalThis.Promise = class {}; globalThis.Map = class {}; delete globalThis.Set;
      Array.prototype[Symbol.iterator] = broken; Object.getPrototypeOf([].values()).next = broken;
      Object.defineProperty(Promise_, Symbol.species, { get: broken }); Object.defineProperty(Promise_.prototype, "constructor", { get: broken });
      await tools.desk.echo(1)`;
    expect(valueIn(await arena.execute(pollution, given))).toBe(1);
    expect(valueIn(await arena.execute("await tools.desk.echo(2)", given))).toBe(2);
    await arena.code.ask("endSession", { session });
  });

  test("of a session catches no function of the host that calls what was put in, nor its arguments", async () => {
    const opened = (await arena.code.ask("session", {}))._unsafeUnwrap();
    const session = opened.ok ? opened.value.session : "";
    const trap = `var caught = [];
      function look(own) {
        return function () {
          try {
            const { caller } = arguments.callee;
            if (typeof caller === "function") caught.push(String(caller) + [...(caller.arguments ?? [])].map(String));
          } catch {}
          return own;
        };
      }
      for (const shared of [JSON, Object, Reflect, Symbol, Promise.prototype, String.prototype, Array.prototype, Math, globalThis])
        for (const key of Reflect.ownKeys(shared)) {
          const { configurable, value } = Reflect.getOwnPropertyDescriptor(shared, key);
          if (configurable && typeof value === "function") Object.defineProperty(shared, key, { configurable, get: look(value) });
        }
      0`;
    const [language, given] = ["javascript", { session, seed: 1, now: 1 }] as const;
    valueIn(await arena.execute(trap, { language, session }));
    valueIn(await arena.execute("await tools.desk.echo(1); new Date(); Math.random()", { language, ...given }));
    expect(valueIn(await arena.execute("caught", { language, session }))).toEqual([]);
    await arena.code.ask("endSession", { session });
  });

  test("of the host: by names that objects have, in values, logs, progress, errors and calls", async () => {
    const value = valueIn(await run(`return JSON.parse('${HOSTILE_TEXT}')`));
    expect(JSON.stringify(value)).toBe(HOSTILE_TEXT);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    const error = await run(
      `throw Object.assign(new Error("__proto__"), { name: "__proto__", constructor: 1, line: { polluted: 1 }, kind: "value", ok: true })`,
    );
    expect(error).toMatchObject({
      ok: false,
      error: { kind: "runtime-error", name: "__proto__", message: "__proto__" },
    });
    const body = `const hostile = JSON.parse('${HOSTILE_TEXT}'); console.log("__proto__"); progress(hostile)
      return await tools.desk.echo(hostile).catch((error) => [error.name, error.kind])`;
    expect(valueIn(await run(body))).toEqual(["ToolError", "invalid-payload"]);
    expect(arena.asked).toEqual([]);
    // That nothing of the host was changed by it, each test of an arena looks at.
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("of the host: by names of tools, of operations and of sessions", async () => {
    const body = `const got = []
      for (const tool of ["__proto__", "constructor", "toString", "hasOwnProperty"]) for (const from of [tools, tools.desk]) {
        try { got.push(typeof from[tool], typeof from[tool]?.call?.(from, { polluted: 1 })) } catch (e) { got.push(e.name) }
      }
      return got.every((each) => each === "undefined")`;
    expect(valueIn(await run(body))).toBe(true);
    for (const name of ["__proto__", "constructor", "toString", ""]) {
      expect(await arena.execute("1", { session: name })).toMatchObject({ ok: false, error: { kind: "unavailable" } });
    }
  });
});
