import { expect, test } from "bun:test";
import { isLong } from "../../../property/runs";
import { errorIn, valueIn } from "../tiers";
import { inEachArena } from "./arena";

/** Each gives a function that makes functions, or would like to be one of the host. */
const CHAINS = [
  "URL.constructor",
  "new URL('http://a/').constructor.constructor",
  "new URL('http://a/').searchParams.constructor.constructor",
  "structuredClone.constructor",
  "structuredClone(input).constructor.constructor",
  "setTimeout.constructor",
  "crypto.randomUUID.constructor",
  "new TextDecoder().decode.constructor",
  "Array.fromAsync([1]).constructor.constructor",
  "console.table.constructor",
  "(() => { let got; console.table(new Proxy({}, { ownKeys() { got = arguments.constructor.constructor; return [] } })); return got })()",
  "(() => { let got; console.table(new Proxy([{}], { getOwnPropertyDescriptor(target, key) { try { got = this.getOwnPropertyDescriptor.caller?.constructor } catch {} return Reflect.getOwnPropertyDescriptor(target, key) } })); return got ?? Function })()",
  "(() => { try { new URL('none') } catch (e) { return e.constructor.constructor } })()",
  "(() => { try { atob('?') } catch (e) { return e.constructor.constructor } })()",
];

inEachArena("What code finds beside the language", {}, (arena) => {
  const { run, isolation } = arena;

  test("leads to nothing of the host", async () => {
    for (const chain of CHAINS) {
      const body = `const made = (${chain})("return " + input.grab); return await made()`;
      expect([chain, valueIn(await run(body, { input: { grab: arena.loot.grab } }))]).toEqual([chain, []]);
    }
  });

  test("a flood of timers is bounded, and ends with its run", async () => {
    const flood = "for (let n = 0; n < 5_000; n++) setInterval(() => { for (let i = 0; i < 100; i++) [i] }, 0)";
    const body = `${flood}; await new Promise((done) => setTimeout(done, 1_000_000))`;
    const { kind, message } = errorIn(await run(body, { timeout: 2_000 }));
    if (isolation === "sandbox") expect(message).toContain("1000 timers already");
    else expect(kind).toBe("timeout");
    const own =
      "setInterval(function again() { setInterval(again, 0) }, 0); return new Promise((done) => setTimeout(done, 20, 7))";
    const outcome = await run(own, { timeout: 2_000 });
    if (outcome.ok) expect(outcome.value.value).toBe(7);
    else if (isolation === "sandbox") expect(outcome.error.message).toContain("1000 timers already");
  });

  test("structuredClone gives no object another prototype, and ends on what is endless", async () => {
    expect(
      valueIn(
        await run(`const copy = structuredClone(JSON.parse('{"__proto__": {"x": 1}, "constructor": {"prototype": {"y": 2}}}'))
          return [{}.x ?? 0, {}.y ?? 0, Object.getPrototypeOf(copy) === Object.prototype]`),
      ),
    ).toEqual([0, 0, true]);
    const endless = `let count = 0; const more = () => ({ get next() { count++; return more() } })
      try { structuredClone(more()); return "cloned" } catch { return count > 10 }`;
    const outcome = await run(endless, { timeout: 2_000 });
    if (outcome.ok) expect(outcome.value.value).toBe(true);
    else expect(["timeout", "out-of-memory", "runtime-error", "crashed"]).toContain(outcome.error.kind);
  });

  test("URLs, texts and bytes of megabytes take the run's own time and memory", async () => {
    const long = "const long = 'x'.repeat(4_000_000)";
    const parsed = valueIn(
      await run(`${long}; try { return new URL("http://a/" + long).pathname.length } catch (e) { return e.name }`),
    );
    expect(parsed).toBe(isolation === "sandbox" ? "TypeError" : 4_000_001);
    for (const work of [
      "for (;;) new URL('http://a/' + long.slice(0, 1e6))",
      "for (;;) new URLSearchParams(long.slice(0, 1e6))",
      "for (;;) btoa(long)",
      "for (;;) new TextDecoder().decode(new TextEncoder().encode(long))",
      "for (;;) structuredClone([long, {}])",
      "for (;;) crypto.getRandomValues(new Uint8Array(65536))",
      "for (;;) 'b'.localeCompare(long)",
    ]) {
      const { kind } = errorIn(await run(`${long}; ${work}`, { timeout: 150 }));
      expect([work, ["timeout", "out-of-memory"]]).toEqual([work, expect.arrayContaining([kind])]);
    }
  });

  test("what code has forged gets no memory of the process, and does not break it", async () => {
    const inSandbox = (name: string, elsewhere: string) => (isolation === "sandbox" ? name : elsewhere);
    for (const length of ["2000000000", "Infinity", "-1", "0.5", "none"]) {
      const body = `const list = new Uint8Array(16)
        Object.defineProperty(list, "byteLength", { value: { valueOf: () => 1, toString: () => "${length}" } })
        try { crypto.getRandomValues(list); return "filled" } catch (e) { return e.name }`;
      expect([length, valueIn(await run(body))]).toEqual([length, inSandbox("QuotaExceededError", "filled")]);
    }
    for (const text of ["{{{", '["write",[[1]]]', '["write",7]', '["set"]', "[]", "null", '"parse"']) {
      const body = `JSON.stringify = () => ${JSON.stringify(text)}
        try { return new URL("http://a/").href ?? "none" } catch (e) { return e.name }`;
      const value = valueIn(await run(body));
      if (isolation === "sandbox")
        expect([text, ["TypeError", "none"]]).toEqual([text, expect.arrayContaining([value])]);
      else expect(value).toBe("http://a/");
    }
  });

  test("a console is no way around the limit of output, whatever it is to show", async () => {
    const many = isLong ? 100_000 : 10_000; // Of a thousand letters each: several times the limit.
    for (const work of [
      "const wide = 'x'.repeat(1e6); console.table(Array.from({ length: 2e4 }, (_, i) => ({ ['k' + i]: wide })))",
      "for (let n = 0; n < 1e5; n++) console.group(); console.log('\\n'.repeat(60_000))",
      `for (let n = 0; n < ${many / 10}; n++) { console.count(n); console.time(n) }`,
      `console.table(new Proxy({}, { ownKeys: () => Array.from({ length: ${many} }, (_, i) => 'k' + i), getOwnPropertyDescriptor: () => ({ value: 'x'.repeat(1e3), enumerable: true, configurable: true }) }))`,
    ]) {
      const outcome = await run(`${work}; return 1`);
      if (!outcome.ok) expect([work, outcome.error.kind]).toEqual([work, "output-limit"]);
      const { logs } = outcome.ok ? outcome.value : outcome.error;
      expect(logs.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(2 * 1024 * 1024);
    }
    const traps = "console.table(new Proxy([], { ownKeys() { throw new RangeError('mine') } }))";
    expect(errorIn(await run(traps))).toMatchObject({ name: "RangeError", message: "mine" });
  });
});
