import { describe, expect, test } from "bun:test";
import { errorIn, tiers, valueIn, ways, withCode } from "./tiers";

/** The value of code in the sandbox, and of the same code in Bun. */
async function inBoth(bodies: readonly string[]): Promise<void> {
  await withCode({ isolation: "sandbox" }, async (run) => {
    for (const body of bodies) {
      const make = Object.getPrototypeOf(async () => {}).constructor as new (body: string) => () => Promise<unknown>;
      const own: unknown = await new make(body)();
      expect([body, valueIn(await run(body))]).toEqual([body, JSON.parse(JSON.stringify(own))]);
    }
  });
}

for (const { isolation, language } of ways) {
  describe(`P15: globals of code as "${isolation}" in ${language}`, () => {
    test("are there, and work", async () => {
      await withCode(
        { isolation },
        async (run) => {
          const code = `
            const order = [];
            const typed = "n";
            await new Promise((done) => {
              setTimeout((a, b) => { order.push(a + b); done(0) }, 200, "t", "!");
              setTimeout(() => order.push("first"), 1);
              queueMicrotask(() => order.push("micro"));
              clearTimeout(setTimeout(() => order.push("never"), 2));
            });
            let ticks = 0;
            await new Promise((done) => {
              const id = setInterval(() => { if (++ticks === 3) { clearInterval(id); done(0) } }, 1);
            });
            const given = { a: [new Date(0), new Map([[1, { b: 2n }]]), /x/g] };
            const copy = structuredClone(given);
            return [
              order, ticks, copy.a[0] instanceof Date, copy.a[1].get(1).b === 2n, copy !== given, copy.a[2].flags,
              new URL("../b?q=1#h", "https://user@example.com:8080/a/c").href,
              new URLSearchParams({ q: "a b&c" }).toString(),
              Array.from(new TextEncoder().encode("hé€𐍈")), new TextDecoder().decode(new Uint8Array([0xe2, 0x82, 0xac])),
              btoa("hello"), atob("aGVsbG8="), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
              crypto.getRandomValues(new Uint8Array(32)).some((byte) => byte > 0),
              await Array.fromAsync((async function* () { yield 1; yield 2 })(), async (n) => n * 2),
            ]`;
          expect(valueIn(await run(code))).toEqual([
            ["micro", "first", "t!"],
            3,
            true,
            true,
            true,
            "g",
            "https://user@example.com:8080/b?q=1#h",
            "q=a+b%26c",
            [104, 195, 169, 226, 130, 172, 240, 144, 141, 136],
            "€",
            "aGVsbG8=",
            "hello",
            true,
            true,
            [2, 4],
          ]);
        },
        language,
      );
    });

    test("of the console write the same in each tier", async () => {
      await withCode(
        { isolation },
        async (run) => {
          const code = `
            console.group("outer"); console.log("a\\nb"); console.group(); console.warn("c");
            console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log("d");
            console.count(); console.count("x"); console.count("x"); console.countReset("x"); console.count("x");
            console.time("t"); console.timeLog("t", "more"); console.timeEnd("t"); console.timeEnd("t");
            console.table([{ a: 1, b: "x" }, { a: 22, c: true }]);
            console.table([5, { a: 1 }]); console.table(3); console.group("open")`;
          const ran = await run(code);
          if (!ran.ok) throw new Error(ran.error.message);
          const logs = ran.value.logs.map(({ level, text }) => `${level}: ${text.replace(/[\d.]+ms/, "#ms")}`);
          expect(logs).toEqual([
            "log: outer",
            "log:   a\n  b",
            "warn:     c",
            "log: d",
            "log: default: 1",
            "log: x: 1",
            "log: x: 2",
            "log: x: 1",
            "log: t: #ms more",
            "log: t: #ms",
            'warn: There is no timer "t"; begin it with console.time.',
            "log: ┌─────────┬────┬───┬──────┐\n│ (index) │ a  │ b │ c    │\n├─────────┼────┼───┼──────┤\n│ 0       │ 1  │ x │      │\n│ 1       │ 22 │   │ true │\n└─────────┴────┴───┴──────┘",
            "log: ┌─────────┬───┬────────┐\n│ (index) │ a │ Values │\n├─────────┼───┼────────┤\n│ 0       │   │ 5      │\n│ 1       │ 1 │        │\n└─────────┴───┴────────┘",
            "log: 3",
            "log: open",
          ]);
        },
        language,
      );
    });
  });
}

