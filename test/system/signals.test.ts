import { expect, test } from "bun:test";
import { createSystem } from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const LIMIT = 20_000;

/** Starts a program; sends it a signal whenever it writes a certain line. */
async function run(mode: string, signals: Record<string, NodeJS.Signals>) {
  return follow([process.execPath, `${import.meta.dir}/programs/bound.ts`, mode], signals);
}

async function follow(command: string[], signals: Record<string, NodeJS.Signals>) {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const errors = new Response(child.stderr).text();
  const lines: string[] = [];
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of child.stdout) {
    rest += decoder.decode(chunk, { stream: true });
    const complete = rest.split("\n");
    rest = complete.pop() ?? "";
    for (const line of complete) {
      lines.push(line);
      const signal = signals[line];
      if (signal !== undefined) child.kill(signal);
    }
  }
  await child.exited;
  return { lines, signal: child.signalCode, exitCode: child.exitCode, errors: await errors };
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(
    `P13: ${signal} shuts down, and the process ends by that signal once onStop has run`,
    async () => {
      expect(await run("one", { ready: signal })).toMatchObject({
        lines: ["ready", "0 stopping", "0 stopped"],
        signal,
        errors: "",
      });
    },
    LIMIT,
  );
}

const container = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc"];
const canContain = Bun.which("unshare") !== null && Bun.spawnSync([...container, "true"]).success;

test.skipIf(!canContain)(
  "P13: the first process of a container, which no signal ends by itself, exits with the status of the signal",
  async () => {
    // The process tells itself, because nobody outside of its container knows its number.
    const program = `${import.meta.dir}/programs/bound.ts`;
    const result = await follow([...container, process.execPath, program, "first"], {});
    expect(result).toMatchObject({ lines: ["ready", "0 stopping", "0 stopped"], exitCode: 143 });
  },
  LIMIT,
);

test(
  "P13: a second signal ends the process at once",
  async () => {
    const result = await run("stuck", { ready: "SIGINT", "0 stopping": "SIGTERM" });
    // Nothing is said, because nothing has come to an end: neither the hook nor the shutdown.
    expect(result).toMatchObject({ lines: ["ready", "0 stopping"], signal: "SIGTERM", errors: "" });
  },
  LIMIT,
);

test(
  "P13: two systems that are bound both shut down before the process ends",
  async () => {
    const result = await run("two", { ready: "SIGTERM" });
    expect(result.lines.toSorted()).toEqual(["0 stopped", "0 stopping", "1 stopped", "1 stopping", "ready"]);
    expect(result.signal).toBe("SIGTERM");
  },
  LIMIT,
);

test(
  "P13: onSignal is awaited before the actors stop, onShutdown after; one that fails is logged, and the shutdown goes on",
  async () => {
    const result = await run("hooks", { ready: "SIGTERM" });
    const order = ["ready", "onSignal SIGTERM", "0 stopping", "0 stopped", "onShutdown SIGTERM"];
    expect(result).toMatchObject({ lines: order, signal: "SIGTERM" });
    expect(result.errors).toContain("system 0: onSignal threw: Error: an onSignal that fails");
  },
  LIMIT,
);

test.each(["onSignal", "onShutdown"])("P13: an %s that is no function is refused when it is bound", (name) => {
  const { system } = createTestSystem();
  const before = process.listenerCount("SIGINT");
  expect(() => system.shutdownOnSignals({ [name]: "drain" })).toThrow(
    `${name} is a function to call around the shutdown`,
  );
  expect(process.listenerCount("SIGINT")).toBe(before);
});

test(
  "P13: what shutdownOnSignals returned ends it: the signal does what it would",
  async () => {
    expect(await run("unbound", { ready: "SIGINT" })).toMatchObject({ lines: ["ready"], signal: "SIGINT" });
  },
  LIMIT,
);

test(
  "P13: a process whose system is bound exits by itself all the same",
  async () => {
    expect(await run("idle", {})).toMatchObject({ lines: ["idle"], exitCode: 0 });
  },
  LIMIT,
);

test("P13: a shutdown, an unbinding and a second binding take the listeners off", async () => {
  const count = (): number => process.listenerCount("SIGINT") + process.listenerCount("SIGUSR2");
  const before = count();
  const { system } = createTestSystem();
  const unbind = system.shutdownOnSignals({ signals: ["SIGINT", "SIGUSR2"] });
  expect(count()).toBe(before + 2);
  system.shutdownOnSignals({ signals: ["SIGUSR2"] });
  expect(count()).toBe(before + 1);
  unbind();
  expect(count()).toBe(before + 1);
  await system.shutdown();
  expect(count()).toBe(before);
  const other = createSystem();
  other.shutdownOnSignals()();
  expect(count()).toBe(before);
});

test.each([
  ["SIGINT", /signals is an array of names/],
  [null, /signals is an array of names/],
  [[2], /signals is an array of names/],
  [["SIGTERM", "SIGKILL"], /No process can catch SIGKILL; leave it out of signals/],
  [["SIGSTOP"], /No process can catch SIGSTOP; leave it out of signals/],
])("P13: signals that cannot be caught are refused when they are bound: %p", (signals, sentence) => {
  const { system } = createTestSystem();
  const before = process.listenerCount("SIGTERM");
  // What the compiler may refuse too.
  expect(() => system.shutdownOnSignals({ signals: signals as NodeJS.Signals[] })).toThrow(sentence);
  expect(process.listenerCount("SIGTERM")).toBe(before);
});

test("P13: a timeout that cannot be one is refused when it is bound, not when the signal comes", () => {
  const { system } = createTestSystem();
  const before = process.listenerCount("SIGINT");
  expect(() => system.shutdownOnSignals({ timeout: -1 })).toThrow(/timeout of shutdown is a number of milliseconds/);
  expect(process.listenerCount("SIGINT")).toBe(before);
});
