import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canSeeProcesses, descendants } from "../../benchmarks/harness/processes";
import { parseRun } from "../../benchmarks/harness/results";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "envoi-interrupted-"));
  folders.push(path);
  return path;
}

/** A run whose second row has begun, and does not end. */
async function begin(subject: "patient" | "busy", ...options: string[]) {
  const [root, temporary] = [folder(), folder()];
  writeFileSync(join(root, "package.json"), '{ "version": "1.2.3" }');
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "interrupted/command.ts"), subject, ...options], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
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
      return { status, out, err, left, written: readdirSync(root).filter((name) => name !== "package.json") };
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

describe.if(canSeeProcesses)("a run that is interrupted", () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    test(`by ${signal} tells what is finished, writes nothing, leaves no process and no folder, and ends with 130`, async () => {
      const { child, ended } = await begin("patient");
      child.kill(signal);
      const { status, out, err, left, written } = await ended();
      expect({ status, left, written }).toEqual({ status: 130, left: [], written: [] });
      expect(out).toContain("\nfinished: bytes  ");
      expect(out).not.toContain("endless");
      expect(err).toContain("Interrupted: nothing was written.\n");
    }, 30_000);
  }

  test("says so in its JSON", async () => {
    const { child, ended } = await begin("patient", "--json", "--write");
    child.kill("SIGINT");
    const { status, out, written } = await ended();
    const { interrupted, results, failed } = parseRun(out);
    expect({ status, interrupted, written, failed }).toEqual({
      status: 130,
      interrupted: true,
      written: [],
      failed: [],
    });
    expect(results.flatMap(({ rows }) => rows.map(({ row }) => row))).toEqual(["finished"]);
  }, 30_000);

  test("while a process hears nothing, ends that, too", async () => {
    const { child, ended } = await begin("busy", "--json");
    child.kill("SIGINT");
    const { status, out } = await ended();
    expect(status).toBe(130);
    expect(parseRun(out).interrupted).toBe(true);
  }, 30_000);

  test("for the second time, ends at once", async () => {
    const { child, allGone } = await begin("busy");
    child.kill("SIGINT");
    let said = "";
    const decoder = new TextDecoder();
    for await (const piece of child.stderr) {
      said += decoder.decode(piece, { stream: true });
      if (said.includes("Once more ends at once")) child.kill("SIGINT");
    }
    expect(await child.exited).toBe(130);
    expect(await child.stdout.text()).not.toContain("finished");
    await allGone();
  }, 30_000);

  test("in its smoke, as well", async () => {
    const { child, ended } = await begin("patient", "--smoke");
    child.kill("SIGINT");
    expect(await ended()).toMatchObject({ status: 130, out: "", left: [] });
  }, 30_000);

  test("by Ctrl-C on a terminal, which showed its progress in one line that fits, does the same", async () => {
    const [root, temporary] = [folder(), folder()];
    writeFileSync(join(root, "package.json"), '{ "version": "1.2.3" }');
    const decoder = new TextDecoder();
    let seen = "";
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "interrupted/command.ts"), "patient"], {
      cwd: root,
      env: { ...process.env, TMPDIR: temporary, NO_COLOR: "1" },
      terminal: {
        cols: 24,
        rows: 10,
        data(_, bytes) {
          seen += decoder.decode(bytes, { stream: true });
        },
      },
    });
    while (!existsSync(join(temporary, "begun"))) await Bun.sleep(5);
    child.terminal?.write("\x03");
    expect(await child.exited).toBe(130);
    const [, ...lines] = seen.split("\r\x1b[K");
    const shown = lines.map((line) => line.split(/[\r^]/, 1)[0] ?? "");
    expect(shown[0]).toMatch(/^memory 1\/2, \d+ s left: /);
    expect(Math.max(...shown.map((text) => text.length))).toBe(23);
    expect(seen).toContain("\nfinished: bytes ");
    expect(readdirSync(temporary)).toEqual(["begun"]);
  }, 30_000);
});
