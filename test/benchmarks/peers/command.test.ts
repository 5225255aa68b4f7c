import { afterEach, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canSeeProcesses, descendants } from "../../../benchmarks/harness/processes";
import { readPeers } from "../../../benchmarks/peers/results";
import { isLong } from "../../property/runs";

const root = join(import.meta.dir, "../../..");
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Starts the command where no package can be installed, with a temporary folder of its own, and one for its results. */
async function start(...args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), "envoi-peers-command-"));
  const out = await mkdtemp(join(tmpdir(), "envoi-peers-out-"));
  folders.push(folder, out);
  const child = Bun.spawn([process.execPath, join(root, "benchmarks/peers/run.ts"), "--out", out, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: folder, ENVOI_PEERS_MISSING: "error: they are not to be had" },
  });
  return { child, folder, out };
}

test("a wrong command line ends with status 2 and says what there is", async () => {
  const usage = "--only takes actors, files, code, http, acp; --rounds a number above 0.\n";
  for (const [args, complaint] of [
    [["--only", "toys"], usage],
    [["--rounds", "0"], usage],
    [["--quick"], "Unknown option '--quick'. There are --only …, --rounds …, --out ….\n"],
    [["--out", "/dev/null/there"], "--out /dev/null/there: nothing can be written there"],
  ] as const) {
    const { child } = await start(...args);
    expect(await child.stderr.text()).toStartWith(complaint);
    expect(await child.exited).toBe(2);
  }
});

test("without packages, the results of a run that had them stay as they are", async () => {
  const child = Bun.spawn([process.execPath, join(root, "benchmarks/peers/run.ts"), "--only", "http"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ENVOI_PEERS_MISSING: "error: they are not to be had" },
  });
  const [err, status] = await Promise.all([child.stderr.text(), child.exited]);
  const told =
    "The packages of the others are not installed, so results are taken by --out FOLDER alone: error: they are";
  expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining(told) });
});

test.if(canSeeProcesses)("Ctrl-C ends it with all that it started, and nothing is written", async () => {
  const { child, folder, out } = await start("--only", "actors");
  let started: readonly number[] = [];
  const lineOf = (pid: number): Promise<string> => Bun.file(`/proc/${pid}/cmdline`).text().catch(String); // It may be gone.
  for (let isMeasuring = false; !isMeasuring; await Bun.sleep(10)) {
    started = descendants(child.pid);
    isMeasuring = (await Promise.all(started.map(lineOf))).some((line) => line.includes("peers/host.ts"));
  }
  // More than once, as a terminal and `bun run` tell it.
  for (let times = 0; times < 3; times++, await Bun.sleep(5)) child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  for (const pid of started) expect(() => process.kill(pid, 0)).toThrow();
  expect([...(await readdir(folder)), ...(await readdir(out))]).toEqual([]);
});

// About a minute, of which the rows take most.
test.if(isLong)(
  "a run without packages measures what needs none, and says that the others were not installed",
  async () => {
    const { child, folder, out } = await start("--only", "actors", "--rounds", "1");
    const [page, status] = await Promise.all([child.stdout.text(), child.exited]);
    expect([status, await readdir(folder)]).toEqual([0, []]);
    expect(page).toContain("- nact was not installed: error: they are not to be had.");
    const [actors] = await readPeers(out);
    const own = actors?.rows.flatMap(({ figures }) => figures.filter(({ peer }) => peer === "envoi")) ?? [];
    const lacking = own.filter((figure) => !("median" in figure) && !("holds" in figure && figure.holds));
    expect([own.length, lacking]).toEqual([16, []]);
  },
  300_000,
);
