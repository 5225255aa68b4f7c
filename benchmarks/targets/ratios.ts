import type { Target } from "../harness/target";

// How many times its floor each timed row may take.
//
// A limit is the larger of 1.15 times what was reached and the worst round of the results that are committed. Those over the bare mailbox
// are owed a quiet run: the mailbox became up to twice as quick after these results, so they are divided by what it gained (tells in a
// burst 0.5, ten at once 0.6, a hop 0.65, an ask 0.86), or are what minima on a busy machine showed, whichever is more.

type Limits = Readonly<Record<string, readonly [atMost: number, aim: number]>>;

const ratios = (suite: string, reason: string, limits: Limits): Target[] =>
  Object.entries(limits).map(([row, [atMost, aim]]) => ({ suite, row, figure: "ratio", atMost, aim, reason }));

const EXECUTIONS = [
  "simple arithmetic",
  "array operation",
  "string manipulation",
  "JSON processing",
  "loop, 100 iterations",
  "with console output",
  "10 concurrent executions",
];
const WITH_FILES = ["code, then file write", "file read, code, file write"];
const TIERS = ["sandbox", "process"];
const shared: Limits = Object.fromEntries(
  [...TIERS.flatMap((tier) => [...EXECUTIONS, ...WITH_FILES].map((row) => `${row}, ${tier}`)), ...WITH_FILES].map(
    (row) => [row, [1.11, 1.03]],
  ),
);

/** Rows whose baseline is the same work by hand: what is left is the actors' share. */
export const actorsShare: readonly Target[] = ratios("code", "the actors' share of the time is under 10 %", shared);

export const codeRatios: readonly Target[] = [
  ...actorsShare,
  ...ratios(
    "code",
    "the request checked, its program found, its value made JSON and back, beside an ask that does none of it",
    {
      "simple arithmetic": [3.3, 2],
      "array operation": [4.5, 3],
      "string manipulation": [6, 4],
      "JSON processing": [7.3, 4],
      "loop, 100 iterations": [4.1, 3],
      "with console output": [5.8, 4],
      "10 concurrent executions": [4.3, 3],
      "run of a compiled program": [3.9, 2.5],
      "an ask of a program actor": [5.1, 3],
      "an execution in a session": [29, 10],
    },
  ),
  ...ratios("code", "a program that was read before is found by its id", {
    "run of a compiled program, sandbox": [1.2, 1.03],
    "run of a compiled program, process": [1.4, 1.03],
  }),
  ...ratios("code", "a pool is worth it: 40 times as fast as a process started for each", {
    "an execution, sandbox, beside a process started for each": [0.025, 0.02],
  }),
  ...ratios("code", "a process of the tier is confined, and hears what to run", {
    "an execution, process, beside a process started for each": [2.5, 1.5],
  }),
];

/** Timed rows without a limit, by a part of their name, and why. */
export const withoutLimit: readonly { readonly suite: string; readonly row: RegExp; readonly why: string }[] = [
  { suite: "code", row: /, unique sources$/, why: "it has no floor: the row of the same source again has the limit" },
  {
    suite: "code",
    row: /(?:in a session|of a program actor), (?:sandbox|process)$|beside a line there and back$/,
    why: "its floor is a line to a process and back, which takes ten times as long in a round where the kernel moves it",
  },
];
