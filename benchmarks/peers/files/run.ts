import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { describeMachine } from "../../harness/machine";
import { adopt, endByForce } from "../children";
import { type Failure, figureOf, type PeerRow } from "../results";
import { type Candidate, notInstalled, type RoomRun, versionsOf } from "../room";
import { candidates, type FilePeer, openPeer } from "./peer";
import type { FilePeerResult, FilePeerResults, Race } from "./results";
import { type Operation, operations } from "./rows";

/** Of one candidate, of one operation, in one round, in milliseconds. */
const TURN = 40;
const FEWEST = 3;
/** A FIFO that was not refused by then never will be, in milliseconds; starting is not counted. */
const PATIENCE = 3_000;
/** For a candidate to start, in milliseconds. */
const START = 30_000;

interface Runner {
  readonly candidate: Candidate;
  readonly root: string;
  readonly peer: FilePeer | Failure;
}

/** Measures the tools for files beside each other, and attacks each. */
export async function measureFiles(run: RoomRun): Promise<FilePeerResults> {
  const { root, folder, rounds, seconds, say } = run;
  const gone = notInstalled(run, candidates);
  const runners: Runner[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const own = join(folder, `root-${index}`);
    mkdirSync(own);
    runners.push({ candidate, root: own, peer: gone.get(candidate) ?? (await started(run, candidate, own)) });
  }
  const rows = new Map<Runner, PeerRow[]>(runners.map((runner) => [runner, []]));
  for (const operation of operations) {
    say(operation.row);
    for (const [runner, figure] of await compare(run, operation, runners)) {
      rows.get(runner)?.push({ row: operation.row, figure });
    }
  }
  for (const { peer } of runners) if (!("failed" in peer)) await peer.close();
  const peers: FilePeerResult[] = [];
  for (const runner of runners) {
    const { name, how } = runner.candidate;
    say(`attacks on ${name}`);
    const isThere = !("failed" in runner.peer);
    peers.push({
      name,
      how,
      packages: await versionsOf(runner.candidate),
      rows: rows.get(runner) ?? [],
      race: isThere ? await race(run, runner.candidate) : { failed: (runner.peer as Failure).failed },
      fifo: isThere ? await fifo(run, runner.candidate) : { failed: (runner.peer as Failure).failed },
    });
  }
  say("");
  return { machine: describeMachine(root), rounds, seconds, peers };
}

/** All candidates in turn, round by round. */
async function compare(
  { rounds, failure }: RoomRun,
  operation: Operation,
  runners: readonly Runner[],
): Promise<Map<Runner, PeerRow["figure"]>> {
  const figures = new Map<Runner, PeerRow["figure"]>();
  const running = new Map<Runner, { readonly peer: FilePeer; readonly samples: number[]; done: number }>();
  for (const runner of runners) {
    const { peer } = runner;
    if ("failed" in peer) figures.set(runner, peer);
    else if (operation.isOf?.(peer) === false) figures.set(runner, null);
    else {
      operation.prepare(runner.root);
      running.set(runner, { peer, samples: [], done: 0 });
    }
  }
  for (let round = -1; round < rounds; round++) {
    Bun.gc(true);
    for (const [runner, state] of running) {
      try {
        const end = performance.now() + TURN;
        for (let i = 0; i < FEWEST || performance.now() < end; i++) {
          const before = Bun.nanoseconds();
          await operation.run(state.peer, state.done);
          const taken = Bun.nanoseconds() - before;
          state.done++;
          if (round >= 0) state.samples.push(taken); // The first round warms up.
        }
        operation.verify?.(runner.root, state.done);
      } catch (error) {
        running.delete(runner);
        figures.set(runner, failure(runner.candidate, `failed at "${operation.row}"`, error));
      }
    }
  }
  for (const [runner, { samples }] of running) figures.set(runner, figureOf(samples));
  return figures;
}

async function started({ failure }: RoomRun, candidate: Candidate, own: string): Promise<FilePeer | Failure> {
  try {
    return await openPeer(candidate, own);
  } catch (error) {
    return failure(candidate, "did not start", error);
  }
}

async function race(run: RoomRun, candidate: Candidate): Promise<Race | Failure> {
  const { seconds } = run;
  const outcome = await attack(run, candidate, ["race", candidate.name, String(seconds)], seconds * 1_000 + START);
  return outcome === "hangs" ? run.failure(candidate, "did not end its race", "it hung") : (outcome as Race | Failure);
}

async function fifo(run: RoomRun, candidate: Candidate): Promise<FilePeerResult["fifo"]> {
  const outcome = await attack(run, candidate, ["fifo", candidate.name], PATIENCE);
  return outcome === "hangs" ? { answer: "hangs" } : (outcome as FilePeerResult["fifo"]);
}

/** What the attack printed; `hangs` where nothing came within `patience` milliseconds of its start. */
async function attack(
  { folder, failure }: RoomRun,
  candidate: Candidate,
  args: readonly string[],
  patience: number,
): Promise<object | "hangs"> {
  const own = mkdtempSync(join(folder, "attack-"));
  // A process group of its own: what a candidate started ends with it.
  const child = adopt(
    Bun.spawn([process.execPath, join(import.meta.dir, "attack.ts"), own, ...args], {
      stdout: "pipe",
      stderr: "pipe",
      stdin: "ignore",
      detached: true,
    }),
  );
  const lines = linesOf(child.stdout);
  try {
    const first = await within(START, lines.next());
    const second = first?.value === "started" ? await within(patience, lines.next()) : undefined;
    if (second?.value !== undefined) return JSON.parse(second.value) as object; // Printed by attack.ts.
    if (first?.value === "started" && second === undefined) return "hangs";
    return failure(candidate, `failed under attack (${args[0]})`, (await child.stderr.text()).trim());
  } finally {
    endByForce(child);
    await child.exited;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}

async function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, milliseconds, undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
