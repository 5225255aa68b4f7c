import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { describeMachine } from "../harness/machine";
import { ascending, median, quantile } from "../harness/statistics";
import type { Terminal } from "../harness/terminal";
import { faultOf, WorkerProcess } from "../harness/worker";
import type { Outcome, PeerResults, PeerRow, RoomName } from "./results";
import type { Candidate, Reading, Task, Turn } from "./room";
import { rooms, versionsOf } from "./rooms";
import { FLOOR, SELF } from "./standing";

/** Of one candidate, of one row, in one round. */
const TURN = { time: 40, fewest: 3 };
/** Before the first round of a process: akkajs and effect need 600 ms until their code is compiled for good. */
const WARM_UP = { time: 1_000, fewest: 3 };
const PROCESSES = 3;

export interface Asked {
  /** The `host.ts` to run, beside the build that is measured. */
  readonly host: string;
  readonly folder: string;
  readonly rounds: number;
  /** Why the candidates' packages are not there, if they are not. */
  readonly missing: string | undefined;
  readonly around: Terminal;
}

export async function measureRoom(room: RoomName, asked: Asked): Promise<PeerResults> {
  // Some libraries come as a build for development otherwise, which is slower.
  process.env["NODE_ENV"] = "production";
  const { candidates, tasks } = rooms[room];
  const rows: PeerRow[] = [];
  for (const task of tasks) rows.push(...(await measureTask(room, task, asked)));
  const peers = candidates.map(async (candidate) => {
    const { name, how, isFloor = false } = candidate;
    return { name, how, packages: await versionsOf(candidate), isFloor };
  });
  const { around, rounds } = asked;
  return { room, machine: describeMachine(around.root), rounds, peers: await Promise.all(peers), rows };
}

/** The bare mailbox right after envoi, which is compared with it: what the machine does changes from one moment to the next. */
const order = ({ name }: Candidate): number => (name === SELF ? 0 : name === FLOOR ? 1 : 2);

async function measureTask(room: RoomName, task: Task<unknown>, asked: Asked): Promise<PeerRow[]> {
  const { candidates } = rooms[room];
  const readings = new Map(candidates.map((candidate) => [candidate, [] as (readonly Reading[])[]]));
  const instead = new Map<Candidate, Outcome>();
  for (const candidate of candidates) {
    if (asked.missing !== undefined && candidate.packages !== undefined)
      instead.set(candidate, failed(asked, candidate, "was not installed", asked.missing));
  }
  for (const rounds of batchesOf(task, asked.rounds)) {
    const hosts = new Map<Candidate, Host>();
    try {
      for (let round = task.kind === "timed" ? -1 : 0; round < rounds; round++) {
        for (const candidate of candidates.toSorted((a, b) => order(a) - order(b))) {
          if (instead.has(candidate)) continue;
          asked.around.progress(`${task.name}: ${candidate.name}`);
          const host = hosts.getOrInsertComputed(candidate, () => startHost(room, candidate, task, asked));
          try {
            const warmUp = { ...WARM_UP, fewest: task.warmUp ?? WARM_UP.fewest };
            const told = await takeTurn(host, round < 0 ? warmUp : TURN, task.late);
            if (round >= 0) readings.get(candidate)?.push(told);
            if (task.kind === "timed") continue; // Its process takes the next turn, too.
          } catch (error) {
            asked.around.signal.throwIfAborted();
            const { kind, why } = faultOf(error);
            const outcome =
              kind === "Lacks" ? { none: why } : failed(asked, candidate, `failed at "${task.name}"`, why);
            instead.set(candidate, outcome);
          }
          hosts.delete(candidate);
          await host.kill();
        }
      }
    } finally {
      for (const host of hosts.values()) await host.kill();
    }
  }
  return task.heads.map((head, index) => ({
    ...head,
    figures: candidates.map((candidate) => {
      const all = readings.get(candidate)?.map((each) => each[index] ?? { failed: "it was not told" }) ?? [];
      return { peer: candidate.name, ...(instead.get(candidate) ?? figureOf(all)) };
    }),
  }));
}

const PATIENCE = 60_000; // Milliseconds for a process to open its peer, or to take a turn.

type Host = WorkerProcess<Turn | null, readonly Reading[]>;

function startHost(room: RoomName, { name }: Candidate, task: Task<unknown>, { host, folder, around }: Asked): Host {
  const command = [host, room, name, mkdtempSync(join(folder, "root-")), task.name];
  // A group of its own: what a candidate started ends with it.
  return new WorkerProcess(command, { detached: true, stderr: "ignore", signal: around.signal });
}

async function takeTurn(host: Host, turn: Turn, late: Task<unknown>["late"]): Promise<readonly Reading[]> {
  await host.ask(null, PATIENCE);
  return host.ask(turn, late?.after ?? PATIENCE).catch((error) => {
    if (late === undefined || faultOf(error).kind !== "late") throw error;
    return late.readings;
  });
}

/** The rounds of a task, divided among its processes. */
function batchesOf({ kind }: Task<unknown>, rounds: number): number[] {
  if (kind !== "timed") return [kind === "read" ? rounds : 1];
  const processes = Math.min(PROCESSES, rounds);
  return Array.from({ length: processes }, (_, i) => Math.floor((rounds + i) / processes));
}

const isSamples = (reading: Reading): reading is readonly number[] => Array.isArray(reading);

function figureOf(readings: readonly Reading[]): Outcome {
  const outcome = readings.find((reading) => !isSamples(reading));
  if (outcome !== undefined && !isSamples(outcome)) return outcome;
  const rounds = readings.filter(isSamples);
  const sorted = ascending(rounds.flat());
  const [middle, min] = [quantile(sorted, 0.5), quantile(sorted, 0)];
  return { median: middle, min, samples: sorted.length, rounds: rounds.map(median) };
}

/** Tells of a failure without an address, or a folder of this machine. */
function failed({ folder, host, around }: Asked, { name }: Candidate, what: string, reason: string): Outcome {
  const lines = reason.split("\n").filter((line) => line.trim());
  const line = lines.find((each) => /error/i.test(each)) ?? lines[0] ?? "no reason given";
  const shown = line.trim().replace(/\w+:\/\/\S+|\.$/g, (found) => (found === "." ? "" : "…"));
  const places = [folder, join(host, "../../.."), around.root];
  return { failed: `${name} ${what}: ${places.reduce((text, place) => text.replaceAll(place, "…"), shown)}` };
}
