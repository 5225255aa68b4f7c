import { expect, test } from "bun:test";
import { valueIn, withCode } from "../tiers";
import { inEachArena } from "./arena";
import { Loot } from "./loot";

/** Each gives a function that makes functions, or would like to be one of the host. */
const CHAINS: Readonly<Record<string, string>> = {
  "of arrays": "[].constructor.constructor",
  "of async functions": "(async () => {}).constructor",
  "of generators": "(function* () {}).constructor",
  "of async generators": "(async function* () {}).constructor",
  "of classes": "class {}.constructor",
  "of the input": "input.constructor.constructor",
  "of the input's members": "input.list.constructor.constructor",
  "of the console": "console.log.constructor",
  "of the console's prototype": "Reflect.getPrototypeOf(console.log).constructor",
  "of progress": "progress.constructor",
  "of promises": "Promise.resolve().constructor.constructor",
  "of the promise of an async function": "(async () => {})().constructor.constructor",
  "of proxies": "new Proxy(function () {}, {}).constructor",
  "of a proxy's handler": `(() => { let got; const proxy = new Proxy(function () {}, { apply(target, self, given) { got = given.constructor.constructor } }); proxy(1); return got })()`,
  "of errors": "(() => { try { null.x } catch (e) { return e.constructor.constructor } })()",
  "of errors of native functions":
    "(() => { try { Reflect.apply(1) } catch (e) { return e.constructor.constructor } })()",
  "of errors of the host's functions": `(() => { try { progress(() => {}) } catch (e) { return e.constructor.constructor } })()`,
  "of a tool": "tools.desk.echo.constructor",
  "of the promise of a tool": "tools.desk.echo(1).constructor.constructor",
  "of what a tool answers": "(await tools.desk.echo({ a: [1] })).a.constructor.constructor",
  "of a ToolError": "(await tools.desk.fail(1).catch((e) => e)).constructor.constructor",
  "of a ToolError's members": "(await tools.desk.fail(1).catch((e) => e)).kind.constructor.constructor",
  "of a refused call":
    "(await tools.desk.letters(1)[Symbol.asyncIterator]().next().catch((e) => e)).constructor.constructor",
  "of a tool's stream": "tools.desk.letters('ab').next.constructor",
  "of a stream's items": "(await tools.desk.letters('ab').next()).constructor.constructor",
  "of arguments that a promise gives": `await new Promise((done) => Promise.prototype.then.call(tools.desk.echo(1), function () { done(Reflect.getPrototypeOf(arguments).constructor.constructor) }))`,
  "of promises with Symbol.species": `await (async () => {
    let got; class Own extends Promise { static get [Symbol.species]() { return function (executor) { executor((v) => { got ??= v }, () => {}); got = executor.constructor; return new Promise(executor) } } }
    Own.resolve(1).then(() => {}); return got })()`,
  "of a tool's promise with Symbol.species": `await (async () => {
    let got = Function; const answer = tools.desk.echo(1)
    try { Object.defineProperty(answer, "constructor", { value: { [Symbol.species]: function (executor) { got = executor.constructor; executor(() => {}, () => {}) } } }) } catch {}
    try { answer.then(() => {}) } catch {}
    return got })()`,
  "of arrays with Symbol.species": `(() => { let got = Function; const list = [1]; list.constructor = { [Symbol.species]: function (n) { got = n.constructor.constructor; return [] } }; list.map(String); return got })()`,
  "of what a getter is called by": `(() => { let got; const value = { toJSON() { try { got = value.toJSON.caller } catch {} return 1 } }; progress(value); console.log(value); return got?.constructor ?? Function })()`,
  "of a thenable that is awaited": `await (async () => { let got; await { then(done) { got = done.constructor; done() } }; return got })()`,
  "of a thenable that a tool is sent": `await (async () => { let got = Function; const sent = { toJSON() { return 1 }, then(done) { got = done.constructor } }; await tools.desk.echo(sent); return got })()`,
  "of globalThis": "globalThis.Function",
  "of eval": "(0, eval)('Function')",
};

/** Whether what prepares stacks is given anything of the host. */
const STACKS = `const seen = []
  Error.prepareStackTrace = (error, frames) => {
    for (const frame of frames) {
      for (const part of ["getThis", "getFunction", "getFileName", "getScriptNameOrSourceURL", "getEvalOrigin"]) {
        try { seen.push(frame[part]?.()) } catch {}
      }
    }
    return "prepared"
  }
  try { null.x } catch (e) { e.stack }
  new Error("x").stack
  try { Error.captureStackTrace({}) } catch {}
  console.log(new Error("logged"))
  try { await tools.desk.fail(1) } catch (e) { e.stack }
  const texts = seen.filter((part) => typeof part === "string").join()
  const made = seen.filter((part) => typeof part === "function" || (typeof part === "object" && part !== null))
  return [/worker|node_modules|\\/src\\//.test(texts), (await Promise.all(made.map((part) => (typeof part === "function" ? part : part.constructor).constructor("return " + input)()))).flat()]`;

inEachArena("Ways out of the language", {}, (arena) => {
  const { run } = arena;
  for (const [name, chain] of Object.entries(CHAINS)) {
    test(`a constructor chain ${name} leads to nothing of the host`, async () => {
      const body = `const make = ${chain}
        const made = make("return " + input.grab)
        const got = made()
        return await (typeof got?.next === "function" ? (await got.next()).value : got)`;
      expect(valueIn(await run(body, { input: { grab: arena.loot.grab, list: [1] } }))).toEqual([]);
    });
  }

  test("Error.prepareStackTrace is given no frames of the host", async () => {
    const [namesFiles, got] = valueIn(await run(STACKS, { input: arena.loot.grab })) as unknown[];
    expect(got).toEqual([]);
    // Bun tells code of its own process where that is installed, here as elsewhere: no stack that comes out does.
    if (arena.isolation === "sandbox") expect(namesFiles).toBe(false);
  });

  test("globalThis, this and eval in each of its forms lead to nothing of the host", async () => {
    for (const code of [
      "return INPUT",
      "return await eval(input)",
      "return await (0, eval)(input)",
      "return await (function () { return this })().eval(input)",
      "return await globalThis.globalThis.eval(input)",
      "return await Reflect.construct(Function, ['return ' + input])()",
      "class Own extends Function {}; return await new Own('return ' + input)()",
    ]) {
      const body = code.replace("INPUT", arena.loot.grab);
      expect([code, valueIn(await run(body, { input: arena.loot.grab }))]).toEqual([code, []]);
    }
  });

  test("a body that closes the function around it finds nothing there", async () => {
    for (const body of [
      "} ; return 1; async function other() {",
      "}) ; globalThis.escaped = 1; (async function () {",
      "}; })(); (async () => { await 1",
      "*/ } /*",
      "`; } //",
    ]) {
      const outcome = await arena.execute(body);
      expect([body, outcome.ok ? "value" : outcome.error.kind]).toEqual([body, "compile-error"]);
    }
  });
});

test("The same grab takes all of it where code is trusted, so that it would be seen to", async () => {
  const loot = new Loot();
  try {
    await withCode({ isolation: "trusted" }, async (execute) => {
      const got = valueIn(await execute(`return await Function("return " + input)()`, { input: loot.grab }));
      expect(got).toEqual(
        expect.arrayContaining([
          "file",
          "imported",
          "made",
          "named",
          "environment",
          "memory",
          "spawned",
          "connected",
          "local",
        ]),
      );
      expect(loot.visits).toBeGreaterThan(0);
    });
  } finally {
    loot.remove();
  }
});
