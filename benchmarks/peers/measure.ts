import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { describeMachine } from "../harness/machine";
import { ascending, median, quantile } from "../harness/statistics";
import { checks } from "./actors/checks";
import { definitions } from "./definitions";
import { HostProcess, reasonIn } from "./processes";
import type { PeerFigure, PeerResult, PeerResults, PeerRow, Room } from "./results";
import { type Asked, type Candidate, type Failure, type RoomRun, versionsOf } from "./room";
import { FLOOR, SELF } from "./standing";
import { trials } from "./trials";

export { endAll } from "./processes";

/** Of one candidate, of one row, in one round, in milliseconds; and how many samples at least. */
const TURN = 40;
const FEWEST = 3;
/** Before the first round, in milliseconds: more code takes longer to be compiled for good. */
const WARM_UP = 250;
/** How many processes each candidate has for the timed rows. */
const PROCESSES = 3;

/** The bare mailbox right after envoi, which is compared with it: what the machine does changes from one moment to the next. */
const order = ({ name }: Candidate): number => (name === SELF ? 0 : name === FLOOR ? 1 : 2);

/** Measures what is in a room beside each other, each in processes of its own. */
export async function measureRoom(room: Room, asked: Asked): Promise<PeerResults> {
  // Some libraries come as a build for development otherwise, which is slower.
  process.env["NODE_ENV"] = "production";
  const { candidates } = definitions[room];
  const run: RoomRun = { ...asked, room, candidates, gone: new Map(), readings: new Map() };
  for (const candidate of candidates) {
    if (asked.missing !== undefined && candidate.packages.length > 0)
      run.gone.set(candidate, asked.failure(candidate, "was not installed", asked.missing));
  }
  const rows = [...(await measureTimed(run)), ...(await measureReadings(run)), ...(await trials[room](run))];
  const peers = candidates.map(async (candidate): Promise<PeerResult> => {
    const { name, how, isFloor = false } = candidate;
    return { name, how, packages: await versionsOf(candidate), isFloor, lacks: lacksOf(candidate, rows) };
  });
  run.say("");
  return { room, machine: describeMachine(run.root), rounds: run.rounds, peers: await Promise.all(peers), rows };
}

/** What a candidate does not do: what is said of it, and what the checks found. */
export function lacksOf({ name, said = [] }: Pick<Candidate, "name" | "said">, rows: readonly PeerRow[]): string[] {
  const found = rows.flatMap(({ row, figures }) => {
    const isLacking = figures.some((each) => each.peer === name && "holds" in each && !each.holds);
    return isLacking
      ? [checks.find((check) => check.name === row)?.lack ?? "timers starve while two actors volley"]
      : [];
  });
  return [...said, ...found];
}

type Rounds = number[][];

/**
 * All candidates in turn, round by round. Each has a few processes, one after the other, since what a compiler makes of the same
 * code differs from one to the next.
 */
async function measureTimed(run: RoomRun): Promise<PeerRow[]> {
  const { timed } = definitions[run.room];
  const measured = new Map(timed.map(({ row }) => [row, new Map<Candidate, Rounds | Failure | { none: string }>()]));
  const processes = Math.min(PROCESSES, run.rounds);
  for (let i = 0; i < processes; i++) {
    const rounds = Math.floor(run.rounds / processes) + (i < run.rounds % processes ? 1 : 0);
    await measureOnce(run, rounds, measured);
  }
  return [...measured].map(([row, of]): PeerRow => {
    const figures = run.candidates.map((candidate): PeerFigure => {
      const peer = candidate.name;
      const outcome = of.get(candidate) ?? run.gone.get(candidate) ?? { failed: "it was not measured" };
      return Array.isArray(outcome) ? { peer, ...figureOf(outcome) } : { peer, ...outcome };
    });
    return { table: "time", row, unit: "ns", isMoreBetter: false, figures };
  });
}

