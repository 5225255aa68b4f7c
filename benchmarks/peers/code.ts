import { wallTime, watch } from "../harness/timer";
import type { Outcome } from "./results";
import { type Candidate, type Room, type Task, timed } from "./room";

/** In milliseconds, and bytes. */
export const LIMITS = { timeout: 500, memory: 64_000_000 } as const;

export interface CodePeer {
  /** Runs the body of an async function; what it throws, or what ends it, is thrown. `logs`: entries that came with the value. */
  run(code: string): Promise<{ readonly value: unknown; readonly logs?: number }>;
  readonly call: string; // How code calls a tool that adds 1 to the `n` of its argument.
}

const candidates: readonly Candidate[] = [
  {
    name: "envoi",
    how: "the code actor of this repository as it is by default, `sandbox`, asked through its reference: QuickJS in pooled processes",
  },
  {
    name: "envoi, process",
    how: "the same in its tier `process`: JavaScriptCore, a process for each run, which the kernel keeps from the machine",
  },
  {
    name: "AI SDK",
    packages: ["@ai-sdk/code-mode"],
    how: "its `experimental_runCodeMode`, QuickJS in worker threads that it keeps; logs go to the process's own output",
  },
  {
    name: "pi",
    packages: ["@earendil-works/pi-codemode"],
    how: "its `CodemodeSandbox`, one for all runs; QuickJS in a worker thread of its own for each",
  },
  {
    name: "quickjs",
    packages: ["@sebastianwessel/quickjs", "@jitl/quickjs-ng-wasmfile-release-sync"],
    how: "its `runSandboxed` of a module loaded once, with a console and tools of the host; QuickJS on the caller's own thread",
  },
];

async function expectRun(peer: CodePeer, code: string, due: unknown, logged = 0): Promise<void> {
  const { value, logs = logged } = await peer.run(code);
  if (value !== due) throw new Error(`${String(value)} came of it, where ${String(due)} was due`);
  if (logs !== logged) throw new Error(`${logs} entries were logged, where ${logged} were`);
}

const runTrivial = (peer: CodePeer): Promise<void> => expectRun(peer, "return 6 * 7", 42);

const operation = (row: string, run: (peer: CodePeer) => Promise<void>): Task<CodePeer> =>
  timed({
    row,
    prepare: (peer) => async () => {
      await run(peer);
      return 1;
    },
  });

const calls = (row: string, count: number): Task<CodePeer> =>
  operation(row, async (peer) => {
    await expectRun(
      peer,
      `let n = 0; for (let i = 0; i < ${count}; i++) n = await ${peer.call}({ n }); return n`,
      count,
    );
  });

const cold: Task<CodePeer> = {
  name: "cold",
  heads: [{ table: "time", row: "cold start: loaded, opened, and a trivial run", unit: "ns" }],
  kind: "read",
  prepare: (peer, _root, opening) => async () => {
    const start = performance.now();
    await runTrivial(peer);
    return [[(opening + performance.now() - start) * 1e6]];
  },
};

export const attacks: Readonly<Record<string, string>> = {
  "an endless loop": "for (;;);",
  "one native string search that takes hours": 'return "a".repeat(4_000_000).indexOf("a".repeat(2_000_000) + "b")',
  "a regular expression that takes years": 'return /^(a+)+$/.test("a".repeat(60) + "b")',
  "microtasks without end": "for (;;) await null",
  "arrays without end": "const all = []; for (;;) all.push(new Array(1_000).fill(all.length))",
  "strings without end": 'const all = []; for (let i = 0; ; i++) all.push("x".repeat(1_000_000) + i)',
  "a gigabyte of logs":
    'const line = "x".repeat(1_000_000); for (let i = 0; i < 1_000; i++) console.log(line); return "logged"',
  "a value of 40 MB": 'return "x".repeat(40_000_000)',
};

const OVER = 10_000; // An attack that is not over by then is not waited for, in milliseconds.
const NOT_OVER = { says: `not in ${OVER / 1_000} s` };

const attack = (row: string, code: string): Task<CodePeer> => ({
  name: row,
  heads: [
    { table: "ended", row, unit: "ns" },
    { table: "gap", row, unit: "ns" },
  ],
  kind: "tried",
  prepare: (peer) => async () => {
    // One that can do nothing would be safe from anything; and what is loaded late is there.
    for (let i = 0; i < 3; i++) await runTrivial(peer);
    const start = wallTime();
    const after = () => ({ median: (wallTime() - start) * 1e6 });
    const run = () => peer.run(code).then(() => ({ ...after(), note: "with a value" }), after);
    const over = Bun.sleep(OVER).then(() => NOT_OVER);
    const { gap, played } = await watch<Outcome>(() => Promise.race([run(), over]), wallTime);
    return [played, { median: gap * 1e6 }];
  },
  // Its timer would have ended it by then, had it fired.
  late: { after: OVER + 2_000, readings: [NOT_OVER, { says: "all the time" }] },
});

export const code: Room<CodePeer> = {
  candidates,
  tasks: [
    operation("a trivial run", runTrivial),
    operation("a run that logs a line", (peer) => expectRun(peer, 'console.log("Hello"); return 6 * 7', 42, 1)),
    calls("a run that calls a tool", 1),
    calls("a run that calls a tool 10 times in a row", 10),
    cold,
    ...Object.entries(attacks).map(([row, code]) => attack(row, code)),
  ],
};
