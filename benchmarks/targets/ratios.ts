import type { Target } from "../harness/target";

// How many times its floor each timed row may take.
//
// A limit is the larger of 1.15 times what was reached and the worst round of the results that are committed. Those over the bare mailbox
// are owed a quiet run: the mailbox became up to twice as quick after these results, so they are divided by what it gained (tells in a
// burst 0.5, ten at once 0.6, a hop 0.65, an ask 0.86), or are what minima on a busy machine showed, whichever is more.

type Limits = Readonly<Record<string, readonly [atMost: number, aim: number]>>;

const ratios = (suite: string, reason: string, limits: Limits): Target[] =>
  Object.entries(limits).map(([row, [atMost, aim]]) => ({ suite, row, figure: "ratio", atMost, aim, reason }));

export const messaging: readonly Target[] = [
  ...ratios("routing", "a tell adds accounting and a turn budget to the bare mailbox, and an envelope", {
    "ref.tell of two operations in turn, 100,000 to completion": [15, 4],
    "ref.tell, 100,000 to completion": [2.8, 1.3],
    "ref.tell from inside an actor, 100,000 in a turn": [3.7, 2],
  }),
  ...ratios("routing", "an ask costs the promise that it must create, and a deadline in the shared timer wheel", {
    "ref.ask in sequence, sync handler, default timeout": [2, 1.25],
    "ref.ask, 100 in flight": [1.7, 1.1],
  }),
  ...ratios("routing", "the dynamic path adds a message object and a look-up by address", {
    "router.tell() to echo handler": [15.5, 6],
    "router.ask(createMessage(…)) in sequence": [3.5, 1.8],
    "ask round trip (echo)": [4.2, 2],
    "sequential: 10 asks": [3, 2],
    "concurrent: 10 asks": [3.5, 2],
  }),
  ...ratios("routing", "a program's handler is run behind the checks of its protocol, its values made JSON and back", {
    "router.tell() to echo program": [260, 60],
    "router.ask() to echo program": [19, 8],
    "router.ask() to noop program": [17, 8],
    "router.ask() to compute program": [20, 8],
  }),
  ...ratios("routing", "an interceptor is a closure and a promise for each message", {
    "router.tell through one passing interceptor": [2.5, 1.2],
    "router.ask through one passing interceptor": [2.6, 1.5],
  }),
  ...ratios(
    "routing",
    "an observer is called for each message, and one message in 16 is timed by three looks at the clock",
    {
      "ref.tell inside of system.around": [5, 3.3],
      "ref.ask inside of system.around": [1.8, 1.25],
      "ref.tell with system.onSend": [3.5, 2.5],
      "ref.ask with system.onSend": [1.5, 1.2],
      "ref.tell with metrics": [3, 2.2],
      "ref.ask with metrics": [1.5, 1.15],
      "ref.tell with metrics that only count": [1.3, 1.1],
      "ref.ask with metrics that only count": [1.35, 1.03],
    },
  ),
  ...ratios("message-creation", "a message is one object of one shape; with its id and its time", {
    "createMessage (tell)": [2, 1.2],
    "createMessage (ask)": [1.7, 1.2],
    "createMessage with metadata": [1.7, 1.2],
    "createResponse()": [1.4, 1.1],
    "createErrorResponse()": [2.4, 1.5],
    "batch: 100 messages": [1.4, 1.1],
  }),
  ...ratios("message-creation", "an address is checked letter by letter; an id counts", {
    "address()": [14, 5],
    "generateMessageId()": [0.14, 0.1],
    "generateCorrelationId()": [0.15, 0.1],
  }),
  ...ratios("patterns", "a hop starts an actor's turn, a message takes an envelope, an ask a deadline", {
    "concurrent: 10 tells": [3.2, 1.5],
    "concurrent: 100 tells": [6.5, 2],
    "concurrent: 10 asks": [2.1, 1.3],
    "concurrent: 100 asks": [2.1, 1.1],
    "mixed: 50 tells + 50 asks": [3, 1.5],
    "throughput: 1k messages, sequential": [2.2, 1.25],
    "throughput: 1k messages, batches of 100": [1.9, 1.1],
    "throughput: 10k messages, batches of 100": [1.9, 1.1],
    "actor to actor: 10 chained messages": [2.2, 1.2],
    "fan-out: 1 to 10 actors": [3.3, 1.5],
    "aggregation: 100 messages to 1 actor": [4.7, 2],
    "ping-pong, a round trip between two actors": [2.2, 1.5],
    "memory: create 1k messages, unsent": [1.4, 1.1],
  }),
  ...ratios("patterns", "an actor is a cell, a behaviour, a context and a name, made and taken apart in order", {
    "spawn and stop, both confirmed": [1.8, 1.2],
    "skynet, 100,000 leaves": [5, 3],
  }),
  ...ratios("streams", "an item costs the generator that makes it, and the promise of the read that takes it", {
    "stream, an item, credit 1": [2.4, 1.9],
    "stream, an item, credit 16": [2.3, 1.8],
    "stream, an item, credit 256": [2.3, 1.8],
    "stream of one item, begun and ended": [4.1, 2],
  }),
  ...ratios("streams", "a synchronous generator fills the credit without a promise for each item", {
    "stream of a synchronous generator, an item, credit 1": [1.5, 1],
    "stream of a synchronous generator, an item, credit 16": [0.9, 0.7],
    "stream of a synchronous generator, an item, credit 256": [0.9, 0.7],
  }),
  ...ratios(
    "survival",
    "a supervisor's decision, an order among siblings, and an end that is told; a stash handles twice",
    {
      "restart: an ask that fails, its actor made anew": [2.5, 1.5],
      "watch: a child spawned, watched, stopped, and told of": [6.6, 2.5],
      "stash: 100 messages put aside and handled later, a message": [7.6, 3],
    },
  ),
  ...ratios("flow", "an offer has a deadline, an order among those that wait, and an answer of its own", {
    "offer: 8 senders wait for room among 16, a message": [3.3, 2],
  }),
  ...ratios("flow", "a delivery is a tell, and publishing needs no mailbox of its own", {
    "topic: an item to 10 subscribers, each": [1.8, 1],
    "topic: an item to 100 subscribers, each": [2, 1],
    "topic: an item to 1,000 subscribers, each": [2, 1],
  }),
  ...ratios("flow", "a pool is looked through, not hopped over: an ask and a choice", {
    "pool: round-robin, 100 asks in flight": [2.5, 1.8],
    "pool: least-busy, 100 asks in flight": [3.9, 2],
    "pool: consistent-hash, 100 asks in flight": [4.7, 2.5],
    "pool: broadcast, an ask of all in sequence": [1.9, 1.2],
    "pool: first-answer, an ask of all in sequence": [2.6, 1.5],
  }),
];

