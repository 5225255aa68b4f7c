import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { canSeeProcesses, descendants, processorTime, residentBytes } from "../harness/processes";
import { median } from "../harness/statistics";
import { checks } from "./actors/checks";
import { NO_ASK } from "./actors/peer";
import { attacks } from "./code";
import { HostProcess, reasonIn } from "./processes";
import type { PeerFigure, PeerRow, Room } from "./results";
import type { Candidate, RoomRun, Told } from "./room";
import { YIELDS } from "./standing";

/** What a room tries on its candidates beside its rows. */
export type Trials = (run: RoomRun) => Promise<PeerRow[]>;

type Outcome = { readonly median: number } | { readonly says: string } | { readonly holds: boolean };

/** A row whose figures are found one after the other, each of a candidate that is there. */
async function rowOf(
  run: RoomRun,
  row: Pick<PeerRow, "table" | "row" | "unit" | "isMoreBetter">,
  find: (candidate: Candidate) => Promise<Outcome | { readonly failed: string } | { readonly none: string }>,
): Promise<PeerRow> {
  const figures: PeerFigure[] = [];
  for (const candidate of run.candidates) {
    const none = candidate.without?.[row.row];
    const known = run.gone.get(candidate) ?? (none === undefined ? undefined : { none });
    figures.push({ peer: candidate.name, ...(known ?? (await find(candidate))) });
  }
  return { ...row, figures };
}

/** A process with a folder of its own. */
const hostOf = ({ room, folder }: RoomRun, { name }: Candidate, ...args: readonly string[]): HostProcess =>
  new HostProcess(room, name, mkdtempSync(join(folder, "root-")), ...args);

/** Whoever leaves a timer less than this share of the ticks that it gets when idle starves it: it gets one or none then. */
const FAIR = 0.25;
/** For a check, in milliseconds. */
const CHECKED = 30_000;

/** Finds out what libraries of actors do not do. */
const checkActors: Trials = async (run) => {
  const rows: PeerRow[] = [];
  const shape = { table: "checks", unit: "", isMoreBetter: true } as const;
  for (const { name, isOfAsks } of checks) {
    run.say(name);
    const row = await rowOf(run, { ...shape, row: name }, async (candidate) => {
      if (isOfAsks && candidate.said?.includes(NO_ASK)) return { none: NO_ASK };
      const host = hostOf(run, candidate, "check", name);
      const told = await host.next(CHECKED);
      await host.end();
      if (told?.kind === "ended") return { holds: told.words === "holds" };
      return run.failure(candidate, `could not be checked for "${name}"`, reasonIn(told));
    });
    rows.push(row);
  }
  const fair = await rowOf(run, { ...shape, row: YIELDS }, async (candidate) => {
    const { ticks, idle } = run.readings.get(`${candidate.name}: fairness`) ?? {};
    if (ticks === undefined || idle === undefined) return { failed: `${candidate.name} failed at fairness` };
    return { holds: median(ticks) >= FAIR * median(idle) };
  });
  return [...rows, fair];
};

/** A FIFO that was not refused by then never will be, in milliseconds; starting is not counted. */
const HANGS = 3_000;

/** Swaps a directory under reads, and has a FIFO read. */
const attackFiles: Trials = async (run) => {
  const outcomes = new Map<string, Readonly<Record<string, number>> | { readonly failed: string }>();
  const shape = { table: "race", unit: "" } as const;
  const race = async (candidate: Candidate) => {
    const known = outcomes.get(candidate.name);
    if (known !== undefined) return known;
    run.say(`attacks on ${candidate.name}`);
    const told = await ended(run, candidate, ["race", String(run.seconds)], run.seconds * 1_000 + CHECKED);
    const outcome =
      told === "hangs"
        ? run.failure(candidate, "did not end its race", "it hung")
        : "failed" in told
          ? told
          : told.readings;
    outcomes.set(candidate.name, outcome);
    return outcome;
  };
  const count = (row: string, name: string, isMoreBetter: boolean) =>
    rowOf(run, { ...shape, row, isMoreBetter }, async (candidate) => {
      const outcome = await race(candidate);
      return isFailed(outcome) ? outcome : { median: outcome[name] ?? Number.NaN };
    });
  return [
    await count("reads that left the root", "escapes", false),
    await count("reads inside of it", "inside", true),
    await count("reads refused", "refused", false),
    await rowOf(run, { ...shape, row: "a FIFO that nobody writes to", isMoreBetter: true }, async (candidate) => {
      const told = await ended(run, candidate, ["fifo"], HANGS);
      if (told === "hangs") return { says: "hangs" };
      return "failed" in told ? told : { says: told.words };
    }),
  ];
};

const isFailed = (outcome: object): outcome is { readonly failed: string } => "failed" in outcome;

