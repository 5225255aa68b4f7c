import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { systemClock } from "../../src/runtime/clock";

const root = join(import.meta.dir, "../../src");

/** Each place of the source that names what a pattern matches, comments left out. */
async function placesOf(pattern: RegExp): Promise<string[]> {
  const files = await Array.fromAsync(new Bun.Glob("**/*.ts").scan(root));
  const found = await Promise.all(
    files.map(async (file) => {
      const code = (await Bun.file(join(root, file)).text()).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
      return pattern.test(code) ? [file] : [];
    }),
  );
  return found.flat().sort();
}

/** What runs in browsers, and has no system. */
const CLIENT = ["http/client/socket-calls.ts", "http/client/socket-link.ts"];

describe("P15: in all of the source,", () => {
  test("the wall clock is read in one place", async () => {
    expect(await placesOf(/\bDate\.now\b|\bnew Date\(\)/)).toEqual([
      "message/message.ts",
      "tools/code/sandbox/answers.ts", // The clock of a run, in a process of its own: a request may set it.
      "tools/code/sandbox/prelude.ts", // As the code there finds it.
    ]);
  });

  test("the running time is read by the system clock alone, and by processes in which no system is", async () => {
    expect(await placesOf(/\bperformance\b|\bhrtime\b|\bBun\.nanoseconds\b/)).toEqual([
      "runtime/clock.ts",
      "tools/code/process/globals.ts", // The name of what code finds there.
      "tools/code/process/process-worker.ts", // For the code that runs there.
      "tools/code/process/runner.ts",
      "tools/code/sandbox/answers.ts", // For the timers of a run, in a process of its own.
      "tools/code/sandbox/interpreter.ts", // No system is there; the one that waits for it has its own clock, and kills.
      "tools/code/sandbox/port.ts", // For how long it looks for an order; nothing that a system sees.
    ]);
  });

  test("timers are set by the system clock alone", async () => {
    expect(await placesOf(/\bsetTimeout\b|\bsetInterval\b|\bAbortSignal\.timeout\b|\bBun\.sleep/)).toEqual([
      "http/client/settings.ts", // The clock of a client, which has no system; another one may be given.
      "http/inspector/page/connection.ts", // In a browser.
      "http/inspector/page/main.ts", // There, too.
      "runtime/clock.ts",
      "tools/code/process/globals.ts", // The names of what code finds there.
      "tools/code/process/process-worker.ts", // In a process of its own.
      "tools/code/sandbox/port.ts", // There, too.
      "tools/code/sandbox/surroundings.ts", // The names of what code finds there.
    ]);
  });

  test("turns are taken by the system clock, and by the manual one that waits for the real loop", async () => {
    const clocks = ["runtime/clock.ts", "testing/manual-clock.ts"];
    const names = ["tools/code/process/globals.ts"]; // Of what code finds there, in a process of its own.
    const turns = [...clocks, ...names, "tools/code/process/runner.ts"].sort();
    expect(await placesOf(/\bsetImmediate\b/)).toEqual(turns);
    expect(await placesOf(/\bqueueMicrotask\b|\bprocess\.nextTick\b/)).toEqual(
      [...clocks, ...names, ...CLIENT, "tools/code/sandbox/surroundings.ts"].sort(),
    );
  });
});

describe("the system clock", () => {
  test("never goes back, and fires a timer after its delay", async () => {
    const start = systemClock.monotonicTime();
    await new Promise<void>((resolve) => systemClock.setTimer(resolve, 1));
    expect(systemClock.monotonicTime()).toBeGreaterThan(start);
  });

  test("does not fire a timer that was cancelled", async () => {
    let fired = "";
    systemClock.setTimer(() => (fired += "cancelled"), 1).cancel();
    await new Promise<void>((resolve) =>
      systemClock.setTimer(() => {
        fired += "kept";
        resolve();
      }, 1),
    );
    expect(fired).toBe("kept");
  });

  test("does not fire a timer at once whose delay is beyond 2^31 ms, where setTimeout would", async () => {
    let isFired = false;
    const timer = systemClock.setTimer(() => {
      isFired = true;
    }, 2 ** 31);
    await new Promise<void>((resolve) => systemClock.setTimer(resolve, 1));
    timer.cancel();
    expect(isFired).toBe(false);
  });

  test("runs microtasks before macrotasks, and neither on the caller's stack", async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      systemClock.macrotask(() => {
        order.push("macrotask");
        resolve();
      });
      systemClock.microtask(() => {
        order.push("microtask");
        systemClock.microtask(() => order.push("its microtask"));
      });
      order.push("caller");
    });
    expect(order).toEqual(["caller", "microtask", "its microtask", "macrotask"]);
  });

  test("lets the process end while a timer waits that was told to", async () => {
    const script = `
      import { systemClock } from ${JSON.stringify(join(root, "runtime/clock"))};
      systemClock.setTimer(() => console.log("fired"), 3_600_000).unref();`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
    expect(await new Response(child.stdout).text()).toBe("");
    expect(await child.exited).toBe(0);
  });
});
