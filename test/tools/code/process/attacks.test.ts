import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { systemClock } from "../../../../src/index";
import { ProcessPool } from "../../../../src/tools/code/pool/process-pool";
import type { LogEntry, Run } from "../../../../src/tools/code/tier";
import { runOf } from "../sandbox/kit";
import { isOffered, processes, WORKER } from "./kit";
import { ATTEMPTS, RAW } from "./raw";

const { tier, run, value } = processes({ size: 2 });
afterAll(() => tier.dispose());

const host = process.pid;
const MB = 1024 * 1024;
const raw = (body: string, options: Partial<Run> = {}) => value(`const host = ${host}; ${RAW}\n${body}`, options);
const runRaw = (body: string, options: Partial<Run> = {}) => run(`const host = ${host}; ${RAW}\n${body}`, options);

describe.if(isOffered)("Process: code that calls the kernel itself", () => {
  test("is refused all that is outside its process", async () => {
    const tries = Object.entries(ATTEMPTS).map(([name, attempt]) => `[${JSON.stringify(name)}, () => ${attempt}]`);
    const done = await raw(
      `console.log(call(39)); return [${tries}].filter(([, attempt]) => attempt() >= 0).map(([name]) => name)`,
    );
    expect(done).toEqual([]);
  });

  test("makes no socket of any family", async () => {
    const body = `const made = []
      for (let family = 0; family < 50; family++) for (const kind of [1, 2, 3, 4, 5, 10]) if (call(41, family, kind, 0) >= 0) made.push([family, kind])
      return made`;
    expect(await raw(body)).toEqual([]);
  });

  test("finds none but the calls that a process needs for itself", async () => {
    // Each number, with arguments that do nothing, but for those that end the process, as 335 does anywhere, or hold it up.
    const body = `const known = new Set([0, 1, 3, 7, 9, 10, 11, 12, 13, 14, 15, 19, 20, 25, 35, 60, 202, 219, 230, 231, 232, 233, 271, 273, 281, 334, 335, 441])
      const done = []
      for (let number = 0; number < 480; number++) if (!known.has(number) && call(number, -1, 0, 0, -1, 0, 0) >= 0) done.push(number)
      return done`;
    // sched_yield, getpid, gettid, and what tells of a limit or a mask and changes none.
    expect(await raw(body)).toEqual([24, 39, 186]);
  });

  test("has no descriptors but those of nothing, its channel, and what the engine waits by", async () => {
    let pid = 0;
    let links: string[] = [];
    const calls = {
      tools: '{"x":{"y":"ask"}}',
      call: async () => {
        links = readdirSync(`/proc/${pid}/fd`).map((fd) => `${fd} ${readlinkSync(`/proc/${pid}/fd/${fd}`)}`);
        return '{"ok":true}';
      },
    };
    const onLog = ({ text }: LogEntry): void => {
      pid = Number(text);
    };
    await raw("console.log(call(39)); await tools.x.y()", { calls, onLog });
    expect(links.slice(0, 3)).toEqual(["0 /dev/null", "1 /dev/null", "2 /dev/null"]);
    expect(links[3]).toMatch(/^3 socket:/);
    for (const link of links.slice(4)) expect(link).toMatch(/ anon_inode:\[(eventpoll|eventfd|timerfd)\]$/);
  });

  test("lives under Landlock, a filter and no capabilities, and is told to be so", async () => {
    let status = "";
    const calls = { tools: '{"x":{"y":"ask"}}', call: async () => '{"ok":true}' };
    const onLog = ({ text }: LogEntry): void => {
      status = readFileSync(`/proc/${text}/status`, "utf8");
    };
    await raw("console.log(call(39)); await tools.x.y()", { calls, onLog });
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"])
      expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, "m"));
  });

  test("harms its own run only, whatever it writes to the channel", async () => {
    const line = (text: string) =>
      `const bytes = new TextEncoder().encode(${JSON.stringify(text)}); call(1, 3, bytes, bytes.length); await new Promise(() => {})`;
    const end = (number: number) => `${JSON.stringify(["end", number, { kind: "value", value: '"forged"' }])}\n`;
    for (const text of [
      end(0),
      end(7),
      end(2 ** 47),
      '["ready",[]]\n',
      "nonsense\n",
      '["answer",1,"",0]\n',
      "\n",
      '["call",1,"{}"]\n',
      '["unavailable","x"]\n',
    ]) {
      const [ended, other] = await Promise.all([runRaw(line(text), { timeout: 5_000 }), run("return 'own'")]);
      expect([text, ended.kind]).toEqual([text, "crashed"]);
      expect(other).toMatchObject({ kind: "value", value: '"own"' });
    }
    const flood = "const bytes = new Uint8Array(1e5).fill(65); for (;;) call(1, 3, bytes, bytes.length)";
    expect((await runRaw(flood, { maxOutput: 1_000 })).kind).not.toBe("value");
  });

  test("ends its run by ending, closing its channel or stopping itself", async () => {
    for (const [body, kind] of [
      ["call(3, 3); await new Promise(() => {})", "crashed"],
      ["call(231, 0)", "crashed"],
      ["call(234, call(39), call(186), 9)", "crashed"],
      ["(await import('node:process')).exit(0)", "crashed"],
      ["(await import('node:process')).abort()", "crashed"],
      ["(await import('node:process')).kill((await import('node:process')).pid, 'SIGKILL')", "runtime-error"],
      ["new DataView((await import('bun:ffi')).toArrayBuffer(8, 0, 8)).setInt8(0, 1)", "crashed"],
      ["call(234, call(39), call(186), 19); for (;;);", "timeout"],
      ["for (let s = 1; s < 65; s++) call(13, s, room(32), 0, 8); for (;;);", "timeout"],
    ] as const) {
      const ended = await runRaw(body, { timeout: 400 });
      expect([body, ended.kind]).toEqual([body, kind]);
    }
    expect(await value("return 1")).toBe(1);
  });

  test("is ended where it starts threads without end", async () => {
    const body = `const whole = { pthread_create: { args: ["ptr", "ptr", "ptr", "ptr"], returns: "i32" }, pthread_attr_init: { args: ["ptr"], returns: "i32" } }
      const { symbols: c } = dlopen("libc.so.6", { ...whole, pthread_attr_setstacksize: { args: ["ptr", "u64"], returns: "i32" }, dlsym: { args: ["ptr", "ptr"], returns: "ptr" } })
      const small = room(64); c.pthread_attr_init(small); c.pthread_attr_setstacksize(small, 65536)
      const sleep = c.dlsym(0, new TextEncoder().encode("sleep\\0"))
      let count = 0
      while (count < input && c.pthread_create(room(8), small, sleep, 1000000) === 0) count++
      await new Promise((done) => setTimeout(done, 300)); return count`;
    expect(await raw(body, { input: "20" })).toBe(20);
    expect(await runRaw(body, { input: "400" })).toMatchObject({
      kind: "crashed",
      message: expect.stringContaining("threads"),
    });
  });
});