/** What came of a trial within so many milliseconds of its start. */
async function ended(run: RoomRun, candidate: Candidate, args: readonly string[], patience: number) {
  const host = hostOf(run, candidate, ...args);
  try {
    const first = await host.next();
    const told = first?.kind === "started" ? await host.next(patience) : first;
    if (told?.kind === "ended") return told;
    if (first?.kind === "started" && told === undefined && !host.hasEnded) return "hangs";
    return run.failure(candidate, `failed under attack (${args[0]})`, reasonIn(told));
  } finally {
    await host.end();
  }
}

/** An attack that is not over by then is not waited for, in milliseconds after its start. */
const OVER = 10_000;
/** Bytes, with which a candidate is killed before the machine suffers. */
const MOST_MEMORY = 6e9;
/** Between two looks at the memory of a candidate, in milliseconds. */
const LOOK = 10;
/** How long a candidate has to come to rest, and for how long it is then watched, in milliseconds. */
const REST = 500;
/** How much of a processor counts as being at rest. */
const AT_REST = 0.25;

/** What became of an attack, and of the process that was attacked, by the tables of the page. */
type Attacked = Readonly<Record<"ended" | "gap" | "memory" | "next", Outcome | { readonly none: string }>>;

const ASPECTS = [
  ["ended", "ms"],
  ["gap", "ms"],
  ["memory", "B"],
  ["next", "ms"],
] as const;

/** Runs code that is not meant to end, or to end well, one attack in each process. */
const attackCode: Trials = async (run) => {
  const outcomes = new Map<string, Attacked | { readonly failed: string }>();
  const rows: PeerRow[] = [];
  for (const [table, unit] of ASPECTS) {
    for (const { name: attack } of attacks) {
      const row = await rowOf(run, { table, row: attack, unit, isMoreBetter: false }, async (candidate) => {
        const key = `${candidate.name}: ${attack}`;
        const outcome = outcomes.get(key) ?? (await attacked(run, candidate, attack));
        outcomes.set(key, outcome);
        return isFailed(outcome) ? outcome : outcome[table];
      });
      rows.push(row);
    }
  }
  return rows;
};

const sumOver = (pid: number, of: (pid: number) => number): number =>
  [pid, ...descendants(pid)].reduce((sum, each) => sum + of(each), 0);

async function attacked(
  run: RoomRun,
  candidate: Candidate,
  attack: string,
): Promise<Attacked | { readonly failed: string }> {
  run.say(`${candidate.name}: ${attack}`);
  const host = hostOf(run, candidate, "attack", attack);
  let timer: ReturnType<typeof setInterval> | undefined;
  try {
    const first = await host.next();
    if (first?.kind !== "started") return run.failure(candidate, "did not start under attack", reasonIn(first));
    const start = performance.now();
    const before = sumOver(host.pid, residentBytes);
    let peak = before;
    timer = setInterval(() => {
      const bytes = sumOver(host.pid, residentBytes);
      peak = Math.max(peak, bytes);
      if (bytes > MOST_MEMORY) void host.end();
    }, LOOK);
    const memory = () => (canSeeProcesses ? { median: peak, min: before } : { none: "it cannot be seen here" });
    let gap = 0;
    let heard = start;
    let told: Told | undefined;
    for (;;) {
      told = await host.next(start + OVER - performance.now());
      if (told?.kind !== "beat") break;
      gap = told.gap;
      heard = performance.now();
    }
    if (told?.kind !== "ended") {
      // It could not tell any more since when it was still.
      const silence = Math.max(gap, performance.now() - heard);
      const hasDied = host.hasEnded && peak <= MOST_MEMORY;
      const says = hasDied ? "its process died" : `not in ${OVER / 1_000} s`;
      return { ended: { says }, gap: { median: silence }, memory: memory(), next: { says: "no" } };
    }
    const { after = Number.NaN, gap: longest = gap } = told.readings;
    const ending = { median: after, ...(told.words !== "" && { note: told.words }) };
    const next = await host.next(OVER);
    const usable = next?.kind === "read" ? next.readings["after"] : undefined;
    clearInterval(timer);
    await Bun.sleep(REST);
    const [work, watched] = [sumOver(host.pid, processorTime), performance.now()];
    await Bun.sleep(REST);
    const busy = (sumOver(host.pid, processorTime) - work) / (performance.now() - watched);
    const isBusy = canSeeProcesses && busy > AT_REST;
    const note = isBusy ? { note: `${Number(busy.toPrecision(3))} of a processor still at work` } : {};
    const again = usable === undefined ? { says: "no" } : { median: usable, ...note };
    return { ended: ending, gap: { median: longest }, memory: memory(), next: again };
  } finally {
    clearInterval(timer);
    await host.end();
  }
}

export const trials: Readonly<Record<Room, Trials>> = { actors: checkActors, files: attackFiles, code: attackCode };
