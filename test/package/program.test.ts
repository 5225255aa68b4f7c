import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RunResult } from "../../benchmarks/harness/results";
import manifest from "../../package.json";
import { pack } from "../../scripts/pack";
import { runScript } from "./page";

const mitata = `mitata@${manifest.devDependencies.mitata}`;

const peers = ["@jitl/quickjs-wasmfile-release-sync", "@sveltejs/acorn-typescript", "acorn"] as const;
const commandForPeers = `bun add -d ${peers.map((name) => `${name}@${manifest.peerDependencies[name]}`).join(" ")}`;

/** A user's script that reads what the program printed, by the package's own schemas. */
const READER = `import { parseRun } from "envoi/benchmarks";
const { results, interrupted } = parseRun(await Bun.file("printed.json").text());
console.log(JSON.stringify({ interrupted, machine: results[0]?.machine, rows: results[0]?.rows.map(({ row }) => row) }));
`;

/** A user's script that makes a recording. */
const RECORDER = `import { createSystem, defineProtocol, Type } from "envoi";
import { recorder } from "envoi/record";
const Echo = defineProtocol("echo", { say: { payload: Type.String(), reply: Type.String() } });
const system = createSystem();
const recording = recorder(system, { to: "recordings/run.ndjson" });
await system.spawn("echo", Echo, () => ({ say: (text) => text })).ask("say", "good morning");
await recording.close();
await system.shutdown();
`;

describe("the program of the package, installed into an empty project", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "envoi-program-"));
    await Bun.write(join(folder, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
    await add(pack(folder));
    await Bun.write(join(folder, "reader.ts"), READER);
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function add(...packages: string[]): Promise<void> {
    const { exitCode, stderr } = await runScript(folder, "add", ...packages);
    if (exitCode !== 0) throw new Error(stderr);
  }

  /** As `bunx envoi` runs it. */
  async function envoi(...args: string[]) {
    const child = Bun.spawn([process.execPath, "x", "--no-install", "envoi", ...args], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: "1", PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 200_000,
    });
    const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { status, out, err };
  }

  test("tells its commands, the options of each, and its version", async () => {
    expect(await envoi()).toMatchObject({
      status: 0,
      out: expect.stringContaining("  bench   measures envoi"),
      err: "",
    });
    expect(await envoi("--help")).toEqual(await envoi());
    for (const asked of ["--version", "-v", "version"]) {
      expect(await envoi(asked)).toEqual({ status: 0, out: `envoi ${manifest.version}\n`, err: "" });
    }
    const { status, out } = await envoi("bench", "--help");
    expect({ status, out }).toEqual({ status: 0, out: expect.stringMatching(/^envoi bench \[suite…\] \[options\]\n/) });
  }, 240_000);

  test("looks into recordings", async () => {
    await Bun.write(join(folder, "recorder.ts"), RECORDER);
    expect((await runScript(folder, "recorder.ts")).stderr).toBe("");
    const shown = await envoi("record", "show", "recordings/run.ndjson");
    expect(shown).toEqual({ status: 0, out: expect.stringContaining("⇒ handled after "), err: "" });
    const listed = await envoi("record", "ls", "recordings");
    expect(listed).toEqual({ status: 0, out: expect.stringMatching(/run\.ndjson +1 .* whole\n$/), err: "" });
    const found = await envoi("record", "grep", "good m[a-z]+g", "recordings/run.ndjson", "--regex");
    expect(found).toEqual({ status: 0, out: expect.stringContaining('"good morning"'), err: "" });
    const same = await envoi("record", "diff", "recordings/run.ndjson", "recordings/run.ndjson");
    expect(same).toEqual({ status: 0, out: "The same: 1 message.\n", err: "" });
  }, 240_000);

  test("has the benchmarks' load, too, which needs no mitata", async () => {
    const { status, out } = await envoi("stress", "--help");
    expect({ status, out }).toEqual({ status: 0, out: expect.stringContaining("--check") });
    expect(await envoi("stress", "--quik")).toMatchObject({ status: 2, err: expect.stringContaining("--quik") });
    const missing = await envoi("stress", "--quick");
    expect(missing).toMatchObject({ status: 2, out: "", err: expect.stringContaining(`\`${commandForPeers}\``) });
  }, 240_000);

  test("ends with status 2 at a command that there is not, and says which there are", async () => {
    expect(await envoi("bnech")).toEqual({
      status: 2,
      out: "",
      err: 'There is no command "bnech". There are record, bench, stress, help.\n',
    });
  }, 240_000);

  test("says in one sentence what to install, where mitata is not there", async () => {
    expect(await envoi("bench", "message-creation")).toEqual({
      status: 1,
      out: "",
      err: `The benchmarks take their times by mitata, which is not installed: \`bun add -d ${mitata}\`.\n`,
    });
  }, 240_000);

  describe("with mitata", () => {
    beforeAll(() => add("-d", mitata), 60_000);

    test("measures, and prints what its own schema describes; nothing is written into the package", async () => {
      const installed = async () => (await readdir(join(folder, "node_modules/envoi"), { recursive: true })).sort();
      const before = await installed();
      const { status, out, err } = await envoi("bench", "message-creation", "--quick", "--json");
      expect({ status, err }).toEqual({ status: 0, err: expect.stringMatching(/^9 rows: about \d+ s\.\n/) });
      expect(await installed()).toEqual(before);
      await Bun.write(join(folder, "printed.json"), out);
      const { stdout, stderr } = await runScript(folder, "reader.ts");
      expect(stderr).toBe("");
      const { interrupted, machine, rows } = JSON.parse(stdout);
      const { machine: whole }: RunResult["results"][number] = JSON.parse(out).results[0];
      expect({ interrupted, machine }).toEqual({ interrupted: false, machine: whole });
      expect(machine).toMatchObject({ version: manifest.version });
      expect(machine).not.toHaveProperty("commit");
      expect(rows).toContain("createMessage (tell)");
    }, 240_000);

    test("ends with status 2 at a suite that there is not, or what needs a checkout", async () => {
      const suite = await envoi("bench", "rooting");
      expect(suite).toMatchObject({
        status: 2,
        err: expect.stringContaining('There is no suite "rooting". There are '),
      });
      const page = await envoi("bench", "--page");
      expect(page).toMatchObject({ status: 2, err: expect.stringContaining("this is an installed package") });
    }, 240_000);

    test("leaves out the rows that need what is not installed, with the reason and the command", async () => {
      const { status, out, err } = await envoi("bench", "routing", "--quick", "--filter", "to echo");
      expect(status).toBe(0);
      expect(out).toContain("\nrouter.tell() to echo handler ");
      expect(out).toContain(
        '2 rows are left out, because it was refused: Code cannot run as "trusted" here, because acorn and',
      );
      expect(err).toContain(commandForPeers);
    }, 240_000);
  });
});