describe("Sandbox: timers", () => {
  test("are dropped when the run ends, and none of a run before fires in its session", async () => {
    await withCode({ isolation: "sandbox" }, async (run, ref) => {
      const opened = (await ref.ask("session", {}))._unsafeUnwrap();
      if (!opened.ok) throw new Error(opened.error.message);
      const { session } = opened.value;
      const first = "let fired = 0; const old = setInterval(() => { fired++ }, 1); return old";
      expect(valueIn(await run(first, { session }))).toBe(1);
      const second = "clearTimeout(old); await new Promise((done) => setTimeout(done, 5)); return fired";
      expect(valueIn(await run(second, { session }))).toBe(0);
    });
  });

  test("end no run later than its time, and what waits for one has not settled", async () => {
    await withCode({ isolation: "sandbox", timeout: 700 }, async (run) => {
      expect(errorIn(await run("await new Promise((done) => setTimeout(done, 1e9))")).kind).toBe("timeout");
      expect(errorIn(await run("setInterval(() => {}, 0); await new Promise(() => {})")).kind).toBe("timeout");
      expect(errorIn(await run("setTimeout(() => {}, 1); await new Promise(() => {})")).message).toContain(
        "never settles",
      );
      // Its process lives: it had heard that its time was up.
      expect(valueIn(await run("return 1"))).toBe(1);
    });
  });

  test("whose function throws end the run, as do microtasks", async () => {
    for (const { isolation } of tiers.filter((tier) => tier.isIsolated)) {
      await withCode({ isolation }, async (run) => {
        for (const later of ["setTimeout", "setInterval", "queueMicrotask"]) {
          const code = `${later}(() => { throw new RangeError("late") }, 1); await new Promise((done) => setTimeout(done, 1e4))`;
          expect(errorIn(await run(code))).toMatchObject({
            kind: "runtime-error",
            name: "RangeError",
            message: "late",
          });
        }
      });
    }
  });
});

