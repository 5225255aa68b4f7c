import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendants, residentBytes } from "../../../benchmarks/harness/processes";

const RUN = join(import.meta.dir, "../../../benchmarks/stress/run.ts");

test("a run that is ended by a signal leaves no process and no file, and its status says so", async () => {
  const own = mkdtempSync(join(tmpdir(), "envoi-interrupt-"));
  const run = Bun.spawn([process.execPath, RUN, "--quick"], {
    env: { ...process.env, TMPDIR: own },
    stdout: "pipe",
    stderr: "pipe",
  });
  try {
    while (readdirSync(own).length === 0) await Bun.sleep(10); // Until the test's own time is over.
    const children = descendants(run.pid);
    expect(children.length).toBeGreaterThan(0);
    run.kill("SIGINT");
    const [out, err, status] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
    expect({ out, status }).toEqual({ out: "", status: 130 });
    expect(err).toEndWith("Ended before it was over; nothing was written.\n");
    while (children.some((pid) => residentBytes(pid) > 0)) await Bun.sleep(10);
    expect(readdirSync(own)).toEqual([]);
  } finally {
    run.kill("SIGKILL");
    rmSync(own, { recursive: true });
  }
}, 240_000);
