import { describeMachine } from "../../harness/machine";
import { median } from "../../harness/statistics";
import type { HostProcess } from "../host-process";
import { type Failure, figureOf } from "../results";
import { notInstalled, type RoomRun, versionsOf } from "../room";
import { checkPeer } from "./checking";
import type { Told } from "./host";
import { hostOf, reasonIn } from "./hosts";
import { type ActorCandidate, candidates } from "./peer";
import type { ActorFigure, ActorPeerResult, ActorPeerResults, ActorRowResult, Checked } from "./results";
import { readRows, timedRows } from "./rows";
import { FLOOR, SELF } from "./standing";
import type { RowName } from "./types";

/** Of one peer, of one row, in one round, in milliseconds; and how many samples at least. */
const TURN = 40;
const FEWEST = 3;
/** Before the first round, in milliseconds: more code takes longer to be compiled for good. */
const WARM_UP = 250;
/** For a peer to start, or to take a turn, in milliseconds. */
const PATIENCE = 60_000;
/** Whoever leaves a timer less than this share of the ticks that it gets when idle starves it: it gets one or none then. */
const FAIR = 0.25;

/** How many processes each candidate has for the timed rows. */
const PROCESSES = 3;

/** The bare mailbox right after envoi, which is compared with it: what the machine does changes from one moment to the next. */
const inTurn = candidates.toSorted((a, b) => order(a) - order(b));

function order({ name }: ActorCandidate): number {
  return name === SELF ? 0 : name === FLOOR ? 1 : 2;
}

type Gone = Map<ActorCandidate, Failure>;

/** Measures the libraries of actors, and the floors, beside each other; and finds out what each does not do. */
export async function measureActors(run: RoomRun): Promise<ActorPeerResults> {
  // Some libraries come as a build for development otherwise, which is slower.
  process.env["NODE_ENV"] = "production";
  const gone: Gone = notInstalled(run, candidates);
  const rows = await measureTimed(run, gone);
  const { read, fair } = await readOnce(run, gone);
  const peers: ActorPeerResult[] = [];
  for (const candidate of candidates) {
    run.say(`checks of ${candidate.name}`);
    const checked = await checkPeer(run, candidate, gone.get(candidate), fair.get(candidate));
    const { name, how, isFloor } = candidate;
    peers.push({ name, how, packages: await versionsOf(candidate), isFloor, ...checked });
  }
  return { machine: describeMachine(run.root), rounds: run.rounds, peers, rows: [...rows, ...read] };
}

/** What there is to say at once of a peer at a row: it is not there, or has no such row. */
function withoutMeasuring(candidate: ActorCandidate, row: RowName, gone: Gone): ActorFigure | undefined {
  const failure = gone.get(candidate);
  if (failure !== undefined) return { peer: candidate.name, failed: failure.failed };
  const none = candidate.without[row];
  return none === undefined ? undefined : { peer: candidate.name, none };
}

/** What was measured of one candidate at one row: the samples of each round. */
type Rounds = readonly (readonly number[])[];

/**
 * All candidates in turn, round by round. Each has a few processes, one after the other, since what a compiler makes of the same
 * code differs from one to the next.
 */
async function measureTimed(run: RoomRun, gone: Gone): Promise<ActorRowResult[]> {
  const measured = new Map(timedRows.map(({ row }) => [row, new Map<ActorCandidate, Rounds | Failure>()]));
  const processes = Math.min(PROCESSES, run.rounds);
  for (let i = 0; i < processes; i++) {
    const rounds = Math.floor(run.rounds / processes) + (i < run.rounds % processes ? 1 : 0);
    await measureOnce(run, gone, rounds, measured);
  }
  return timedRows.map(({ row }): ActorRowResult => {
    const figures = candidates.map((candidate): ActorFigure => {
      const peer = candidate.name;
      const of = measured.get(row)?.get(candidate);
      if (of !== undefined) return "failed" in of ? { peer, failed: of.failed } : figureOfRounds(peer, of);
      return withoutMeasuring(candidate, row, gone) ?? { peer, failed: "it was not measured" };
    });
    return { row, unit: "ns", isMoreBetter: false, figures };
  });
}