describe.if(isOffered)("Process: code that uses what Bun has", () => {
  test("sees none of it by name", async () => {
    const names =
      "Bun process require module exports fetch Worker WebSocket Buffer EventSource XMLHttpRequest Request Response BroadcastChannel global self ShadowRealm File Blob alert prompt".split(
        " ",
      );
    const body = `return ${JSON.stringify(names)}.filter((name) => eval("typeof " + name) !== "undefined" || (name !== "Bun" && globalThis[name] !== undefined))`;
    expect(await value(body)).toEqual([]);
  });

  test("reaches no file, process or network by its modules", async () => {
    const ways = {
      "read a file": "(await import('node:fs')).readFileSync('/etc/passwd', 'utf8')",
      "read a file later": "(await import('node:fs/promises')).readFile('/etc/passwd', 'utf8')",
      "read by Bun": "globalThis.Bun.file('/etc/passwd').text()",
      "list a folder": "(await import('node:fs')).readdirSync('/')",
      "write a file": "(await import('node:fs')).writeFileSync('/tmp/made-by-code', 'x')",
      "write by Bun": "globalThis.Bun.write('/tmp/made-by-code', 'x')",
      "map a file": "globalThis.Bun.mmap('/etc/passwd').length",
      "start a process": "(await import('node:child_process')).execSync('true')",
      "start a process by Bun": "globalThis.Bun.spawnSync(['true']).exitCode",
      connect: `new Promise((done, fail) => import('node:net').then(({ connect }) => connect(${1}, '127.0.0.1').on('connect', done).on('error', fail)))`,
      listen: "globalThis.Bun.serve({ port: 0, fetch: () => new Response() }).port",
      fetch: "globalThis.Bun.fetch('http://127.0.0.1:1/').then((r) => r.status)",
      "look up a name": "(await import('node:dns/promises')).lookup('localhost')",
      "open a database": "new (await import('bun:sqlite')).Database('/tmp/made-by-code')",
      "import a file": "import('/etc/hostname')",
      "import a module": "import('/tmp/x.ts')",
      "import a package": "import('typebox')",
      "import from afar": "import('https://example.com/x.js')",
      "open a library": "(await import('bun:ffi')).dlopen('libresolv.so.2', {})",
      "compile C":
        "(await import('bun:ffi')).cc({ source: '/etc/passwd', symbols: { f: { args: [], returns: 'i32' } } })",
      "start a thread with a file":
        "new Promise((done, fail) => import('node:worker_threads').then(({ Worker }) => new Worker('/tmp/x.js').on('message', done).on('error', fail)))",
      "signal the host": `(await import('node:process')).kill(${host}, 0)`,
      "change its folder": "(await import('node:process')).chdir('/tmp')",
    };
    for (const [name, way] of Object.entries(ways)) {
      const ended = await run(`await (async () => ${way})(); return "reached"`, { timeout: 1_000 });
      expect([name, ended.kind === "value" && ended.value]).toEqual([name, false]);
    }
  });

  test("finds an empty environment", async () => {
    expect(await value("return { ...(await import('node:process')).env }")).toEqual({});
  });

  test("is given no other's result by what it does to the language", async () => {
    const body = `JSON.stringify = JSON.parse = () => '"forged"'; Promise.prototype.then = (f) => f("forged"); Array.prototype.toJSON = () => "forged"
      Object.defineProperty(Object.prototype, "toJSON", { value: () => "forged" })
      Map.prototype.get = () => {}; Uint8Array.prototype.indexOf = () => 0; TextEncoder.prototype.encodeInto = () => ({ written: 0 })
      console.log("said"); return "own"`;
    expect(await run(body)).toMatchObject({ kind: "value", value: '"own"', logs: [{ text: "said" }] });
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe.if(isOffered)("Process: memory", () => {
  for (const [what, body] of [
    ["strings", "const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(1e5) + i)"],
    ["arrays", "const a = []; for (;;) a.push([1, 2, 3])"],
    ["one array", "return new Array(1e8).fill(0).length"],
    ["buffers", "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))"],
    ["one buffer", "return new ArrayBuffer(20e9).byteLength"],
    ["maps", "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })"],
    [
      "WebAssembly",
      "const a = []; for (;;) { const m = new WebAssembly.Memory({ initial: 1000 }); new Uint8Array(m.buffer).fill(1); a.push(m) }",
    ],
    ["what it catches", "const a = []; for (;;) try { a.push(new Uint8Array(1e7).fill(1)) } catch {}"],
    [
      "waiting",
      "const a = []; for (;;) { a.push(new Uint8Array(1e6).fill(1)); await new Promise((done) => setImmediate(done)) }",
    ],
  ] as const) {
    test(`of ${what} ends`, async () => {
      const ended = await run(body, { memory: 64 * MB, timeout: 20_000 });
      expect(ended.kind).toBe("out-of-memory");
      expect(await value("return 1")).toBe(1);
    });
  }

  test("is as much as the run may have", async () => {
    const body =
      "const a = []; for (let i = 0; i < input; i++) a.push(new Uint8Array(1e6).fill(1)); await new Promise((done) => setTimeout(done, 60)); return a.length";
    expect(await value(body, { input: "300", memory: 512 * MB })).toBe(300);
    expect((await run(body, { input: "100", memory: 64 * MB })).kind).toBe("out-of-memory");
  });
});

test.if(isOffered)(
  "Process: memory has a bound from within, too, for what comes between two looks of the host",
  async () => {
    const pool = new ProcessPool({
      size: 1,
      maxWaiting: 9,
      clock: systemClock,
      isolation: "process",
      remedy: "",
      program: WORKER,
    });
    for (const body of [
      "const a = []; for (let i = 0; i < 2_500; i++) a.push(new Uint8Array(1e6).fill(1)); return a.length",
      "return new ArrayBuffer(2e9).byteLength",
      "const a = []; try { for (let i = 0; i < 40; i++) a.push(new WebAssembly.Memory({ initial: 16_000 })) } catch {} ; throw new RangeError(a.length < 40 ? 'Out of memory' : 'no bound')",
    ]) {
      const ended = await pool.run(runOf(body, { memory: 64 * MB }));
      // The engine tells, or breaks off.
      expect([body, ["out-of-memory", "crashed"].includes(ended.kind)]).toEqual([body, true]);
    }
    await pool.dispose();
  },
);

test.if(isOffered)("Process: the host's timers tick while code loops, allocates and floods", async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  await Promise.all([
    run("for (;;);", { timeout: 150 }),
    run("const a = []; for (;;) a.push([1, 2, 3])", { timeout: 2_000 }),
    run("for (;;) console.log('x'.repeat(100))"),
  ]);
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(10);
});
