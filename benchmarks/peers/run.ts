/**
 * Measures envoi beside its peers: actors, tools for files and for code.
 * `bun run bench:peers [--only actors|files|code] [--rounds N] [--seconds N] [--check] [--out FOLDER]`
 * writes `benchmarks/results/peers-*.json` and the pages that are made from them; or `peers-*.json` and `peers.md` to the folder.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installIn } from "../../scripts/ensure-installed";
import { expectFolder } from "../harness/arguments";
import { writePages } from "../harness/documents";
import { onEnding } from "../harness/processes";
import { layOut } from "../harness/shipped";
import { renderPeers } from "./page";
import { keep, RESULTS, ROOMS, readPeers } from "./results";
import type { Asked, Candidate } from "./room";
import { missed } from "./standing";

const root = join(import.meta.dir, "../..");
/** What the process that measures is told: that the candidates are installed, or why they are not. */
const MISSING = "ENVOI_PEERS_MISSING";

const usage = `bench:peers takes --only ${ROOMS.join(", ")}; --rounds and --seconds, numbers above 0; --check, of actors; and --out, a folder.`;
const options = readArguments();

process.exit(process.env[MISSING] === undefined ? await installAndMeasure() : await measure(process.env[MISSING]));

function readArguments() {
  if (process.argv.includes("--help")) {
    console.log(usage);
    process.exit(0);
  }
  const fail = (): never => {
    console.error(usage);
    process.exit(2);
  };
  try {
    const { values } = parseArgs({
      options: {
        seconds: { type: "string", default: "5" },
        rounds: { type: "string", default: "9" },
        only: { type: "string" },
        check: { type: "boolean", default: false },
        out: { type: "string" },
      },
    });
    const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
    const only = ROOMS.find((room) => room === values.only);
    if (!(seconds > 0) || !(Number.isInteger(rounds) && rounds > 0) || only !== values.only) return fail();
    if (values.check && (only ?? "actors") !== "actors") return fail();
    return { seconds, rounds, rooms: only === undefined ? ROOMS : [only], check: values.check, out: values.out };
  } catch {
    return fail();
  }
}

/** A process that has looked for a package does not find it once it is installed: a fresh one measures. */
async function installAndMeasure(): Promise<number> {
  if (options.out !== undefined) {
    const complaint = await expectFolder(options.out).catch((error: Error) => error.message);
    if (complaint !== undefined) {
      console.error(complaint);
      return 2;
    }
  }
  const missing = (await installIn(import.meta.dir)) ?? "";
  const child = Bun.spawn([process.execPath, import.meta.path, ...process.argv.slice(2)], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, [MISSING]: missing },
  });
  // A terminal tells both of Ctrl-C; whoever tells this one alone means the other.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return child.exited;
}

async function measure(missing: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "envoi-peers-"));
  let measuring: typeof import("./measure") | undefined;
  let isInterrupted = false;
  const leave = async (): Promise<void> => {
    await measuring?.endAll();
    rmSync(folder, { recursive: true, force: true });
  };
  onEnding(
    () => {
      isInterrupted = true;
      void leave().finally(() => process.exit(130));
    },
    () => {}, // To end all by force takes a moment, and whoever is impatient waits for that.
  );
  const shipped = await layOut(root, { withPeers: true });
  const { seconds, rounds } = options;
  const run: Asked = {
    root,
    folder,
    rounds,
    seconds,
    missing: missing || undefined,
    say,
    failure: failureIn(folder, shipped),
  };
  try {
    // What is measured is what is shipped: imported from where envoi is the built one.
    measuring = (await import(join(shipped, "benchmarks/peers/measure.ts"))) as typeof import("./measure"); // It is a copy of it.
    for (const room of options.rooms) {
      const results = await measuring.measureRoom(room, run);
      if (isInterrupted) return await new Promise(() => {}); // Whoever was told of it ends the process.
      await keep(options.out ?? RESULTS, results);
      say("");
    }
  } finally {
    await leave();
  }
  const peers = await readPeers(options.out);
  const page = renderPeers(peers);
  if (options.out === undefined) await writePages(root);
  else await Bun.write(join(options.out, "peers.md"), page);
  console.log(page);
  const checked = peers.filter(({ room }) => options.check && room === "actors" && options.rooms.includes(room));
  const misses = checked.flatMap(missed);
  for (const miss of misses) console.error(miss);
  return misses.length > 0 ? 1 : 0;
}

/** Tells of failures without an address, or a folder of this machine. */
function failureIn(folder: string, shipped: string) {
  return ({ name }: Candidate, what: string, reason: unknown) => {
    const lines = (reason instanceof Error ? reason.message : String(reason)).split("\n").filter((line) => line.trim());
    const line = lines.find((each) => /error/i.test(each)) ?? lines[0] ?? "no reason given";
    const shown = line
      .trim()
      .replace(/\w+:\/\/\S+/g, "…")
      .replace(/\.$/, "")
      .replaceAll(folder, "…")
      .replaceAll(shipped, ".")
      .replaceAll(root, ".");
    return { failed: `${name} ${what}: ${shown}` };
  };
}

function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
