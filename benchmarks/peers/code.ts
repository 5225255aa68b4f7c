import type { Candidate, Definition, TimedRow, Trial } from "./room";

/** The limits that each candidate is given, where it has them. */
export const LIMITS = {
  /** Milliseconds. */
  timeout: 500,
  /** Bytes. */
  memory: 64_000_000,
} as const;

/** What came of code. */
export interface Ran {
  readonly value: unknown;
  /** How many entries of its log came with it; undefined where they go elsewhere. */
  readonly logs?: number;
}

/** A tool that runs code, as its users call it. */
export interface CodePeer {
  /** Runs the body of an async function of `tools` and `console`; what it throws, or what ends it, is thrown. */
  run(code: string): Promise<Ran>;
  /** How code calls a tool that adds 1 to the `n` of its argument; left out where it has none. */
  readonly call?: string;
}

/** Each module in `subjects/code/` exports `open()`, which gives a `CodePeer` within `LIMITS`. */
const candidates: readonly Candidate[] = [
  {
    name: "envoi",
    module: "envoi.ts",
    packages: [],
    how: "the code actor of this repository as it is by default, `sandbox`, asked through its reference: QuickJS in pooled processes",
  },
  {
    name: "envoi, process",
    module: "envoi-process.ts",
    packages: [],
    how: "the same in its tier `process`: JavaScriptCore, a process for each run, which the kernel keeps from the machine",
  },
  {
    name: "AI SDK",
    module: "ai-sdk.ts",
    packages: ["@ai-sdk/code-mode"],
    how: "its `experimental_runCodeMode`, QuickJS in worker threads that it keeps; logs go to the process's own output",
  },
  {
    name: "pi",
    module: "pi.ts",
    packages: ["@earendil-works/pi-codemode"],
    how: "its `CodemodeSandbox`, one for all runs; QuickJS in a worker thread of its own for each",
  },
  {
    name: "quickjs",
    module: "quickjs.ts",
    packages: ["@sebastianwessel/quickjs", "@jitl/quickjs-ng-wasmfile-release-sync"],
    how: "its `runSandboxed` of a module loaded once, with a console and tools of the host; QuickJS on the caller's own thread",
  },
];

const TRIVIAL = "return 6 * 7";

/** Runs the least that there is. */
async function runTrivial(peer: CodePeer): Promise<void> {
  expectValue(await peer.run(TRIVIAL), 42);
}

function expectValue({ value }: Ran, due: unknown): void {
  if (value !== due) throw new Error(`${String(value)} came of it, where ${String(due)} was due`);
}

/** What is measured of each candidate. */
interface Operation extends Pick<TimedRow<CodePeer>, "row" | "isOf"> {
  /** Does it once, and throws unless it was done. */
  readonly run: (peer: CodePeer) => Promise<void>;
}

const calls = (count: number): Operation => ({
  row: count === 1 ? "a run that calls a tool" : `a run that calls a tool ${count} times in a row`,
  isOf: (peer) => peer.call !== undefined,
  run: async (peer) => {
    const code = `let n = 0; for (let i = 0; i < ${count}; i++) n = await ${peer.call}({ n }); return n`;
    expectValue(await peer.run(code), count);
  },
});

const operations: readonly Operation[] = [
  { row: "a trivial run", run: runTrivial },
  {
    row: "a run that logs a line",
    run: async (peer) => {
      const ran = await peer.run('console.log("Hello"); return 6 * 7');
      expectValue(ran, 42);
      if (ran.logs !== undefined && ran.logs !== 1) throw new Error(`${ran.logs} entries were logged, where 1 was`);
    },
  },
  calls(1),
  calls(10),
];

/** Code that is not meant to end, or to end well. */
export interface Attack {
  readonly name: string;
  readonly code: string;
}

export const attacks: readonly Attack[] = [
  { name: "an endless loop", code: "for (;;);" },
  {
    name: "one native string search that takes hours",
    code: 'return "a".repeat(4_000_000).indexOf("a".repeat(2_000_000) + "b")',
  },
  { name: "a regular expression that takes years", code: 'return /^(a+)+$/.test("a".repeat(60) + "b")' },
  { name: "microtasks without end", code: "for (;;) await null" },
  { name: "arrays without end", code: "const all = []; for (;;) all.push(new Array(1_000).fill(all.length))" },
  { name: "strings without end", code: 'const all = []; for (let i = 0; ; i++) all.push("x".repeat(1_000_000) + i)' },
  {
    name: "a gigabyte of logs",
    code: 'const line = "x".repeat(1_000_000); for (let i = 0; i < 1_000; i++) console.log(line); return "logged"',
  },
  { name: "a value of 40 MB", code: 'return "x".repeat(40_000_000)' },
];

/** Between two ticks of the timer, in milliseconds. */
const TICK = 5;
/** Between two words to the parent, in milliseconds. */
const BEAT = 100;

/** Runs code that is not meant to end, beside a timer; and then the least that there is. */
const attack: Trial<CodePeer> = async (peer, { argument, tell }) => {
  const code = attacks.find(({ name }) => name === argument)?.code ?? "";
  // One that can do nothing would be safe from anything; and what is loaded late is there.
  for (let i = 0; i < 3; i++) await runTrivial(peer);
  tell({ kind: "started" });
  const start = performance.now();
  let last = start;
  let told = start;
  let gap = 0;
  const look = (): void => {
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
    if (now - told > BEAT) {
      told = now;
      tell({ kind: "beat", gap });
    }
  };
  const timer = setInterval(look, TICK);
  let words = "with a value";
  try {
    await peer.run(code);
  } catch {
    words = "";
  }
  const after = performance.now() - start;
  look();
  clearInterval(timer);
  tell({ kind: "ended", readings: { after, gap }, words });
  const again = performance.now();
  await runTrivial(peer);
  tell({ kind: "read", readings: { after: performance.now() - again } });
};

/** Tools that run code beside each other. */
export const code: Definition<CodePeer> = {
  room: "code",
  candidates,
  timed: operations.map(({ run, ...row }) => ({
    ...row,
    prepare: (peer) => async () => {
      await run(peer);
      return 1;
    },
  })),
  readings: [
    {
      name: "cold",
      rows: [{ row: "cold start: loaded, opened, and a trivial run", unit: "ns", isMoreBetter: false, figure: "time" }],
      async read(peer, begun) {
        await runTrivial(peer);
        return { time: (performance.now() - begun) * 1e6 };
      },
    },
  ],
  trials: { attack },
};
