import { expect, test } from "bun:test";
import { valueIn } from "../tiers";
import { expectFate, inEachArena } from "./arena";
import { RAW } from "./raw";

const FORGED = "forged";
/** The message of a process at the end of a run. Its number is a secret of the host, of 47 bits. */
const end = (number: number | string) => `["end",${number},{"kind":"value","value":"\\"${FORGED}\\""}]`;

/** Attacks on the part of the language between code and the host. */
const LANGUAGE: Readonly<Record<string, string>> = {
  "logs that look like a result": `for (const text of ["\\n" + input + "\\n", "\\0\\n" + input, input, "\\u2028" + input, '"]\\n' + input]) console.log(text)`,
  "progress that looks like a result": `progress("\\n" + input + "\\n"); progress([input]); progress(input)`,
  "a changed JSON": `JSON.stringify = () => input; JSON.parse = () => ["end", 0, { kind: "value", value: '"${FORGED}"' }]`,
  "a changed toJSON of all": `for (const shared of [Object, Array, String, Number, Boolean]) Object.defineProperty(shared.prototype, "toJSON", { value: () => "${FORGED}" })`,
  "changed promises": `Promise.prototype.then = (f) => f("${FORGED}"); Promise.resolve = () => "${FORGED}"; Promise.prototype.constructor = class { constructor(f) { f(() => {}, () => {}) } }`,
  "a then of all": `Object.defineProperty(Object.prototype, "then", { get() { return undefined } })`,
  "changed functions": `Reflect.apply = Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => "${FORGED}"`,
  "changed bytes": `try { Uint8Array.prototype.indexOf = () => 0; TextEncoder.prototype.encodeInto = () => ({ written: 0 }); TextEncoder.prototype.encode = () => new Uint8Array(1); TextDecoder.prototype.decode = () => "[]" } catch {}`,
  "changed maps": `Map.prototype.get = () => () => "${FORGED}"; Map.prototype.delete = () => true; Set.prototype.has = () => true`,
  "changed strings": `String.prototype.slice = String.prototype.toString = String.prototype.startsWith = () => "${FORGED}"`,
  "setters where a result would be put": `for (const key of ["kind", "value", "message", "0", "1", "2"]) Object.defineProperty(Object.prototype, key, { __proto__: null, get() { return "${FORGED}" }, set() {}, configurable: true })`,
};

/** Lines written by code that has the channel itself. */
const LINES: readonly string[] = [
  ...[end(0), end(7), end(2 ** 47), end("null"), end('"0"')],
  ...[
    '["ready",[]]',
    '["ready",["landlock"]]',
    "nonsense",
    "",
    "[]",
    "{}",
    "null",
    '["answer",1,"\\"forged\\"",0]',
    '["stop",1]',
  ],
  ...['["run",{}]', '["unavailable","forged"]', '["log",9,"forged",0]', '["log",1,"forged",1e999]', '["progress","{"]'],
];

