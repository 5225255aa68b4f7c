import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

/** True while the process runs. One that has ended may stay in the table of processes, as a zombie, where nobody collects it. */
function runs(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false; // It is gone.
  }
}

let pid = 0;
afterEach(() => {
  if (pid > 1 && runs(pid)) process.kill(pid, "SIGKILL"); // It burns a core until somebody ends it.
});

test.skipIf(process.platform !== "linux")(
  "a process that computes without an end does not outlive its program, killed by SIGKILL",
  async () => {
    const program = Bun.spawn([process.execPath, new URL("./programs/loops.ts", import.meta.url).pathname], {
      stdout: "pipe",
    });
    const { value = new Uint8Array() } = await program.stdout.getReader().read();
    pid = Number(new TextDecoder().decode(value));
    expect(runs(pid)).toBe(true);
    program.kill("SIGKILL");
    await program.exited;
    while (runs(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  },
  20_000,
);
