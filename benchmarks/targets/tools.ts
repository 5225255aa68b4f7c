import { GAP } from "../harness/gap";
import type { Target } from "../harness/target";

// What the tools must reach: their files, their code, and the event loop beside them.

type Limit = readonly [row: string, atMost: number, aim: number, reason: string];

const atMost = ([row, most, aim, reason]: Limit): Target => ({
  suite: "files",
  row,
  figure: "ratio",
  atMost: most,
  aim,
  reason,
});

const READ = "a read is a message there and back, the path checked, the file's kind looked at, and an etag";
const IN_PLACE = "a write is a message, a lock that other processes heed, and the etag of what was written";
const WHOLE = "the file system does the most of it; the actor adds the lock, and a look at what is replaced";

const limits: readonly Limit[] = [
  ["read 100 B", 2, 1.6, READ],
  ["read 10 KB", 2, 1.6, READ],
  ["write 100 B in place", 2, 1.5, IN_PLACE],
  ["write 10 KB in place", 2, 1.5, IN_PLACE],
  ["write 100 KB in place", 2, 1.5, IN_PLACE],
  ["write 100 B", 1.3, 1.15, WHOLE],
  ["write 10 KB", 1.3, 1.15, WHOLE],
  ["write 100 KB", 1.3, 1.15, WHOLE],
  ["list of 1,000 entries", 1.5, 1, "the names come in the same calls, and are sorted and checked"],
  ["read of a large file, 32 MB", 1.11, 1, "90 % of a bare loop's throughput, with back-pressure"],
  ["copy of a large file, 32 MB", 1.11, 0.8, "90 % of a bare loop's throughput, whole or not at all"],
];

export const onDiskAndTmpfs: readonly Target[] = limits.flatMap(([row, ...limit]) => [
  atMost([row, ...limit]),
  atMost([`${row}, tmpfs`, ...limit]),
]);

const TIMERS = [
  "5 ms timer while a file of 1 GB is read, for 200 ms or to its end",
  "5 ms timer while 10,000 entries are listed for 200 ms",
];

export const files: readonly Target[] = [
  {
    suite: "files",
    row: "a read of 100 B without its system calls",
    figure: "own share by router",
    atMost: 1_500,
    aim: 1_000,
    reason: "a message there and back, the path checked, the text and its etag made",
  },
  {
    suite: "files",
    row: "search of 2,000 files of 2 KB for a text that is in 20",
    figure: "time",
    atMost: 20,
    aim: 15,
    reason: "as fast as those that start ripgrep, in milliseconds",
  },
  {
    suite: "files",
    row: "search of 2,000 files of 2 KB for a text that is in 20",
    figure: "gap",
    atMost: 8,
    aim: 2,
    reason: "large work goes in pieces (P5)",
  },
  ...TIMERS.flatMap((row): Target[] => [
    { suite: "files", row, figure: "ticks", atLeast: 38, aim: 40, reason: "large work starves no timers (P5)" },
    { suite: "files", row, figure: "gap", atMost: 8, aim: 8, reason: "large work goes in pieces (P5)" },
  ]),
];

const code = (row: string, figure: string, limit: number, aim: number, reason: string): Target => ({
  suite: "code",
  row,
  figure,
  atMost: limit,
  aim,
  reason,
});

const EXECUTIONS = [
  "simple arithmetic",
  "array operation",
  "string manipulation",
  "JSON processing",
  "loop, 100 iterations",
  "with console output",
  "10 concurrent executions",
  "code, then file write",
  "file read, code, file write",
];

const SHARE = "the actors' share of the time is under 10 %";
/** An execution in `trusted` alone is nothing that could have a share: there, the limit is on the time over an ask. */
const shares = [
  ...EXECUTIONS.flatMap((row) => ["sandbox", "process"].map((tier) => `${row}, ${tier}`)),
  "code, then file write",
  "file read, code, file write",
].map((row) => code(row, "ratio", 1.11, 1.03, SHARE));

const DEFAULT_TIER = "executions in the default tier, back to back";
const TRUSTED = "a trusted execution beside a plain ask";
const STARTED = "an execution in a process started for it, the parser loaded";
const HANDED = "an execution handed to a process";
const MEMORY = "memory of 1,000 executions in the sandbox, an execution";

export const codeTargets: readonly Target[] = [
  ...shares,
  code(TRUSTED, "over an ask", 1_500, 1_000, "the request checked, its program found, its value made JSON and back"),
  code(TRUSTED, "compiled, over an ask", 1_500, 1_000, "the program found by its id, and no source looked up"),
  code(DEFAULT_TIER, "simple arithmetic, p50", 200, 150, "a clean context each time, made ahead"),
  code(
    "an execution, sandbox, beside a process started for each",
    "ratio",
    0.05,
    0.04,
    "a pool is worth it: 20 times as fast as a process started for each",
  ),
  code(
    DEFAULT_TIER,
    "the six published ones in turn, p95",
    5,
    1,
    "the published limit, where no isolation was given up for it",
  ),
  // What a start of the actor takes beside it is its own modules and the parser, once; that is a figure without a limit.
  code(STARTED, "time", 10, 8, "a process, confined, whatever it is started for"),
  code("a tool called from code, sandbox", "a call", 60, 40, "out of the sandbox, an ask, and back"),
  // One that is used once is not warm: a bare process takes longer than this for its first line there and back, which the
  // page shows beside it. The limit is that of a process which is used again.
  code(HANDED, "that of a session", 100, 50, "what runs in a session reuses its process"),
  code(MEMORY, "host heap slope", 100, 10, "1,000 executions leave nothing"),
  code(MEMORY, "host RSS slope", 1_000, 100, "a megabyte in 1,000 executions at most"),
  code(MEMORY, "pool RSS slope", 1_000, 100, "a megabyte in 1,000 executions at most"),
];

const AT_THEIR_LIMITS = [
  "write of 300 MB, refused",
  "write of 10 MB, letters of three bytes",
  "edit of a text of 4 million line ends",
  "change of 100 files, 500 directories deep",
  "read of the last of 10 million lines",
  "search of 10 MB: 10,000 matches, 40 lines around each",
  "search by 39 globs and 1,000 ignored patterns, made to take long",
  "list of a page of 30,000 entries, with details",
  "delete of a directory of 30,000 files",
  "run with an input of 130,000 values, 1 MB",
  "run with an input of 1 MB that is all escaped",
  "run of a source of 8,000 lines, 64 KB",
  "run that logs 9,000 lines",
];

export const gaps: readonly Target[] = AT_THEIR_LIMITS.map((row) => ({
  suite: "gaps",
  row,
  figure: GAP,
  atMost: 15,
  aim: 10,
  reason: "no request, however large, holds the event loop: 10 ms, and 5 until the timer is due (P5)",
}));
