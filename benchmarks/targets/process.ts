import type { Target } from "../harness/target";

// What a process with envoi must reach: its memory, its latency and its start. Times and rates depend on the machine, so their limits are
// twice the worst round; all of them are far within what was published.

const memory = (row: string, figure: string, limit: number, aim: number, reason: string): Target => ({
  suite: "memory",
  row,
  figure,
  atMost: limit,
  aim,
  reason,
});

const LASTING = [
  "10,000,000 messages, told and asked",
  "5,000,000 actors spawned and stopped",
  "an hour of asks that time out, 100 a second",
  "a day of timers, 60 of 5 s each",
];

export const memoryTargets: readonly Target[] = [
  memory(
    "heap of an idle actor",
    "bytes",
    430,
    350,
    "idle actors are cheap enough to have one for each user, session or file",
  ),
  memory("10,000 messages", "heap growth", 0.3, 0.2, "the code of the first messages, and nothing of the messages"),
  memory("allocated by a tell", "bytes", 10, 6, "one envelope, and its place in the mailbox"),
  memory(
    "allocated by an ask and its reply",
    "bytes",
    250,
    200,
    "one envelope, the promise that must be made, and its result",
  ),
  ...LASTING.flatMap((row) =>
    ["heap", "RSS"].map((kind) =>
      memory(row, `${kind} slope, least`, 0, 0, "a leak is a slope that is surely above 0"),
    ),
  ),
];

const PUBLISHED = "the published limit, held by each operation by itself";

/** In the unit of the row's figures. */
const p95 = (row: string, limit: number, aim: number, reason = PUBLISHED): Target => ({
  suite: "latency",
  row,
  figure: "p95",
  atMost: limit,
  aim,
  reason,
});

const sustained = (row: string, rate: number, slowest: number, aim: number): readonly Target[] => [
  {
    suite: "latency",
    row,
    figure: "rate",
    atLeast: rate,
    aim,
    reason: "half of what was reached; 10,000 a second are published",
  },
  {
    suite: "latency",
    row,
    figure: "slowest tenth of a second",
    atLeast: slowest,
    aim,
    reason: "no pause of the collector halves it",
  },
];

export const latency: readonly Target[] = [
  p95("createMessage", 240, 80),
  p95("router.ask(createMessage(…)), a round trip", 1_250, 300),
  p95("ref.ask, a round trip", 530, 200),
  p95("100 asks at once, until all have replied", 60, 20, "a hundred operations at once, as published"),
  p95("read of 100 B", 8, 3),
  p95("write of 100 B", 420, 100, `${PUBLISHED}; on a slow disk, it is the disk that misses it`),
  p95("execution, sandbox", 270, 80),
  ...sustained("sustained for 2 s: ref.tell", 45_000_000, 30_000_000, 100_000_000),
  ...sustained("sustained for 2 s: router.tell(createMessage(…))", 6_000_000, 4_000_000, 12_000_000),
];

const overBare = (row: string, limit: number, aim: number, reason: string): Target => ({
  suite: "startup",
  row,
  figure: "over bare Bun",
  atMost: limit,
  aim,
  reason,
});

/** Kilobytes; a test holds them, too. */
const budget = (row: string, minified: number, gzip: number, reason: string): readonly Target[] => [
  { suite: "startup", row, figure: "minified", atMost: minified, aim: minified * 0.9, reason },
  { suite: "startup", row, figure: "gzip", atMost: gzip, aim: gzip * 0.9, reason },
];

export const startup: readonly Target[] = [
  overBare('import "envoi", to the first reply', 20, 15, "a short program, such as a command, can afford it"),
  overBare(
    'import "envoi", to the first reply, checked by its schemas',
    30,
    25,
    "TypeBox's compiler comes with the first schema that is checked",
  ),
  overBare('import "envoi/tools", to the first file read', 60, 45, "the file actor checks each request by its schema"),
  overBare(
    'import "envoi/tools", to the first execution in the sandbox',
    100,
    80,
    "a process is started, and WebAssembly compiled in it",
  ),
  ...budget("bytes of the core", 365, 109, "half is TypeBox, whole, since users write any schema"),
  ...budget(
    "bytes of the tools, the core included",
    530,
    172,
    "two actors, diffs and changes of several files; what they run in other processes apart",
  ),
  {
    suite: "startup",
    row: "tsc of a project with 200 protocols",
    figure: "a protocol",
    atMost: 5,
    aim: 3,
    reason: "types are inferred from schemas without making a project slow to check",
  },
];
