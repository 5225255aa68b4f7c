import type { CodePeer, Ran } from "./peer";

/** What is measured of each candidate. */
export interface Operation {
  readonly row: string;
  /** Whether a candidate has it; all of them unless this says otherwise. */
  readonly isOf?: (peer: CodePeer) => boolean;
  /** Does it once, and throws unless it was done. */
  readonly run: (peer: CodePeer) => Promise<void>;
}

export const TRIVIAL = "return 6 * 7";

/** Runs the least that there is. */
export async function runTrivial(peer: CodePeer): Promise<void> {
  expectValue(await peer.run(TRIVIAL), 42);
}

function expectValue({ value }: Ran, due: unknown): void {
  if (value !== due) throw new Error(`${String(value)} came of it, where ${String(due)} was due`);
}

const calls = (count: number): Operation => ({
  row: count === 1 ? "a run that calls a tool" : `a run that calls a tool ${count} times in a row`,
  isOf: (peer) => peer.call !== undefined,
  run: async (peer) => {
    const code = `let n = 0; for (let i = 0; i < ${count}; i++) n = await ${peer.call}({ n }); return n`;
    expectValue(await peer.run(code), count);
  },
});

export const operations: readonly Operation[] = [
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

export const COLD_START = "cold start: loaded, opened, and a trivial run";

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