describe("Sandbox: what it shares with other tiers", () => {
  test("structuredClone", () =>
    inBoth([
      "const a = { self: null }; a.self = a; const c = structuredClone(a); return c.self === c && c !== a",
      "class P { x = 1; get y() { return 2 } #z = 3 } return [structuredClone(new P()), structuredClone(new P()).constructor === Object]",
      "return structuredClone({ get a() { return [1, , 3] }, [Symbol('s')]: 1 })",
      "const e = structuredClone(new TypeError('m', { cause: [1] })); return [e instanceof TypeError, e.name, e.message, 'cause' in e]",
      "const b = new Uint8Array([1, 2, 3, 4]).buffer; const [x, y] = structuredClone([new Uint8Array(b, 1, 2), new DataView(b)]); return [[...x], x.buffer === y.buffer, y.byteLength]",
      "const b = new ArrayBuffer(8); const c = structuredClone(b, { transfer: [b] }); return [b.byteLength, c.byteLength]",
      "const out = []; for (const v of [() => 1, Symbol('s'), new WeakMap(), Promise.resolve(), { f() {} }, [Symbol('s')]]) { try { structuredClone(v); out.push('cloned') } catch (e) { out.push(e.name) } } return out",
      "return [Object(1), Object('s'), Object(false)].map((v) => [typeof structuredClone(v), structuredClone(v).valueOf()])",
      'return JSON.stringify(structuredClone(JSON.parse(\'{"__proto__": {"x": 1}}\'))) + String({}.x)',
      "const s = structuredClone(new Set([1, new Map([['a', new Set()]])])); return [s.size, [...s][1].get('a').size]",
      "return structuredClone({ [Symbol.toStringTag]: 'Map', size: 3 })",
      "return [structuredClone(undefined) === undefined, structuredClone(null), Object.is(structuredClone(-0), -0), String(structuredClone(5n))]",
      "return structuredClone(new Date(NaN)).getTime() !== structuredClone(new Date(0)).getTime()",
      "const r = /a/gi; r.lastIndex = 3; const c = structuredClone(r); return [c.source, c.flags, c.lastIndex]",
    ]));

  test("URL and URLSearchParams", () =>
    inBoth([
      "const u = new URL('HTTPS://ex%41mple.com:443/a/./b/../c d?x=ü#f'); return [u.href, u.origin, u.protocol, u.host, u.port, u.pathname, u.search, u.hash, JSON.stringify(u), String(u)]",
      "const u = new URL('http://a.b/c'); u.port = '81'; u.hash = 'x'; u.searchParams.append('q', 'ä ö'); u.pathname = 'p q'; u.protocol = 'https'; return [u.href, u.search]",
      "const u = new URL('http://a.b/?a=1&b=2&a=3'); const p = u.searchParams; p.delete('a', '1'); p.sort(); u.search = '?z=9'; return [p.get('z'), p.size, u.href, u.searchParams === p]",
      "const u = new URL('http://a/?x=1'); u.searchParams.delete('x'); return [u.href, u.search]",
      "return ['a:b', '//x', 'http://[::1]:80/', 'http://münchen.de/ß', 'data:text/plain,hi', 'http://1.2.3', 'mailto:a@b', 'nope', ''].map((u) => URL.canParse(u) ? new URL(u).href : null)",
      "try { new URL('nope') } catch (e) { return e instanceof TypeError }",
      "const u = new URL('http://a/'); try { u.href = 'nope' } catch (e) { return [e instanceof TypeError, u.href] }",
      "const p = new URLSearchParams([['a', 'b c'], ['d', '+&='], ['a', 'é']]); p.set('a', '1'); p.append('x', 'y'); return [[...p], [...p.keys()], [...p.values()], p.toString(), p.has('a'), p.has('a', '2'), p.getAll('x'), p.get('no'), p.size]",
      "const out = []; new URLSearchParams('?a=1&b=%zz&c').forEach((v, k) => out.push([k, v])); return out",
      "return [String(URL.parse('/x', 'http://h/')), URL.parse('nope'), Object.keys(new URL('a:b')), new URLSearchParams('a=\\ud800').get('a')]",
    ]));

  test("text as bytes", () =>
    inBoth([
      "return ['', 'aé€𐍈', '\\ud800x', '\\ufeffa'].map((t) => [...new TextEncoder().encode(t)])",
      "const b = new Uint8Array(5); return [new TextEncoder().encodeInto('a€𐍈', b), [...b]]",
      "return [[0xff], [0xe2, 0x82], [0xe2, 0x82, 0x41], [0xed, 0xa0, 0x80], [0xf0, 0x90, 0x8d], [0xc0, 0x80], [0xef, 0xbb, 0xbf, 0x61], [0xf4, 0x90, 0x80, 0x80]].map((b) => new TextDecoder().decode(new Uint8Array(b)))",
      "const d = new TextDecoder(); return [d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }), d.decode(new Uint8Array([0xac, 0xf0]), { stream: true }), d.decode()]",
      "try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) { return e.name }",
      "return [new TextDecoder('utf-16le').decode(new Uint8Array([0x41, 0, 0x3d, 0xd8, 0, 0xde, 0, 0xdc])), new TextDecoder('latin1').decode(new Uint8Array([0x80, 0xe9])), new TextDecoder('UTF8').encoding]",
      "return [new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf])).length, new TextDecoder().decode(new Uint8Array([1, 0x62, 2]).subarray(1, 2)), new TextDecoder().decode(new Uint8Array([0x61]).buffer)]",
      "try { new TextDecoder('no-such') } catch (e) { return e.name }",
      "return ['', 'a', 'ab', 'abc', '\\xff\\x00'].map((t) => [btoa(t), atob(btoa(t)) === t])",
      "return [' aGk= ', 'aGk', 'a', 'aGk==', '!', '=', 'YQ=='].map((t) => { try { return atob(t) } catch (e) { return e.name } })",
      "try { btoa('€') } catch (e) { return e.name }",
    ]));

  test("Array.fromAsync", () =>
    inBoth([
      "return [await Array.fromAsync([Promise.resolve(1), 2]), await Array.fromAsync({ length: 2, 0: Promise.resolve('a'), 1: 'b' }), await Array.fromAsync('ab', (c, i) => c + i)]",
      "try { await Array.fromAsync([1], 3) } catch (e) { return e.name }",
      "try { await Array.fromAsync((async function* () { yield 1; throw new RangeError('x') })()) } catch (e) { return e.name }",
      "try { await Array.fromAsync(null) } catch (e) { return e.name }",
      "return Array.fromAsync(new Set([3, 1]))",
    ]));
});

