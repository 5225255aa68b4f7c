import { address, createMessage, createSystem, defineProtocol, Type } from "envoi";
import type { Isolation } from "envoi/tools";
import * as sample from "../harness/code-floors";
import { lineThereAndBack, spawnEach } from "../harness/code-floors";
import type { Floor, LeftOut, NoFloor, Prepared, Probe, Row, Suite } from "../harness/suite";
import {
  compiledRuns,
  executions,
  inSession,
  type Job,
  openActors,
  openByHand,
  programAsks,
  readThenWrite,
  tenAtOnce,
  thenWrite,
  whyNot,
} from "../subjects/code";
import { processProbes, sandboxProbes, trustedProbes, watchedProbes } from "../subjects/code-probes";

/** A row that each tier has. */
interface Kind {
  readonly name: string;
  readonly job: Job;
  readonly per?: number;
  readonly hasFiles?: boolean;
}

const ARITHMETIC: Kind = { name: "simple arithmetic", job: executions(sample.arithmetic) };

/** Published, by their published names. */
const kinds: readonly Kind[] = [
  ARITHMETIC,
  { name: "array operation", job: executions(sample.array) },
  { name: "string manipulation", job: executions(sample.text) },
  { name: "JSON processing", job: executions(sample.json) },
  { name: "loop, 100 iterations", job: executions(sample.loop) },
  { name: "with console output", job: executions(sample.output) },
  { name: "10 concurrent executions", job: tenAtOnce(sample.arithmetic), per: 10 },
  { name: "code, then file write", job: thenWrite, hasFiles: true },
  { name: "file read, code, file write", job: readThenWrite, hasFiles: true },
];

const ECHO = address("echo");
const Echo = defineProtocol("code-echo", {
  execute: { payload: Type.Object({ code: Type.String() }), reply: Type.Object({ code: Type.String() }) },
});

/** An ask of an actor that gives the message's payload back. */
const echoAsk = (per: number): Floor => ({
  name: per === 1 ? "baseline: echo ask" : `baseline: echo ask, ${per} in flight`,
  about: `\`router.ask(createMessage(…))\` of an actor that gives back what it is sent${per === 1 ? "" : `, ${per} at once`}`,
  setup: (operations): Prepared => {
    const system = createSystem();
    const { router } = system;
    system.spawn("echo", Echo, () => ({ execute: (payload) => payload }));
    const { code } = sample.arithmetic;
    let completed = 0;
    const ask = () => router.ask(createMessage(ECHO, "execute", { code }));
    const inSequence = async () => {
      for (let i = 0; i < operations; i++) {
        const answer = await ask();
        if (answer.isOk() && (answer.value as { code: string }).code === code) completed++;
      }
    };
    const inFlight = async () => {
      for (let i = 0; i < operations; i += per) {
        const asks = [];
        for (let j = 0; j < per; j++) asks.push(ask());
        for (const answer of await Promise.all(asks)) {
          if (answer.isOk() && (answer.value as { code: string }).code === code) completed++;
        }
      }
    };
    return { run: per === 1 ? inSequence : inFlight, completed: () => completed, teardown: () => system.shutdown() };
  },
});

/** The same work on the same tier, and files by bare calls: what is left of the row without its actors. */
const byHand = (isolation: Isolation, { job }: Kind): Floor => ({
  name: "baseline: by hand",
  about:
    "the same code run by the same tier directly, in the same processes, without an actor, a message, or a check of either; files by bare calls of `node:fs`",
  varies: true, // By the code.
  setup: (operations) => job(openByHand(isolation), operations, false),
});

/** Of unique sources: the same row, whose source is known, is what there is to compare with. */
const READ_ANEW: NoFloor = { none: "what it adds to the row of the same source is that each source is read" };

const UNIQUE = ", unique sources";

const nameIn = (isolation: Isolation, name: string, isUnique: boolean): string =>
  `${name}${isolation === "trusted" ? "" : `, ${isolation}`}${isUnique ? UNIQUE : ""}`;

/** How many executions a call of `run` has, where one of them is too short for a call of its own. */
const OPERATIONS: Readonly<Record<Isolation, number>> = { trusted: 200, sandbox: 1, process: 1 };

