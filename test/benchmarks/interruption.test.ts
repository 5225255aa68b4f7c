import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canSeeProcesses, descendants, Interrupted, unlessInterrupted } from "../../benchmarks/harness/processes";
import { parseRun } from "../../benchmarks/harness/results";

const all = mkdtempSync(join(tmpdir(), "envoi-interrupted-"));
afterAll(() => rmSync(all, { recursive: true }));
const command = join(import.meta.dir, "interrupted/command.ts");

/** A project to run in, and an empty folder for what is temporary there. */
function surroundings() {
  const [root, temporary] = [mkdtempSync(join(all, "project-")), mkdtempSync(join(all, "temporary-"))];
  const scripts = { bench: `bun ${command} patient` };
  writeFileSync(join(root, "package.json"), JSON.stringify({ version: "1.2.3", scripts }));
  return { cwd: root, temporary, env: { ...process.env, TMPDIR: temporary, NO_COLOR: "1" } };
}

/** A run whose second row has begun, and does not end; as a `script`, one that waits, started by `bun run`. */
async function begin(subject: "patient" | "busy" | "script", ...options: string[]) {
  const { cwd, temporary, env } = surroundings();
  const program = subject === "script" ? ["run", "--silent", "bench"] : [command, subject];
  const child = Bun.spawn([process.execPath, ...program, ...options], {
    ...{ cwd, env, stdio: ["ignore", "pipe", "pipe"] as const },
    detached: true, // A terminal tells a whole group of Ctrl-C, and this one is that of the tests.
  });
  const begun = join(temporary, "begun");
  while (!existsSync(begun) || readFileSync(begun, "utf8") === "") await Bun.sleep(5);
  const started = [...descendants(child.pid), Number(readFileSync(begun, "utf8"))];
  // The kernel takes a moment for those that were killed; for others, the test's time is up.
  const allGone = async () => {
    while (started.some(isAlive)) await Bun.sleep(5);
  };
  return {
    child,
    allGone,
    /** What it said, and what was left of it once it had ended. */
    async ended() {
      const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      await allGone();
      const left = readdirSync(temporary).filter((name) => name !== "begun");
      return { status, out, err, left, written: readdirSync(cwd).filter((name) => name !== "package.json") };
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    // One that ended and was not waited for is none.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("work that failed of the Ctrl-C, before that was heard here, was interrupted; other work failed", async () => {
  const ending = new AbortController();
  const failing = () => unlessInterrupted(Promise.reject(new Error("its process ended")), ending.signal);
  await expect(failing()).rejects.toThrow("its process ended");
  setImmediate(() => ending.abort());
  await expect(failing()).rejects.toThrow(Interrupted);
});

describe.if(canSeeProcesses)("a run", () => {
  test("whose results nobody takes ends, and leaves nothing", async () => {
    for (const [where, said] of [
      ["| true", ""],
      ["> /dev/full", "The results could not be told: ENOSPC: no space left on device, write\n"],
    ]) {
      const { cwd, temporary, env } = surroundings();
      const line = `"${process.execPath}" "${command}" patient --filter finished ${where}; exit \${PIPESTATUS[0]}`;
      const child = Bun.spawn(["bash", "-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
      const [err, status] = await Promise.all([child.stderr.text(), child.exited]);
      expect(err.split("\n").slice(2).join("\n")).toBe(said ?? ""); // After how long it takes, and what it does.
      expect({ status, left: readdirSync(temporary) }).toEqual({ status: 1, left: [] });
    }
  }, 240_000);

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    test(`that ${signal} interrupts tells what is finished, writes nothing, leaves no process and no folder, and ends with 130`, async () => {
      const { child, ended } = await begin("patient");
      process.kill(-child.pid, signal); // A terminal tells all that run there.
      expect(await ended()).toEqual({
        ...{ status: 130, left: [], written: [] },
        out: expect.stringContaining("\nfinished: bytes  300 B"),
        err: expect.stringContaining("Interrupted: nothing was written.\n"),
      });
    }, 240_000);
  }

  for (const subject of ["busy", "script"] as const) {
    const what = { busy: "while its process hears nothing", script: "twice at once, as through `bun run`" }[subject];
    test(`that is interrupted ${what}, says in its JSON what is finished`, async () => {
      const { child, ended } = await begin(subject, "--json");
      process.kill(subject === "script" ? -child.pid : child.pid, "SIGINT");
      const { status, out, written } = await ended();
      const { interrupted, results, failed } = parseRun(out);
      expect({ status, interrupted, written, failed }).toMatchObject({ status: 130, interrupted: true, written: [] });
      expect(results.flatMap(({ rows }) => rows.map(({ row }) => row))).toEqual(["finished"]);
    }, 240_000);
  }

  test("that is interrupted for the second time ends at once", async () => {
    const { child, allGone } = await begin("busy");
    // Those that come at once are taken for the first one.
    const again = setInterval(() => child.kill("SIGINT"), 50);
    expect(await child.exited).toBe(130);
    clearInterval(again);
    expect(await child.stdout.text()).not.toContain("finished");
    await allGone();
  }, 240_000);
});