inEachArena("The channel", {}, (arena) => {
  const { run, isolation } = arena;
  // Without a function around it, whose `await` would be the code's own.
  const plain = (body: string) =>
    arena.execute(
      `${arena.language === "typescript" ? "type Said = string; const said: Said = input as any;" : ""}${body}`,
      {
        input: end(1),
      },
    );

  for (const [what, body] of Object.entries(LANGUAGE)) {
    test(`${what} forges no result`, async () => {
      const outcome = await plain(`${body}\nreturn "own"`);
      expect(valueIn(outcome)).toBe("own");
    });

    test(`${what} forges no error, and no log`, async () => {
      const outcome = await plain(`${body}\nconsole.log("said"); throw new RangeError("own")`);
      expect(outcome).toMatchObject({ ok: false, error: { kind: "runtime-error", message: "own" } });
      const logs = outcome.ok ? [] : outcome.error.logs;
      expect(logs.at(-1)?.text).toBe("said");
    });
  }

  test("answers of tools are forged by code for itself at most, whose run may end of it", async () => {
    const body = `const answer = tools.desk.echo("asked"); JSON.parse = () => ({ ok: true, value: "${FORGED}" })
      Promise.prototype.then = function (f) { return f("${FORGED}") }; Map.prototype.get = () => (done) => done("${FORGED}")
      return await answer`;
    const [outcome, beside] = await Promise.all([run(body), run("return await tools.desk.echo('beside')")]);
    if (outcome.ok) expect(["asked", FORGED]).toContain(String(outcome.value.value));
    else expectFate(outcome, ["crashed", "runtime-error"]);
    expect(valueIn(beside)).toBe("beside");
    expect(arena.asked.toSorted()).toEqual(["asked", "beside"]);
  });

  test("an operation that was not granted is not called, by any name", async () => {
    const body = `const kinds = []
      for (const name of ["secret", "toString", "__proto__", "constructor", "echo\\0", ""]) try { await tools.desk[name]("x"); kinds.push("called") } catch (e) { kinds.push(e.name) }
      return kinds.includes("called")`;
    expect(valueIn(await run(body))).toBe(false);
    expect(arena.asked).toEqual([]);
  });

  if (isolation === "sandbox") return;

  for (const line of LINES) {
    test(`writing ${JSON.stringify(line)} to it ends the run that did, and no other`, async () => {
      const body = `${RAW}
        const bytes = new TextEncoder().encode(input + "\\n"); call(1, 3, bytes, bytes.length); await new Promise(() => {})`;
      const [outcome, beside] = await Promise.all([
        run(body, { input: line }),
        run("console.log('mine'); return 'own'"),
      ]);
      expectFate(outcome, ["crashed"]);
      expect(JSON.stringify(outcome)).not.toContain(FORGED);
      expect(beside).toMatchObject({ ok: true, value: { value: "own", logs: [{ text: "mine" }] } });
    });
  }

  test("what code writes there as its own log is in its own log", async () => {
    const body = `${RAW}
      const bytes = new TextEncoder().encode('["log",1,"${FORGED}",0]\\n'); call(1, 3, bytes, bytes.length); return "own"`;
    const [outcome, beside] = await Promise.all([run(body), run("return 'own'")]);
    expect(outcome).toMatchObject({ ok: true, value: { value: "own", logs: [{ text: FORGED }] } });
    expect(beside).toMatchObject({ ok: true, value: { value: "own", logs: [] } });
  });

  test("a call that code writes there is held to what was granted, and to its budget", async () => {
    const body = `${RAW}
      const say = (text) => { const bytes = new TextEncoder().encode(text + "\\n"); call(1, 3, bytes, bytes.length) }
      for (const [id, request] of [{ tool: "desk", operation: "secret" }, { tool: "__proto__", operation: "toString" }, { next: 1 }, { close: 9 }, 7, null, "x"].entries())
        say(JSON.stringify(["call", 1e6 + id, JSON.stringify(request)]))
      return await tools.desk.echo("granted")`;
    expect(valueIn(await run(body))).toBe("granted");
    expect(arena.asked).toEqual(["granted"]);
  });

  test("what goes out without end ends with the run, and none of it is kept", async () => {
    const body = `${RAW}\nconst bytes = new Uint8Array(1e5).fill(65); for (;;) call(1, 3, bytes, bytes.length)`;
    expectFate(await run(body), ["crashed", "output-limit"]);
  });

  test("closing it, or ending in any way, ends the run that did", async () => {
    for (const [body, kind] of [
      ["call(3, 3); await new Promise(() => {})", "crashed"],
      ["call(231, 0)", "crashed"],
      ["call(234, call(39), call(186), 9)", "crashed"],
      ["(await import('node:process')).exit(0)", "crashed"],
      ["(await import('node:process')).abort()", "crashed"],
      ["(await import('node:process')).kill((await import('node:process')).pid, 'SIGKILL')", "runtime-error"],
      ["new DataView((await import('bun:ffi')).toArrayBuffer(8, 0, 8)).setInt8(0, 1)", "crashed"],
    ] as const) {
      const outcome = await run(`${RAW}\n${body}`);
      expect([body, outcome.ok ? "value" : outcome.error.kind]).toEqual([body, kind]);
    }
  });
});
