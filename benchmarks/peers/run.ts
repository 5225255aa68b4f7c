/** Measures envoi beside its peers: writes `benchmarks/results/peers-*.json` and pages, or, with `--out`, to a folder. */
import { join } from "node:path";
import { installIn } from "../../scripts/ensure-installed";
import { expectFolder, readOptions, text, UsageError } from "../harness/arguments";
import { writePages } from "../harness/documents";
import { disk, makeFolder, writeWhole } from "../harness/places";
import { unlessInterrupted } from "../harness/processes";
import { layOut } from "../harness/shipped";
import { runInTerminal, type Status, settle, type Terminal } from "../harness/terminal";
import { measureRoom } from "./measure";
import { renderPeers } from "./page";
import { keep, type PeerResults, RESULTS, ROOMS, readPeers } from "./results";

function readArguments(argv: readonly string[]) {
  const options = { only: text, rounds: text, out: text };
  const { only, rounds = "9", out } = readOptions({ args: [...argv], options }).values;
  const rooms = ROOMS.filter((room) => only === undefined || room === only);
  if (rooms.length > 0 && /^[1-9]\d*$/.test(rounds)) return { rooms, rounds: Number(rounds), out };
  throw new UsageError(`--only takes ${ROOMS.join(", ")}; --rounds a number above 0.`);
}

async function main(argv: readonly string[], around: Terminal): Promise<Status> {
  const { root, signal } = around;
  const { rooms, rounds, out } = readArguments(argv);
  if (out !== undefined) await expectFolder(out);
  const folder = makeFolder(disk, "envoi-peers-").path;
  // Why the packages are not there: a test says so without trying.
  const missing = process.env["ENVOI_PEERS_MISSING"] ?? (await unlessInterrupted(installIn(import.meta.dir), signal));
  if (missing !== undefined && out === undefined)
    throw new UsageError(
      `The packages of the others are not installed, so results are taken by --out FOLDER alone: ${missing}`,
    );
  // The hosts run where envoi is the built one: what is measured is what is shipped.
  const laidOut = await unlessInterrupted(layOut(root, { withPeers: true }), signal);
  const host = join(laidOut, "benchmarks/peers/host.ts");
  const all: PeerResults[] = [];
  for (const room of rooms) all.push(await measureRoom(room, { around, host, folder, rounds, missing }));
  around.progress("");
  await keep(out ?? RESULTS, all);
  const page = renderPeers(await readPeers(out));
  if (out === undefined) await writePages(root);
  else await writeWhole([[join(out, "peers.md"), page]]);
  around.out(`${page}\n`);
  return 0;
}

await runInTerminal(join(import.meta.dir, "../.."), (around) =>
  settle(around, () => main(process.argv.slice(2), around)),
);