describe("Sandbox: what code does to long lists", () => {
  test("P5: structuredClone asks only what may be of the language's own classes what it is", async () => {
    await withCode({ isolation: "sandbox" }, async (run) => {
      const body = `let asked = 0;
        const { get } = Object.getOwnPropertyDescriptor(Map.prototype, "size");
        Object.defineProperty(Map.prototype, "size", { get() { asked++; return get.call(this) }, configurable: true });
        class Row { id = 1 }
        const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, tags: ["a"], by: Object.create(null), of: new Row() }));
        const copy = structuredClone(rows);
        const plain = asked;
        class Own extends Map {}
        const own = structuredClone(new Own([[1, 2]]));
        return [copy.length, copy[999].id, copy[999].of instanceof Row, plain, own instanceof Own, own.get(1), asked > 0]`;
      expect(valueIn(await run(body))).toEqual([1_000, 999, false, 0, false, 2, true]);
    });
  });

  test("P5: localeCompare looks no character up anew", async () => {
    await withCode({ isolation: "sandbox" }, async (run) => {
      const body = `"a".localeCompare("b");
        let asked = 0;
        const { indexOf } = String.prototype;
        String.prototype.indexOf = function (...parts) { asked++; return indexOf.apply(this, parts) };
        const names = Array.from({ length: 200 }, (_, n) => "Item " + ((n * 77) % 200));
        names.sort((one, another) => one.localeCompare(another));
        return [asked, names[0], names[1], names[2], names[199]]`;
      expect(valueIn(await run(body))).toEqual([0, "Item 0", "Item 1", "Item 10", "Item 99"]);
    });
  });
});

describe("Sandbox: what needs Intl", () => {
  test("gives what other tiers give, or throws and says what to do", async () => {
    await inBoth([
      "const all = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)); const words = [...all, 'ab', 'Ab', 'aB', 'a b', 'a-b', 'item 10', 'item 9', '', 'A1', 'a1']; return words.toSorted((a, b) => a.localeCompare(b))",
      "return ['a'.localeCompare('B'), 'a'.localeCompare('A'), 'A'.localeCompare('a'), 'b'.localeCompare('B', 'en'), 'x'.localeCompare('x'), 'resume'.localeCompare('RESUME')]",
      "return [0, -0, 1, 999, 1000, -1234567.891, 0.0005, 1.0005, 2.5, 0.9999, 999.9996, 1e21, 1.2345e25, 123456789012345680000, 1e-7, NaN, Infinity, -Infinity].map((n) => n.toLocaleString())",
      "return [5n, 1234567n, -1000n].map((n) => n.toLocaleString()).concat((1234.5).toLocaleString('en-US'))",
      "return [[1234.5, 2].toLocaleString(), new Float64Array([1234.5]).toLocaleString(), 'straße'.toLocaleUpperCase(), 'ÀB'.toLocaleLowerCase('en')]",
    ]);
    await withCode({ isolation: "sandbox" }, async (run) => {
      for (const code of [
        "'ä'.localeCompare('z')",
        "'a'.localeCompare('b', 'de')",
        "'a'.localeCompare('b', undefined, { numeric: true })",
        "(1).toLocaleString('de-DE')",
        "(1).toLocaleString('en-US', { style: 'percent' })",
        "new Date(0).toLocaleString()",
        "new Date(0).toLocaleDateString('de-DE')",
        "new Date(0).toLocaleTimeString()",
        "'i'.toLocaleUpperCase('tr')",
        "new Intl.NumberFormat('de')",
        "[new Date(0)].toLocaleString()",
      ]) {
        const { message } = errorIn(await run(code));
        expect([code, message]).toEqual([code, expect.stringContaining("has no Intl")]);
        expect(message).toMatch(/as "process" where that is allowed\.$/);
      }
    });
  });
});
