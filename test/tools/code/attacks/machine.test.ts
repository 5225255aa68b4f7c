import { expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { valueIn } from "../tiers";
import { type Arena, expectFate, inEachArena } from "./arena";

const NAMES = [
  "Bun process require module exports fetch Worker WebSocket Buffer EventSource XMLHttpRequest Request Response BroadcastChannel",
  "global self window ShadowRealm File Blob alert prompt navigator Deno std os print load scriptArgs __dirname __filename",
].flatMap((names) => names.split(" "));
/** Globals that `process` leaves to code, since they need nothing of the machine. */
const HARMLESS = "WebAssembly setImmediate performance".split(" ");

const SPECIFIERS = [
  ...[
    "fs",
    "node:fs",
    "node:fs/promises",
    "bun",
    "bun:ffi",
    "bun:sqlite",
    "bun:jsc",
    "std",
    "os",
    "node:os",
    "typebox",
  ],
  ...["/etc/passwd", "/etc/hostname", "/proc/self/environ", "./x.js", "../../../package.json", "file:///etc/passwd"],
  ...[
    "data:text/javascript,export default 1",
    "blob:x",
    "https://example.com/x.js",
    "http://127.0.0.1:1/x.js",
    "",
    "\0",
  ],
];
/** Modules that are a part of Bun, and code that code brings: `process` has them, and the kernel refuses what they would do. */
const PARTS = [
  "data:text/javascript,export default 1",
  "fs",
  "node:fs",
  "node:fs/promises",
  "bun",
  "bun:ffi",
  "bun:sqlite",
  "bun:jsc",
  "os",
  "node:os",
];

/** Each is tried, and reached where it gives anything. */
const WAYS: Readonly<Record<string, (arena: Arena) => string>> = {
  "read a file": () => "(await import('node:fs')).readFileSync('/etc/passwd', 'utf8')",
  "read a file later": () => "(await import('node:fs/promises')).readFile('/etc/passwd', 'utf8')",
  "read by Bun": () => "globalThis.Bun.file('/etc/passwd').text()",
  "read a file's bytes": () => "globalThis.Bun.file('/etc/passwd').bytes()",
  "open a file": () => "(await import('node:fs')).openSync('/etc/passwd')",
  "look whether a file is there": () => "(await import('node:fs')).statSync('/etc/passwd').size",
  "list a folder": () => "(await import('node:fs')).readdirSync('/')",
  "search for files": () => "new globalThis.Bun.Glob('*').scanSync('/').next().value",
  "write a file": ({ loot }) => `((await import('node:fs')).writeFileSync('${loot.place}/made', 'x'), 1)`,
  "write by Bun": ({ loot }) => `globalThis.Bun.write('${loot.place}/made', 'x')`,
  "make a folder": ({ loot }) => `((await import('node:fs')).mkdirSync('${loot.place}/made'), 1)`,
  "make a temporary folder": ({ loot }) => `(await import('node:fs')).mkdtempSync('${loot.place}/made')`,
  "make a link": ({ loot }) => `((await import('node:fs')).symlinkSync('/', '${loot.place}/made'), 1)`,
  "remove a file": ({ loot }) => `((await import('node:fs')).unlinkSync('${loot.file}'), 1)`,
  "change a file's rights": ({ loot }) => `((await import('node:fs')).chmodSync('${loot.file}', 0), 1)`,
  "map a file": () => "globalThis.Bun.mmap('/etc/passwd').length",
  "watch a file": () => "(await import('node:fs')).watch('/etc')",
  "open a database": ({ loot }) => `new (await import('bun:sqlite')).Database('${loot.place}/made')`,
  "read its own environment in /proc": () => "(await import('node:fs')).readFileSync('/proc/self/environ').length || 1",
  "read the host's environment in /proc": () =>
    `(await import('node:fs')).readFileSync('/proc/${process.pid}/environ')`,
  "read the host's memory in /proc": () => `(await import('node:fs')).openSync('/proc/${process.pid}/mem')`,
  "write to its own memory in /proc": () => "(await import('node:fs')).openSync('/proc/self/mem', 'r+')",
  "read its own command line in /proc": () =>
    "(await import('node:fs')).readFileSync('/proc/self/cmdline').length || 1",
  "go through /proc to the root": () => "(await import('node:fs')).readdirSync('/proc/self/root')",
  "read standard input": () => "(await import('node:fs')).readFileSync('/dev/stdin').length || 1",
  "start a process": () => "(await import('node:child_process')).execSync('true')",
  "start a process later": () =>
    "new Promise((done, fail) => import('node:child_process').then(({ spawn }) => spawn('true').on('exit', done).on('error', fail)))",
  "start a process by Bun": () => "globalThis.Bun.spawnSync(['true']).exitCode + 1",
  "start a shell": () => "globalThis.Bun.$`cat /etc/passwd`.text()",
  "start another Bun": () => "(await import('node:child_process')).fork('/tmp/x.js')",
  "start a thread with a file": () =>
    "new Promise((done, fail) => import('node:worker_threads').then(({ Worker }) => new Worker('/etc/hostname').on('message', done).on('error', fail)))",
  connect: ({ loot }) =>
    `new Promise((done, fail) => import('node:net').then(({ connect }) => connect(${loot.port}, '${loot.address}').on('connect', () => done(1)).on('error', fail)))`,
  "connect by Bun": ({ loot }) =>
    `globalThis.Bun.connect({ hostname: '${loot.address}', port: ${loot.port}, socket: { data() {} } })`,
  "connect to a socket of the machine": ({ loot }) =>
    `globalThis.Bun.connect({ unix: '${loot.socket}', socket: { data() {} } })`,
  listen: () => "globalThis.Bun.serve({ port: 0, fetch: () => new Response() }).port",
  "listen by Node's module": () =>
    "new Promise((done, fail) => import('node:net').then(({ createServer }) => createServer().on('error', fail).listen(0, () => done(1))))",
  "send a datagram": ({ loot }) =>
    `new Promise((done, fail) => import('node:dgram').then(({ createSocket }) => createSocket('udp4').on('error', fail).send('x', ${loot.port}, '${loot.address}', (e) => (e ? fail(e) : done(1)))))`,
  fetch: ({ loot }) =>
    `globalThis.Bun.fetch('http://${loot.address}:${loot.port}/', { signal: AbortSignal.timeout(100) })`,
  "fetch a file": () => "globalThis.Bun.fetch('file:///etc/passwd').then((r) => r.text())",
  "fetch by a socket of the web": ({ loot }) =>
    `new Promise((done, fail) => { const s = new (globalThis.Bun.WebSocket ?? globalThis.WebSocket)('ws://${loot.address}:${loot.port}/'); s.onopen = done; s.onerror = fail })`,
  "look up a name": () => "(await import('node:dns/promises')).lookup('localhost')",
  "open a library": () => "(await import('bun:ffi')).dlopen('libresolv.so.2', {})",
  "compile C": () =>
    "(await import('bun:ffi')).cc({ source: '/etc/passwd', symbols: { f: { args: [], returns: 'i32' } } })",
  "look at the host": () => `(await import('node:process')).kill(${process.pid}, 0)`,
  "kill the host": () => `(await import('node:process')).kill(${process.pid}, 'SIGKILL')`,
  "kill its parent": () => "((p) => p.kill(p.ppid, 'SIGKILL'))(await import('node:process'))",
  "stop the host": () => `(await import('node:process')).kill(${process.pid}, 'SIGSTOP')`,
  "reach all processes": () => "(await import('node:process')).kill(-1, 0)",
  "reach its group": () => "(await import('node:process')).kill(0, 0)",
  "change its folder": () => "((await import('node:process')).chdir('/tmp'), 1)",
  "be another user": () => "((await import('node:process')).setuid(65534), 1)",
  "be more important": () => "((await import('node:os')).setPriority(-10), 1)",
};

inEachArena("The machine", {}, (arena) => {
  const { run, isolation } = arena;

  test("none of its names is there", async () => {
    const names = isolation === "sandbox" ? [...NAMES, ...HARMLESS] : NAMES;
    const body = `return input.filter((name) => eval("typeof " + name) !== "undefined" || (name !== "Bun" && globalThis[name] !== undefined))`;
    expect(valueIn(await run(body, { input: names }))).toEqual([]);
  });

  test("import() of anything gives nothing, or a part of Bun", async () => {
    const body = `const got = []; for (const name of input) try { await import(name); got.push(name) } catch {} ; return got`;
    const got = valueIn(await run(body, { input: SPECIFIERS })) as string[];
    expect(got.filter((name) => isolation === "sandbox" || !PARTS.includes(name))).toEqual([]);
  });

  test("a declaration that imports or exports is no code", async () => {
    for (const body of [
      "import fs from 'fs'",
      "import 'fs'",
      "export const a = 1",
      "import.meta.url",
      "import.meta.require('fs')",
    ]) {
      const outcome = await arena.execute(body);
      expect([body, outcome.ok]).toEqual([body, false]);
    }
  });

  for (const [name, way] of Object.entries(WAYS)) {
    test(`it cannot ${name}`, async () => {
      const { place, file } = arena.loot;
      const there = () => [readdirSync(place).toSorted(), statSync(file).mode & 0o777];
      const before = there();
      const body = `const tried = async () => ${way(arena)}
        const late = new Promise((done) => globalThis.setTimeout ? setTimeout(done, 300) : done())
        try { return (await Promise.race([tried(), late])) ? "reached" : "nothing" } catch { return "refused" }`;
      const outcome = await run(body, { timeout: 10_000 });
      // Bun may give up altogether where it is refused what it takes for granted.
      if (outcome.ok) expect(outcome.value.value).not.toBe("reached");
      else expectFate(outcome, ["crashed", "runtime-error"]);
      expect(there()).toEqual(before);
    });
  }

  test("its environment is empty", async () => {
    const body = `try { return { ...(await import("node:process")).env } } catch { return {} }`;
    expect(valueIn(await run(body))).toEqual({});
  });
});