function rowOf(isolation: Isolation, kind: Kind, isUnique: boolean): Row {
  const { name, job, per = 1, hasFiles = false } = kind;
  const operations = hasFiles ? (isolation === "trusted" ? 10 : 1) : Math.max(OPERATIONS[isolation], per);
  const isBesideAsk = isolation === "trusted" && !hasFiles;
  return {
    kind: "timed",
    name: nameIn(isolation, name, isUnique),
    operations,
    per,
    floor: isUnique ? READ_ANEW : isBesideAsk ? echoAsk(per) : byHand(isolation, kind),
    ...(!isUnique && !isBesideAsk && { pieces: PIECES[isolation] }),
    ...(!isUnique && isolation === "sandbox" && { warmUp: (kind === ARITHMETIC ? COMPILED : AGAIN) / per }),
    setup: async () => job(await openActors(isolation), operations, isUnique),
  };
}

/**
 * Of a round: the kernel changes the pace of processes within one, and a disk its own. By hand beside by hand, means of four
 * medians were 0.993 in the sandbox in 12 pieces, and 1.003 in each of the two rows of `trusted` with files in 24.
 */
const PIECES = { sandbox: 12, process: 12, trusted: 24 } as const;

/**
 * The engine compiles what an execution in the sandbox runs through in the host for its first 20,000 (Bun 1.4.5, by CPU time), and
 * what the actors add for longer than what is by hand: the first row has as many, those after it what is left to their own code.
 * In a process for each, an execution is too slow for so many.
 */
const COMPILED = 30_000;
const AGAIN = 5_000;

/** One execution after the other, beside a floor of another kind. */
const beside = (isolation: Isolation, floor: Floor): Row => ({
  kind: "timed",
  name: `an execution, ${isolation}, beside ${floor.name}`,
  operations: 1,
  per: 1,
  floor,
  setup: async () => executions(sample.arithmetic)(await openActors(isolation), 1, false),
});

/** What the actors offer beside `execute`, of each tier. */
function others(isolation: Isolation): Row[] {
  const isTrusted = isolation === "trusted";
  const operations = OPERATIONS[isolation];
  const row = (name: string, floor: Floor, setup: Row["setup"]): Row => ({
    kind: "timed",
    name: nameIn(isolation, name, false),
    operations,
    per: 1,
    floor,
    ...(!isTrusted && { pieces: PIECES[isolation] }),
    ...(isolation === "sandbox" && { warmUp: AGAIN }),
    setup,
  });
  const least = isTrusted ? echoAsk(1) : lineThereAndBack;
  return [
    row("run of a compiled program", isTrusted ? least : byHand(isolation, ARITHMETIC), () =>
      compiledRuns(isolation, sample.arithmetic, operations),
    ),
    row("an execution in a session", least, () => inSession(isolation, operations)),
    row("an ask of a program actor", least, () => programAsks(isolation, operations)),
  ];
}

interface Part {
  readonly rows: readonly (Row | Probe)[];
  readonly leftOut: readonly LeftOut[];
}

/** The rows of a tier, or why this machine has none of them. */
async function partOf(isolation: Isolation, more: readonly (Row | Probe)[], watched?: Part): Promise<Part> {
  // The host reads a source, whatever the tier; beside what a process costs, once is enough to see it.
  const isReadAlike = (kind: Kind) => isolation === "process" && kind !== ARITHMETIC;
  const published = kinds.flatMap((kind) => [
    rowOf(isolation, kind, false),
    ...(isReadAlike(kind) ? [] : [rowOf(isolation, kind, true)]),
  ]);
  const rows = [...published, ...others(isolation), ...more];
  const why = await whyNot(isolation);
  if (why === undefined) return { rows: [...rows, ...(watched?.rows ?? [])], leftOut: watched?.leftOut ?? [] };
  return { rows: [], leftOut: [...rows, ...(watched?.rows ?? [])].map(({ name }) => ({ row: name, why })) };
}

const parts: readonly Part[] = [
  await partOf("trusted", trustedProbes),
  await partOf(
    "sandbox",
    [beside("sandbox", spawnEach), beside("sandbox", lineThereAndBack), ...sandboxProbes],
    watchedProbes,
  ),
  await partOf("process", [beside("process", spawnEach), ...processProbes]),
];

export const suite: Suite = {
  name: "code",
  about: [
    "The code actor, asked through the router. Rows that name no tier run in `trusted`, as the published ones do: no isolation, and the",
    "same source again and again unless a row says otherwise. All are warm, those of the sandbox after 30,000 executions, but *cold start*.",
    "Where the baseline is *by hand*, the ratio is what the actors add: their share",
    "of the time is 1 − 1 / ratio. What other tools take for code, and what attacks do to them, is in benchmarks/results/peers.md.",
  ].join("\n"),
  rows: parts.flatMap(({ rows }) => rows),
  leftOut: parts.flatMap(({ leftOut }) => leftOut),
};
