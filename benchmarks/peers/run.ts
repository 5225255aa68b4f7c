/**
 * Measures envoi beside its peers: actors, tools for files and for code. Writes `benchmarks/results/peers-*.json` and the pages
 * that are made from them; or, with `--out`, `peers-*.json` and `peers.md` to a folder.
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
import { measureRoom } from "./measure";
import { renderPeers } from "./page";
import { endAll } from "./processes";
import { keep, RESULTS, ROOMS, readPeers } from "./results";

const root = join(import.meta.dir, "../..");
const usage = `bench:peers takes --only ${ROOMS.join(", ")}; --rounds, a number above 0; and --out, a folder.`;

const fail = (text: string): never => {
  console.error(text);
  process.exit(2);
};

function readArguments() {
  try {
    const options = { only: { type: "string" }, rounds: { type: "string" }, out: { type: "string" } } as const;
    const { only, rounds = "9", out } = parseArgs({ options }).values;
    const rooms = ROOMS.filter((room) => only === undefined || room === only);
    return rooms.length > 0 && /^[1-9]\d*$/.test(rounds) ? { rooms, rounds: Number(rounds), out } : fail(usage);
  } catch {
    return fail(usage);
  }
}

const say = (text: string): void => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`));

const { rooms, rounds, out } = readArguments();
if (out !== undefined) await expectFolder(out).catch((error: Error) => fail(error.message));

const folder = mkdtempSync(join(tmpdir(), "envoi-peers-"));
let isInterrupted = false;
const leave = async (): Promise<void> => {
  await endAll();
  rmSync(folder, { recursive: true, force: true });
};
onEnding(
  () => {
    isInterrupted = true;
    void leave().finally(() => process.exit(130));
  },
  () => {}, // To end all by force takes a moment, and whoever is impatient waits for that.
);
try {
  // Why the packages are not there: a test says so without trying.
  const missing = process.env["ENVOI_PEERS_MISSING"] ?? (await installIn(import.meta.dir));
  // The hosts run where envoi is the built one: what is measured is what is shipped.
  const host = join(await layOut(root, { withPeers: true }), "benchmarks/peers/host.ts");
  for (const room of rooms) {
    const asked = { root, host, folder, rounds, say, ...(missing !== undefined && { missing }) };
    const results = await measureRoom(room, asked);
    if (isInterrupted) throw new Error("interrupted"); // Its last figures are of processes that were ended.
    await keep(out ?? RESULTS, results);
    say("");
  }
} catch (error) {
  if (isInterrupted) await new Promise(() => {}); // Whoever was told of it ends the process.
  throw error;
} finally {
  await leave();
}
const page = renderPeers(await readPeers(out));
if (out === undefined) await writePages(root);
else await Bun.write(join(out, "peers.md"), page);
console.log(page);