/** Some rounds of all rows, in one process of each candidate. */
async function measureOnce(
  run: RoomRun,
  rounds: number,
  measured: ReadonlyMap<string, Map<Candidate, Rounds | Failure | { none: string }>>,
): Promise<void> {
  const hosts = new Map<Candidate, { readonly host: HostProcess; readonly rows: readonly string[] }>();
  const inTurn = run.candidates.toSorted((a, b) => order(a) - order(b));
  const start = async (candidate: Candidate): Promise<void> => {
    const host = new HostProcess(run.room, candidate.name, mkdtempSync(join(run.folder, "root-")), "measure");
    const told = await host.next();
    if (told?.kind === "opened") hosts.set(candidate, { host, rows: told.rows });
    else {
      run.gone.set(candidate, run.failure(candidate, "did not start", reasonIn(told)));
      await host.end();
    }
  };
  for (const candidate of inTurn) if (!run.gone.has(candidate)) await start(candidate);
  for (const [row, of] of measured) {
    run.say(row);
    for (let round = -1; round < rounds; round++) {
      for (const candidate of inTurn) {
        const { host, rows = [] } = hosts.get(candidate) ?? {};
        const none = candidate.without?.[row] ?? (rows.includes(row) ? undefined : "it has no such operation");
        const before = of.get(candidate) ?? [];
        if (host === undefined || !Array.isArray(before)) continue;
        if (none !== undefined) {
          of.set(candidate, { none });
          continue;
        }
        host.ask({ row, time: round < 0 ? WARM_UP : TURN, fewest: FEWEST });
        const told = await host.next();
        if (told?.kind === "samples") {
          if (round >= 0) of.set(candidate, [...before, [...told.nanoseconds]]);
          continue;
        }
        of.set(candidate, run.failure(candidate, `failed at "${row}"`, reasonIn(told)));
        await host.end();
        hosts.delete(candidate);
        await start(candidate); // What failed may have left anything behind.
      }
    }
  }
  for (const { host } of hosts.values()) await host.end();
}

function figureOf(rounds: Rounds) {
  const sorted = ascending(rounds.flat());
  const [middle, min] = [quantile(sorted, 0.5), quantile(sorted, 0)];
  return { median: middle, min, samples: sorted.length, rounds: rounds.map(median) };
}

/** Figures that are read in a process of their own, once a round. */
async function measureReadings(run: RoomRun): Promise<PeerRow[]> {
  const { readings } = definitions[run.room];
  const failures = new Map<string, Failure>();
  for (let round = 0; round < run.rounds; round++) {
    for (const candidate of run.candidates) {
      for (const { name, rows } of readings) {
        const key = `${candidate.name}: ${name}`;
        const isWithout = rows.every(({ row }) => candidate.without?.[row] !== undefined);
        if (run.gone.has(candidate) || failures.has(key) || isWithout) continue;
        run.say(`${key}, round ${round + 1}`);
        const host = new HostProcess(run.room, candidate.name, mkdtempSync(join(run.folder, "root-")), "read", name);
        const told = await host.next();
        await host.end();
        if (told?.kind === "read") {
          const all = run.readings.get(key) ?? {};
          for (const [figure, value] of Object.entries(told.readings)) all[figure] = [...(all[figure] ?? []), value];
          run.readings.set(key, all);
        } else failures.set(key, run.failure(candidate, `failed at ${name}`, reasonIn(told)));
      }
    }
  }
  return readings.flatMap(({ name, rows }) =>
    rows.map(({ figure, ...row }): PeerRow => {
      const figures = run.candidates.map((candidate): PeerFigure => {
        const peer = candidate.name;
        const none = candidate.without?.[row.row];
        const key = `${peer}: ${name}`;
        const failure = run.gone.get(candidate) ?? failures.get(key);
        if (failure !== undefined) return { peer, ...failure };
        if (none !== undefined) return { peer, none };
        const all = run.readings.get(key)?.[figure];
        return {
          peer,
          ...(all === undefined ? { failed: "it was not measured" } : figureOf(all.map((each) => [each]))),
        };
      });
      return { table: "time", ...row, figures };
    }),
  );
}
