import { afterEach, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canSeeProcesses, descendants } from "../../../benchmarks/harness/processes";
import { layOut } from "../../../benchmarks/harness/shipped";
import { readPeers } from "../../../benchmarks/peers/results";
import { standingsOf } from "../../../benchmarks/peers/standing";
import { isLong } from "../../property/runs";

const command = join(import.meta.dir, "../../../benchmarks/peers/run.ts");

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Starts the command where no package can be installed, with a temporary folder of its own. */
async function start(...args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), "envoi-peers-command-"));
  folders.push(folder);
  const child = Bun.spawn([process.execPath, command, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: folder, ENVOI_PEERS_MISSING: "error: they are not to be had" },
  });
  return { child, folder };
}

test("a wrong command line ends with status 2 and says what there is", async () => {
  for (const args of [["--only", "toys"], ["--rounds", "0"], ["--rounds", "some"], ["--quick"]]) {
    const { child } = await start(...args);
    expect(await child.stderr.text()).toBe(
      "bench:peers takes --only actors, files, code; --rounds, a number above 0; and --out, a folder.\n",
    );
    expect(await child.exited).toBe(2);
  }
});

test("what is measured is the build, beside the other systems, and not the sources", async () => {
  const folder = await layOut(join(import.meta.dir, "../../.."), { withPeers: true });
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, "-e", 'console.log(Bun.resolveSync("envoi", process.cwd()))'],
    { cwd: join(folder, "benchmarks/peers/subjects/actors") },
  );
  expect([stderr.toString(), exitCode]).toEqual(["", 0]);
  expect(stdout.toString().trim()).toBe(join(folder, "dist/index.js"));
});

test("a folder that takes no files is told before anything is installed or measured", async () => {
  const command = Bun.spawn([process.execPath, "benchmarks/peers/run.ts", "--out", "/dev/null/there"], {
    cwd: join(import.meta.dir, "../../.."),
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await command.stderr.text()).toStartWith("--out /dev/null/there: nothing can be written there");
  expect(await command.exited).toBe(2);
});

test.if(canSeeProcesses)("Ctrl-C ends it with all that it started, and nothing is written", async () => {
  const out = await mkdtemp(join(tmpdir(), "envoi-peers-out-"));
  folders.push(out);
  const { child, folder } = await start("--only", "actors", "--out", out);
  let started: readonly number[] = [];
  const isHost = (pid: number): Promise<boolean> =>
    Bun.file(`/proc/${pid}/cmdline`)
      .text()
      .then((line) => line.includes("peers/host.ts"))
      .catch(() => false);
  for (let isMeasuring = false; !isMeasuring; await Bun.sleep(10)) {
    started = descendants(child.pid);
    isMeasuring = (await Promise.all(started.map(isHost))).includes(true);
  }
  // More than once, as a terminal and `bun run` tell it.
  for (let times = 0; times < 3; times++, await Bun.sleep(5)) child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  for (const pid of started) expect(() => process.kill(pid, 0)).toThrow();
  expect(await readdir(folder)).toEqual([]);
  expect(await readdir(out)).toEqual([]);
});

// Some minutes, of which the rows take most.
test.if(isLong)(
  "a run without packages measures what needs none, and says of the others that they were not installed",
  async () => {
    const out = await mkdtemp(join(tmpdir(), "envoi-peers-out-"));
    folders.push(out);
    const { child, folder } = await start("--only", "actors", "--rounds", "1", "--out", out);
    const [page, status] = await Promise.all([child.stdout.text(), child.exited]);
    expect(status).toBe(0);
    expect(await readdir(folder)).toEqual([]);
    expect(page).toContain("- nact was not installed: error: they are not to be had.");
    const [actors] = await readPeers(out);
    if (actors === undefined) throw new Error("nothing was written");
    for (const { table, row, figures } of actors.rows) {
      const own = figures.find(({ peer }) => peer === "envoi");
      expect({ row, own }).toEqual({
        row,
        own: expect.objectContaining(table === "time" ? { median: expect.any(Number) } : { holds: true }),
      });
    }
    expect(standingsOf(actors)).toHaveLength(actors.rows.filter(({ table }) => table === "time").length);
  },
  300_000,
);
