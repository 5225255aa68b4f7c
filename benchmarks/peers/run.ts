/**
 * Measures tools for files and for code beside each other, and attacks each:
 * `bun run bench:peers [--only files|code] [--seconds N] [--rounds N]`. Writes `benchmarks/results/peers-*.json` and
 * `benchmarks/peers/RESULTS.md`.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installIn } from "../../scripts/ensure-installed";
import { describeMachine } from "../harness/machine";
import { ascending, quantile } from "../harness/statistics";
import type { CodePeerResults } from "./code/results";
import { measureCode } from "./code/run";
import { renderPeers } from "./page";
import { type Candidate, candidates, openPeer, type Peer } from "./peer";
import type { Failure, PeerResult, PeerResults, PeerRow, Race } from "./results";
import { type Operation, operations } from "./rows";

const root = join(import.meta.dir, "../..");
/** Of one candidate, of one operation, in one round, in milliseconds. */
const TURN = 40;
const FEWEST = 3;
/** A FIFO that was not refused by then never will be, in milliseconds; starting is not counted. */
const PATIENCE = 3_000;
/** For a candidate to start, in milliseconds. */
const START = 30_000;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "9" },
    only: { type: "string" },
    /** Why the candidates were not installed, or empty: for the process that measures. */
    missing: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const { only } = values;
if (!(seconds > 0) || !(Number.isInteger(rounds) && rounds > 0) || !["files", "code", undefined].includes(only)) {
  console.error("bench:peers takes --only files or code, and --seconds and --rounds, numbers above 0.");
  process.exit(2);
}

if (values.missing === undefined) {
  // A process that has looked for a package does not find it once it is installed: a fresh one measures.
  const missing = (await installIn(import.meta.dir)) ?? "";
  const command = [process.execPath, import.meta.path, ...process.argv.slice(2), `--missing=${missing}`];
  process.exit(Bun.spawnSync(command, { stdio: ["ignore", "inherit", "inherit"] }).exitCode);
}

const folder = mkdtempSync(join(tmpdir(), "envoi-peers-"));
try {
  const missing = values.missing === "" ? undefined : values.missing;
  if (only !== "code") await keep("files", await measure(missing));
  if (only !== "files") await keep("code", await measureCode({ root, rounds, missing, say, failure, versionOf }));
  const page = renderPeers(await kept<PeerResults>("files"), await kept<CodePeerResults>("code"));
  await Bun.write(join(import.meta.dir, "RESULTS.md"), page);
  console.log(page);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0); // Whatever a candidate left behind.

function fileOf(part: "files" | "code"): string {
  return join(root, `benchmarks/results/peers-${part}.json`);
}

async function keep(part: "files" | "code", results: PeerResults | CodePeerResults): Promise<void> {
  await Bun.write(fileOf(part), `${JSON.stringify(results, rounded, 2)}\n`);
}

/** What was measured last, now or before. */
async function kept<Results>(part: "files" | "code"): Promise<Results> {
  return (await Bun.file(fileOf(part)).json()) as Results; // Written by `keep`.
}

interface Runner {
  readonly candidate: Candidate;
  readonly root: string;
  readonly peer: Peer | Failure;
}

async function measure(missing: string | undefined): Promise<PeerResults> {
  const runners: Runner[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const own = join(folder, `root-${index}`);
    mkdirSync(own);
    const reason = candidate.packages.length > 0 ? missing : undefined;
    const peer = reason === undefined ? await started(candidate, own) : failure(candidate, "was not installed", reason);
    runners.push({ candidate, root: own, peer });
  }
  const rows = new Map<Runner, PeerRow[]>(runners.map((runner) => [runner, []]));
  for (const operation of operations) {
    say(operation.row);
    for (const [runner, figure] of await compare(operation, runners)) {
      rows.get(runner)?.push({ row: operation.row, figure });
    }
  }
  for (const { peer } of runners) if (!("failed" in peer)) await peer.close();
  const peers: PeerResult[] = [];
  for (const runner of runners) {
    const { name, how, packages } = runner.candidate;
    say(`attacks on ${name}`);
    const isThere = !("failed" in runner.peer);
    peers.push({
      name,
      how,
      packages: await Promise.all(packages.map(versionOf)),
      rows: rows.get(runner) ?? [],
      race: isThere ? await race(runner.candidate) : { failed: (runner.peer as Failure).failed },
      fifo: isThere ? await fifo(runner.candidate) : { failed: (runner.peer as Failure).failed },
    });
  }
  say("");
  return { machine: describeMachine(root), rounds, seconds, peers };
}

/** All candidates in turn, round by round. */
async function compare(operation: Operation, runners: readonly Runner[]): Promise<Map<Runner, PeerRow["figure"]>> {
  const figures = new Map<Runner, PeerRow["figure"]>();
  const running = new Map<Runner, { readonly peer: Peer; readonly samples: number[]; done: number }>();
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
  for (const [runner, { samples }] of running) {
    const sorted = ascending(samples);
    figures.set(runner, { median: quantile(sorted, 0.5), min: quantile(sorted, 0), samples: sorted.length });
  }
  return figures;
}

async function started(candidate: Candidate, own: string): Promise<Peer | Failure> {
  try {
    return await openPeer(candidate, own);
  } catch (error) {
    return failure(candidate, "did not start", error);
  }
}

async function race(candidate: Candidate): Promise<Race | Failure> {
  const outcome = await attack(candidate, ["race", candidate.name, String(seconds)], seconds * 1_000 + START);
  return outcome === "hangs" ? failure(candidate, "did not end its race", "it hung") : (outcome as Race | Failure);
}

async function fifo(candidate: Candidate): Promise<PeerResult["fifo"]> {
  const outcome = await attack(candidate, ["fifo", candidate.name], PATIENCE);
  return outcome === "hangs" ? { answer: "hangs" } : (outcome as PeerResult["fifo"]);
}

/** What the attack printed; `hangs` where nothing came within `patience` milliseconds of its start. */
async function attack(candidate: Candidate, args: readonly string[], patience: number): Promise<object | "hangs"> {
  const own = mkdtempSync(join(folder, "attack-"));
  // A process group of its own: what a candidate started ends with it.
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "attack.ts"), own, ...args], {
    stdout: "pipe",
    stderr: "pipe",
    stdin: "ignore",
    detached: true,
  });
  const lines = linesOf(child.stdout);
  try {
    const first = await within(START, lines.next());
    const second = first?.value === "started" ? await within(patience, lines.next()) : undefined;
    if (second?.value !== undefined) return JSON.parse(second.value) as object; // Printed by attack.ts.
    if (first?.value === "started" && second === undefined) return "hangs";
    return failure(candidate, `failed under attack (${args[0]})`, (await child.stderr.text()).trim());
  } finally {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
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

/** A failure as the page tells it, without an address, or a folder of this machine. */
function failure({ name }: Candidate, what: string, reason: unknown): Failure {
  const lines = (reason instanceof Error ? reason.message : String(reason)).split("\n").filter((line) => line.trim());
  const line = lines.find((each) => /error/i.test(each)) ?? lines[0] ?? "no reason given";
  const shown = line
    .trim()
    .replace(/\w+:\/\/\S+/g, "…")
    .replaceAll(folder, "…")
    .replaceAll(root, ".");
  return { failed: `${name} ${what}: ${shown}` };
}

async function versionOf(name: string): Promise<string> {
  const file = Bun.file(join(import.meta.dir, "node_modules", name, "package.json"));
  if (!(await file.exists())) return `${name} (not installed)`;
  const { version } = (await file.json()) as { version: string }; // As every package has it.
  return `${name} ${version}`;
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}

function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
