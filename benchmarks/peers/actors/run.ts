import { describeMachine } from "../../harness/machine";
import { median } from "../../harness/statistics";
import type { HostProcess } from "../host-process";
import { figureOf } from "../results";
import { notInstalled, type RoomRun, versionsOf } from "../room";
import { checkPeer } from "./checking";
import type { Told } from "./host";
import { hostOf, reasonIn } from "./hosts";
import { type ActorCandidate, candidates } from "./peer";
import type { ActorFigure, ActorPeerResult, ActorPeerResults, ActorRowResult, Checked } from "./results";
import { type RowName, readRows, timedRows } from "./rows";

/** Of one peer, of one row, in one round, in milliseconds; and how many samples at least. */
const TURN = 40;
const FEWEST = 3;
/** Before the first round, in milliseconds: more code takes longer to be compiled for good. */
const WARM_UP = 250;
/** For a peer to start, or to take a turn, in milliseconds. */
const PATIENCE = 60_000;
/** Whoever leaves a timer less than this share of the ticks that it gets when idle starves it: it gets one or none then. */
const FAIR = 0.25;

type Gone = Map<ActorCandidate, { readonly failed: string }>;

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

/** All peers in turn, round by round, each in a process of its own for all rows. */
async function measureTimed(run: RoomRun, gone: Gone): Promise<ActorRowResult[]> {
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
  for (const candidate of candidates) if (!gone.has(candidate)) await start(candidate);
  const results: ActorRowResult[] = [];
  for (const { row } of timedRows) {
    run.say(row);
    const samples = new Map<ActorCandidate, number[]>();
    const failed = new Map<ActorCandidate, string>();
    for (const candidate of hosts.keys()) {
      if (candidate.without[row] === undefined) samples.set(candidate, []);
    }
    for (let round = -1; round < run.rounds; round++) {
      for (const [candidate, all] of samples) {
        const host = hosts.get(candidate);
        host?.ask({ row, time: round < 0 ? WARM_UP : TURN, fewest: FEWEST });
        const told = await host?.next(PATIENCE);
        if (told?.kind === "samples") {
          if (round >= 0) all.push(...told.nanoseconds);
          continue;
        }
        samples.delete(candidate);
        failed.set(candidate, run.failure(candidate, `failed at "${row}"`, reasonIn(told)).failed);
        await host?.end();
        hosts.delete(candidate);
        await start(candidate); // What failed may have left anything behind.
      }
    }
    const figures = candidates.map((candidate): ActorFigure => {
      const all = samples.get(candidate);
      const peer = candidate.name;
      if (all !== undefined) return { peer, ...figureOf(all) };
      const reason = failed.get(candidate);
      if (reason !== undefined) return { peer, failed: reason };
      return withoutMeasuring(candidate, row, gone) ?? { peer, failed: "it was not measured" };
    });
    results.push({ row, unit: "ns", isMoreBetter: false, figures });
  }
  for (const host of hosts.values()) await host.end();
  return results;
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
      if (all !== undefined) return { peer, ...figureOf(all) };
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