const READ = "a read is a message there and back, the path checked, the file's kind looked at, and an etag";
const IN_PLACE = "a write is a message, a lock that other processes heed, and the etag of what was written";
const WHOLE = "the file system does the most of it; the actor adds the lock, and a look at what is replaced";
const LIST = "the names come in the same calls, and are sorted and checked";
const LARGE = "90 % of a bare loop's throughput, with back-pressure";

/** By reason; the third figure is the limit on tmpfs, where the bare calls are quicker, and null for rows that are on the disk only. */
const fileLimits: Readonly<Record<string, Readonly<Record<string, readonly [number, number, (number | null)?]>>>> = {
  [READ]: {
    "read file": [1.7, 1.2, 1.8],
    "read 100 B": [2, 1.6],
    "read 10 KB": [2, 1.6],
    "write + read": [1.4, 1.1, 1.7],
    stat: [1.7, 1.2, null],
  },
  [IN_PLACE]: {
    "write 100 B in place": [2, 1.5],
    "write 10 KB in place": [2, 1.5],
    "write 100 KB in place": [2.4, 1.5],
    "append 100 B": [3.4, 1.5, null],
  },
  [WHOLE]: {
    "write 100 B": [1.3, 1.15, 1.7],
    "write 10 KB": [1.3, 1.15, 1.8],
    "write 100 KB": [1.3, 1.15, 1.6],
    "10 concurrent writes": [1.3, 1.1, 1.5],
    "delete file": [1.7, 1.2, 2],
    "write 100 B, durable": [2.3, 1.1, null],
    "edit of a file of 10 KB": [1.4, 1.1, null],
  },
  [LIST]: {
    "list directory": [0.9, 0.7, 0.7],
    "list of 1 entry": [2.2, 1.5, null],
    "list of 50 entries": [1.7, 1.2, null],
    "list of 1,000 entries": [1.5, 1],
    "list of 10,000 entries": [1.8, 1.2, null],
  },
  [LARGE]: { "read of a large file, 32 MB": [1.11, 1], "copy of a large file, 32 MB": [1.11, 0.8] },
};

export const fileRatios: readonly Target[] = Object.entries(fileLimits).flatMap(([reason, limits]) =>
  Object.entries(limits).flatMap(([row, [atMost, aim, onTmpfs = atMost]]) => [
    ...ratios("files", reason, { [row]: [atMost, aim] }),
    ...(onTmpfs === null ? [] : ratios("files", reason, { [`${row}, tmpfs`]: [onTmpfs, aim] })),
  ]),
);

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
