import { address, createMessage, createSystem, defineProtocol, Type } from "envoi";
import type { Isolation } from "envoi/tools";
import * as sample from "../harness/code-floors";
import { canSeeProcesses } from "../harness/processes";
import type { Declared, Most } from "../harness/rows";
import { apart, counted, figures, needing, probe, suiteOf, timed, withRatio } from "../harness/rows";
import type { Floor, Row } from "../harness/suite";
import * as work from "../subjects/code";

const MODULE = new URL("../subjects/code-probes.ts", import.meta.url).href;
const { arithmetic } = sample;
const ECHO = address("echo");
const Echo = defineProtocol("code-echo", {
  execute: { payload: Type.Object({ code: Type.String() }), reply: Type.Object({ code: Type.String() }) },
});

const echoAsk = (per: number): Floor => ({
  name: per === 1 ? "baseline: echo ask" : `baseline: echo ask, ${per} in flight`,
  about: `\`router.ask(createMessage(…))\` of an actor that gives back what it is sent${per === 1 ? "" : `, ${per} at once`}`,
  setup(operations) {
    const system = createSystem();
    const { router } = system;
    system.spawn("echo", Echo, () => ({ execute: (payload) => payload }));
    const { code } = arithmetic;
    const ask = () => router.ask(createMessage(ECHO, "execute", { code }));
    const isDone = (answer: Awaited<ReturnType<typeof ask>>) =>
      answer.isOk() && (answer.value as { code: string }).code === code; // By the protocol.
    const inSequence = async () => {
      let done = 0;
      for (let i = 0; i < operations; i++) if (isDone(await ask())) done++;
      return done;
    };
    const inFlight = async () => {
      let done = 0;
      for (let i = 0; i < operations; i += per) {
        const asks = [];
        for (let j = 0; j < per; j++) asks.push(ask());
        for (const answer of await Promise.all(asks)) if (isDone(answer)) done++;
      }
      return done;
    };
    return counted(per === 1 ? inSequence : inFlight, { teardown: () => system.shutdown() });
  },
});

const byHand = (isolation: Isolation, job: work.Job): Floor => ({
  name: "baseline: by hand",
  about:
    "the same code run by the same tier directly, in the same processes, without an actor, a message, or a check of either; files by bare calls of `node:fs`",
  varies: true, // By the code.
  setup: (operations) => job(work.openByHand(isolation), operations),
});

/** Of a round: the kernel changes the pace of processes within one. By hand beside by hand was 0.993 to 1.003 so. */
const PIECES = { sandbox: 12, process: 12, trusted: 24 } as const;

/** The engine compiles the host's part of an execution in the sandbox for its first 20,000. Later rows need what is left. */
const COMPILED = 30_000;
const AGAIN = 5_000;

const SHARE: Most = [1.11, 1.03, "the actors' share of the time is under 10 %"];
const TRUSTED =
  "the request checked, its program found, its value made JSON and back, beside an ask that does none of it";
const FOUND = "a program that was read before is found by its id";

type More = Partial<Pick<Row, "per" | "warmUp">>;

/** A row whose baseline is the same work by hand: what is left is the actors' share. */
const beside = (isolation: Isolation, name: string, job: work.Job, most = SHARE, more: More = {}): Declared => {
  const operations = isolation === "trusted" ? 10 : (more.per ?? 1);
  const warmUp = isolation === "sandbox" && { warmUp: AGAIN / (more.per ?? 1) };
  const options = { operations, pieces: PIECES[isolation], ...warmUp, ...more };
  return timed(name, byHand(isolation, job), async (all) => job(await work.openActors(isolation), all), most, options);
};

const asked = (name: string, job: work.Job, most: number, aim: number, per = 1): Declared =>
  timed(name, echoAsk(per), async (all) => job(await work.openActors("trusted"), all), [most, aim, TRUSTED], {
    operations: 200,
    per,
  });

/** Executions of unique sources; the same row, whose source is known, is what there is to compare with. */
const anew = (name: string, isolation: Isolation, operations: number): Declared =>
  timed(
    `${name}, unique sources`,
    { none: "what it adds to the row of the same source is that each source is read" },
    async (all) => work.executions(arithmetic, work.asUnique)(await work.openActors(isolation), all),
    "it has no floor: the row of the same source again has the limit",
    { operations },
  );

const STARTS = { smoke: 1, full: 5 };

const coldStart = (isolation: Isolation): Declared => {
  const isBare = isolation === "trusted";
  return probe(
    `cold start, ${isolation}: from spawning the actor to the first result`,
    isBare ? figures("ms", "time") : withRatio("ms", "time"),
    isBare ? "nothing is started" : { name: "a process started", measure: apart(MODULE, "startOfProcess", STARTS) },
    apart(MODULE, `${isolation}ColdStart`, STARTS),
  );
};

