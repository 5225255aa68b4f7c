import { join } from "node:path";
import { describeMachine } from "../../harness/machine";
import { canSeeProcesses, descendants, processorTime, residentBytes } from "../../harness/processes";
import { HostProcess } from "../host-process";
import { type Failure, figureOf, type PeerRow } from "../results";
import { type Candidate, notInstalled, type RoomRun, versionsOf } from "../room";
import type { Told } from "./host";
import { candidates, LIMITS } from "./peer";
import type { AttackResult, CodePeerResult, CodePeerResults, Outcome } from "./results";
import { attacks, COLD_START, operations } from "./rows";

/** Of one candidate, of one operation, in one round, in milliseconds; and how often at least. */
const TURN = 40;
const FEWEST = 3;
/** What is not over by then is not waited for, in milliseconds after its start. */
const PATIENCE = 10_000;
/** For a candidate to start, and for a turn, in milliseconds. */
const START = 30_000;
/** Bytes, with which a candidate is killed before the machine suffers. */
const MOST_MEMORY = 6e9;
/** Between two looks at the memory of a candidate, in milliseconds. */
const LOOK = 10;
/** How long a candidate has to come to rest, and for how long it is then watched, in milliseconds. */
const REST = 500;
const WATCHED = 500;

const HOST = join(import.meta.dir, "host.ts");

/** Measures the tools for code beside each other, and attacks each. */
export async function measureCode(run: RoomRun): Promise<CodePeerResults> {
  const gone = notInstalled(run, candidates);
  const rows = await compare(run, gone);
  const peers: CodePeerResult[] = [];
  for (const candidate of candidates) {
    const { name, how } = candidate;
    const results: AttackResult[] = [];
    for (const { name: attack } of attacks) {
      run.say(`${name}: ${attack}`);
      results.push({ attack, outcome: gone.get(candidate) ?? (await attacked(run, candidate, attack)) });
    }
    peers.push({
      name,
      how,
      packages: await versionsOf(candidate),
      rows: rows.get(candidate) ?? [],
      attacks: results,
    });
  }
  run.say("");
  return { machine: describeMachine(run.root), rounds: run.rounds, limits: LIMITS, patience: PATIENCE, peers };
}

interface Runner {
  readonly host: HostProcess<Told>;
  readonly rows: readonly string[];
}

/** All candidates in turn, round by round, each in a process of its own; and their cold starts. */
async function compare(run: RoomRun, gone: Map<Candidate, Failure>): Promise<Map<Candidate, PeerRow[]>> {
  const runners = new Map<Candidate, Runner>();
  for (const candidate of candidates) {
    if (gone.has(candidate)) continue;
    const host = new HostProcess<Told>(HOST, candidate.name, "measure");
    const told = await host.next(START);
    if (told?.kind === "opened") runners.set(candidate, { host, rows: told.rows });
    else {
      gone.set(candidate, run.failure(candidate, "did not start", reasonIn(told)));
      await host.end();
    }
  }
  const figures = new Map<Candidate, PeerRow[]>(candidates.map((candidate) => [candidate, []]));
  for (const { row } of operations) {
    run.say(row);
    for (const [candidate, figure] of await inTurns(run, runners, gone, row)) {
      figures.get(candidate)?.push({ row, figure });
    }
  }
  for (const { host } of runners.values()) await host.end();
  run.say(COLD_START);
  for (const [candidate, figure] of await coldStarts(run, gone)) {
    figures.get(candidate)?.push({ row: COLD_START, figure });
  }
  return figures;
}

type Figures = Map<Candidate, PeerRow["figure"]>;