const figureOfRounds = (peer: string, rounds: Rounds): ActorFigure => ({
  peer,
  ...figureOf(rounds.flat()),
  rounds: rounds.map(median),
});

/** Some rounds of all rows, in one process of each candidate. */
async function measureOnce(
  run: RoomRun,
  gone: Gone,
  rounds: number,
  measured: ReadonlyMap<RowName, Map<ActorCandidate, Rounds | Failure>>,
): Promise<void> {
  const hosts = new Map<ActorCandidate, HostProcess<Told>>();
  const start = async (candidate: ActorCandidate): Promise<void> => {
    const host = hostOf(candidate, "measure");
    const told = await host.next(PATIENCE);
    if (told?.kind === "opened") hosts.set(candidate, host);
    else {
      gone.set(candidate, run.failure(candidate, "did not start", reasonIn(told)));
      await host.end();
    }
  };
  for (const candidate of inTurn) if (!gone.has(candidate)) await start(candidate);
  for (const [row, of] of measured) {
    run.say(row);
    for (let round = -1; round < rounds; round++) {
      for (const candidate of inTurn) {
        const host = hosts.get(candidate);
        const before = of.get(candidate) ?? [];
        if (host === undefined || candidate.without[row] !== undefined || "failed" in before) continue;
        host.ask({ row, time: round < 0 ? WARM_UP : TURN, fewest: FEWEST });
        const told = await host.next(PATIENCE);
        if (told?.kind === "samples") {
          if (round >= 0) of.set(candidate, [...before, told.nanoseconds]);
          continue;
        }
        of.set(candidate, run.failure(candidate, `failed at "${row}"`, reasonIn(told)));
        await host.end();
        hosts.delete(candidate);
        await start(candidate); // What failed may have left anything behind.
      }
    }
  }
  for (const host of hosts.values()) await host.end();
}

/** What is read in a process of its own, once a round; and who lets a timer fire. */
async function readOnce(run: RoomRun, gone: Gone) {
  const readings = new Map<string, number[]>();
  const failures = new Map<string, string>();
  const key = ({ name }: ActorCandidate, what: string): string => `${name}: ${what}`;
  for (let round = 0; round < run.rounds; round++) {
    for (const candidate of candidates) {
      for (const mode of ["heap", "fairness"] as const) {
        if (gone.has(candidate) || failures.has(key(candidate, mode))) continue;
        if (mode === "heap" && candidate.without["heap of an idle actor"] !== undefined) continue;
        run.say(`${candidate.name}: ${mode}, round ${round + 1}`);
        const host = hostOf(candidate, mode);
        const told = await host.next(PATIENCE);
        await host.end();
        if (told?.kind === "read") {
          for (const [name, value] of Object.entries(told.readings)) {
            readings.set(key(candidate, name), [...(readings.get(key(candidate, name)) ?? []), value]);
          }
        } else failures.set(key(candidate, mode), run.failure(candidate, `failed at ${mode}`, reasonIn(told)).failed);
      }
    }
  }
  const read = readRows.map(({ row, unit, reading, isMoreBetter }): ActorRowResult => {
    const figures = candidates.map((candidate): ActorFigure => {
      const peer = candidate.name;
      const failed = failures.get(key(candidate, reading === "heap" ? "heap" : "fairness"));
      if (failed !== undefined) return { peer, failed };
      const all = readings.get(key(candidate, reading));
      if (all !== undefined) return { peer, ...figureOf(all), rounds: all };
      return withoutMeasuring(candidate, row, gone) ?? { peer, failed: "it was not measured" };
    });
    return { row, unit, isMoreBetter, figures };
  });
  const fair = new Map<ActorCandidate, Checked["outcome"]>();
  for (const candidate of candidates) {
    const failed = failures.get(key(candidate, "fairness"));
    const [ticks, idle] = [readings.get(key(candidate, "ticks")), readings.get(key(candidate, "idle"))];
    if (failed !== undefined) fair.set(candidate, { failed });
    else if (ticks !== undefined && idle !== undefined) fair.set(candidate, median(ticks) >= FAIR * median(idle));
  }
  return { read, fair };
}