const trusted = [
  asked("simple arithmetic", work.executions(arithmetic), 4.6, 2),
  anew("simple arithmetic", "trusted", 200),
  asked("array operation", work.executions(sample.array), 5.2, 3),
  asked("string manipulation", work.executions(sample.text), 6.8, 4),
  asked("JSON processing", work.executions(sample.json), 7.7, 4),
  asked("loop, 100 iterations", work.executions(sample.loop), 4.6, 3),
  asked("with console output", work.executions(sample.output), 8, 4),
  asked("10 concurrent executions", work.tenAtOnce(arithmetic), 4.3, 3, 10),
  beside("trusted", "code, then file write", work.thenWrite, [
    1.27,
    1.03,
    "half of its time is the disk's, and varies",
  ]),
  beside("trusted", "file read, code, file write", work.readThenWrite),
  ...(
    [
      ["run of a compiled program", (all: number) => work.compiledRuns("trusted", arithmetic, all), 5.4, 2.5],
      ["an execution in a session", (all: number) => work.inSession("trusted", all), 29, 10],
      ["an ask of a program actor", (all: number) => work.programAsks("trusted", all), 6.6, 3],
    ] as const
  ).map(([name, job, most, aim]) => timed(name, echoAsk(1), job, [most, aim, TRUSTED], { operations: 200 })),
  coldStart("trusted"),
];

const MEMORY = "a megabyte in 1,000 executions at most";

const sandbox = [
  beside("sandbox", "simple arithmetic, sandbox", work.executions(arithmetic), SHARE, { warmUp: COMPILED }),
  anew("simple arithmetic, sandbox", "sandbox", 1),
  beside("sandbox", "JSON processing, sandbox", work.executions(sample.json)),
  beside("sandbox", "with console output, sandbox", work.executions(sample.output)),
  beside("sandbox", "10 concurrent executions, sandbox", work.tenAtOnce(arithmetic), SHARE, { per: 10 }),
  beside("sandbox", "code, then file write, sandbox", work.thenWrite),
  beside("sandbox", "file read, code, file write, sandbox", work.readThenWrite),
  timed(
    "run of a compiled program, sandbox",
    byHand("sandbox", work.executions(arithmetic)),
    (all) => work.compiledRuns("sandbox", arithmetic, all),
    [1.2, 1.03, FOUND],
    { operations: 1, pieces: PIECES.sandbox, warmUp: AGAIN },
  ),
  coldStart("sandbox"),
  probe(
    "a tool called from code, sandbox",
    figures("µs", "a call", "a run of one call"),
    "the limit is of the time itself: a tenth of what ten calls more take in one run",
    apart(MODULE, "toolCall", { smoke: 10, full: 100 }),
    [["a call", "atMost", 91, 40, "out of the sandbox, an ask, and back"]],
  ),
  ...needing(canSeeProcesses ? undefined : "processes are looked at in /proc of Linux", [
    probe(
      "memory of 1,000 executions in the sandbox, an execution",
      [
        ...figures("B", "host heap slope", "host RSS slope", "pool RSS slope"),
        ...figures("MB", "host RSS", "pool RSS"),
      ],
      "what is looked for is that nothing grows",
      apart(MODULE, "memorySlope", { smoke: 100, full: 1_000 }),
      [
        ["host heap slope", "atMost", 75, 10, "1,000 executions leave nothing"],
        ["host RSS slope", "atMost", 1_000, 100, MEMORY],
        ["pool RSS slope", "atMost", 1_000, 100, MEMORY],
      ],
    ),
  ]),
];

const HANDED = { smoke: 2, full: 20 };

const inProcess = [
  beside("process", "simple arithmetic, process", work.executions(arithmetic)),
  beside("process", "10 concurrent executions, process", work.tenAtOnce(arithmetic), SHARE, { per: 10 }),
  coldStart("process"),
  // One that is ready is used once, so it is not warm: a bare process takes most of this for its first line there and back, which the page
  // shows beside it. Its old limit of 100 µs, which no machine kept, is the aim.
  probe(
    "an execution handed to a process",
    withRatio("µs", "one that is ready", "that of a session"),
    { name: "a line there and back: the first one, and later ones", measure: apart(MODULE, "lineHandedOver", HANDED) },
    apart(MODULE, "handOver", HANDED),
    [
      ["one that is ready", "atMost", 1_400, 100, "the process is there, confined, and waits"],
      ["that of a session", "atMost", 160, 50, "what runs in a session reuses its process"],
    ],
  ),
];

export const suite = suiteOf(
  "code",
  [
    "The code actor, asked through the router. Rows that name no tier run in `trusted`, as the published ones do: no isolation, and the",
    "same source again and again unless a row says otherwise. All are warm, those of the sandbox after 30,000 executions, but *cold start*.",
    "Where the baseline is *by hand*, the ratio is what the actors add: their share",
    "of the time is 1 − 1 / ratio. What other tools take for code, and what attacks do to them, is in benchmarks/results/peers.md.",
  ].join("\n"),
  [
    ...needing(await work.whyNot("trusted"), trusted),
    ...needing(await work.whyNot("sandbox"), sandbox),
    ...needing(await work.whyNot("process"), inProcess),
  ],
);
