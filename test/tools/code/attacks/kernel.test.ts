import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { until } from "../sandbox/kit";
import { valueIn } from "../tiers";
import { expectFate, inEachArena } from "./arena";
import { ATTEMPTS, RAW } from "./raw";

/** Code of `process` has Bun's own way to call the kernel, as code has that broke out of the engine. */
inEachArena("The kernel", {}, ({ run, isolation }) => {
  if (isolation === "sandbox") {
    test("is called by nothing that code has: what broke out of the interpreter is tried in ../sandbox/confine", async () => {
      expectFate(await run(`${RAW}\nreturn call(39)`), ["runtime-error"]);
    });
    return;
  }

  const raw = async (body: string, input?: unknown) =>
    valueIn(await run(`const host = ${process.pid}; ${RAW}\n${body}`, input === undefined ? {} : { input }));

  test("refuses all that is outside of the process", async () => {
    const tries = Object.entries(ATTEMPTS).map(([name, attempt]) => `[${JSON.stringify(name)}, () => ${attempt}]`);
    expect(await raw(`return [${tries}].filter(([, attempt]) => attempt() >= 0).map(([name]) => name)`)).toEqual([]);
  });

  test("gives no socket of any family", async () => {
    const body = `const made = []
      for (let family = 0; family < 50; family++) for (const kind of [1, 2, 3, 4, 5, 10]) if (call(41, family, kind, 0) >= 0) made.push([family, kind])
      return made`;
    expect(await raw(body)).toEqual([]);
  });

  test("takes none but the calls that a process needs for itself", async () => {
    // Each number, with arguments that do nothing, but for those that end the process, as 335 does anywhere, or hold it up.
    const body = `const known = new Set([0, 1, 3, 7, 9, 10, 11, 12, 13, 14, 15, 19, 20, 25, 35, 60, 202, 219, 230, 231, 232, 233, 271, 273, 281, 334, 335, 441])
      const done = []
      for (let number = 0; number < 480; number++) if (!known.has(number) && call(number, -1, 0, 0, -1, 0, 0) >= 0) done.push(number)
      return done`;
    // sched_yield, getpid, gettid.
    expect(await raw(body)).toEqual([24, 39, 186]);
  });

  test("has given it no descriptors but those of nothing, its channel, and what the engine waits by", async () => {
    const { links } = (await raw("return await tools.desk.look(call(39))")) as { links: string[] };
    expect(links.slice(0, 3)).toEqual(["0 /dev/null", "1 /dev/null", "2 /dev/null"]);
    expect(links[3]).toMatch(/^3 socket:/);
    for (const link of links.slice(4)) expect(link).toMatch(/ anon_inode:\[(eventpoll|eventfd|timerfd)\]$/);
  });

  test("holds it by Landlock, a filter and no capabilities, and says so", async () => {
    const { status } = (await raw("return await tools.desk.look(call(39))")) as { status: string };
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"])
      expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, "m"));
  });

  test("ends it in time where it ignores all signals, or stops itself", async () => {
    for (const body of [
      "for (let s = 1; s < 65; s++) call(13, s, room(32), 0, 8); for (;;);",
      "for (let s = 1; s < 65; s++) call(14, 0, new Uint8Array(8).fill(255), 0, 8); for (;;);",
      "(await import('node:process')).on('SIGTERM', () => {}).on('SIGINT', () => {}); for (;;);",
      "call(234, call(39), call(186), 19); for (;;);",
    ]) {
      expectFate(await run(`${RAW}\n${body}`, { timeout: 200 }), ["timeout"]);
    }
  });

  test("leaves no children, no threads and no timers of a run behind", async () => {
    for (const body of [
      "for (let i = 0; i < 50; i++) if (call(57) === 0) for (;;); return call(39)",
      "for (let i = 0; i < 50; i++) call(56, 17, 0); return call(39)",
      "const { spawn } = await import('node:child_process'); for (let i = 0; i < 5; i++) try { spawn('sleep', ['60'], { detached: true }).on('error', () => {}) } catch {}; return call(39)",
      "setInterval(() => {}, 1); setTimeout(() => { for (;;); }, 1); return call(39)",
      "for (let s = 1; s < 65; s++) call(13, s, room(32), 0, 8); setInterval(() => {}, 0); return call(39)",
    ]) {
      const pid = await raw(body);
      await until(() => !existsSync(`/proc/${pid}`));
    }
  });

  test("is not asked for threads without end", async () => {
    const body = `const whole = { pthread_create: { args: ["ptr", "ptr", "ptr", "ptr"], returns: "i32" }, pthread_attr_init: { args: ["ptr"], returns: "i32" } }
      const { symbols: c } = dlopen("libc.so.6", { ...whole, pthread_attr_setstacksize: { args: ["ptr", "u64"], returns: "i32" }, dlsym: { args: ["ptr", "ptr"], returns: "ptr" } })
      const small = room(64); c.pthread_attr_init(small); c.pthread_attr_setstacksize(small, 65536)
      const sleep = c.dlsym(0, new TextEncoder().encode("sleep\\0"))
      let count = 0
      while (count < input && c.pthread_create(room(8), small, sleep, 1000000) === 0) count++
      await new Promise((done) => setTimeout(done, 300)); return count`;
    expect(await raw(body, 20)).toBe(20);
    const outcome = await run(`${RAW}\n${body}`, { input: 400 });
    expectFate(outcome, ["crashed"]);
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining("threads") } });
  });
});