async function inTurns(
  run: RoomRun,
  runners: ReadonlyMap<Candidate, Runner>,
  gone: ReadonlyMap<Candidate, Failure>,
  row: string,
): Promise<Figures> {
  const figures: Figures = new Map(gone);
  const samples = new Map<Candidate, number[]>();
  for (const [candidate, { rows }] of runners) {
    if (rows.includes(row)) samples.set(candidate, []);
    else figures.set(candidate, null);
  }
  for (let round = -1; round < run.rounds; round++) {
    for (const [candidate, all] of samples) {
      const host = runners.get(candidate)?.host;
      host?.ask({ row, time: TURN, fewest: FEWEST });
      const told = await host?.next(START);
      if (told?.kind === "samples") {
        if (round >= 0) all.push(...told.nanoseconds); // The first round warms up.
      } else {
        samples.delete(candidate);
        figures.set(candidate, run.failure(candidate, `failed at "${row}"`, reasonIn(told)));
      }
    }
  }
  for (const [candidate, all] of samples) figures.set(candidate, figureOf(all));
  return figures;
}

async function coldStarts(run: RoomRun, gone: ReadonlyMap<Candidate, Failure>): Promise<Figures> {
  const figures: Figures = new Map(gone);
  const samples = new Map<Candidate, number[]>();
  for (let round = 0; round < run.rounds; round++) {
    for (const candidate of candidates) {
      if (figures.has(candidate)) continue;
      const host = new HostProcess<Told>(HOST, candidate.name, "cold");
      const told = await host.next(START);
      await host.end();
      if (told?.kind === "cold") samples.set(candidate, [...(samples.get(candidate) ?? []), told.time * 1e6]);
      else figures.set(candidate, run.failure(candidate, "failed at its cold start", reasonIn(told)));
    }
  }
  for (const [candidate, all] of samples) if (!figures.has(candidate)) figures.set(candidate, figureOf(all));
  return figures;
}

const reasonIn = (told: Told | undefined): string => (told?.kind === "failed" ? told.reason : "it told nothing");

const memoryOf = (pid: number): number =>
  [pid, ...descendants(pid)].reduce((sum, each) => sum + residentBytes(each), 0);

const workOf = (pid: number): number => [pid, ...descendants(pid)].reduce((sum, each) => sum + processorTime(each), 0);

/** One attack on one candidate, in a process of its own, which is killed at the end. */
async function attacked(run: RoomRun, candidate: Candidate, attack: string): Promise<Outcome | Failure> {
  const host = new HostProcess<Told>(HOST, candidate.name, "attack", attack);
  let timer: ReturnType<typeof setInterval> | undefined;
  try {
    const first = await host.next(START);
    if (first?.kind !== "started") return run.failure(candidate, "did not start under attack", reasonIn(first));
    const start = performance.now();
    const before = memoryOf(host.pid);
    let peak = before;
    timer = setInterval(() => {
      const bytes = memoryOf(host.pid);
      peak = Math.max(peak, bytes);
      if (bytes > MOST_MEMORY) void host.end();
    }, LOOK);
    const memory = () => (canSeeProcesses ? { before, peak } : null);
    let gap = 0;
    let heard = start;
    let told: Told | undefined;
    for (;;) {
      told = await host.next(start + PATIENCE - performance.now());
      if (told?.kind !== "beat") break;
      gap = told.gap;
      heard = performance.now();
    }
    if (told?.kind !== "ended") {
      // What it could not tell any more: since when it was still.
      const silence = Math.max(gap, performance.now() - heard);
      const how = host.hasEnded ? (peak > MOST_MEMORY ? "killed" : "died") : "killed";
      return { after: null, how, gap: silence, memory: memory(), usable: null, busy: null };
    }
    const { after, how } = told;
    gap = told.gap;
    const next = await host.next(PATIENCE);
    const usable = next?.kind === "usable" ? next.after : null;
    clearInterval(timer);
    await Bun.sleep(REST);
    const [work, watched] = [workOf(host.pid), performance.now()];
    await Bun.sleep(WATCHED);
    const busy = canSeeProcesses ? (workOf(host.pid) - work) / (performance.now() - watched) : null;
    return { after, how, gap, memory: memory(), usable, busy };
  } finally {
    clearInterval(timer);
    await host.end();
  }
}
