// Hides /proc, or puts a directory in its place, and says which roots can be opened then. For a mount namespace of its own.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { systemClock } from "../../../../src/runtime/clock";
import { openRoot } from "../../../../src/tools/files/root/open-root";

const [, , root = "", hidden = ""] = process.argv;
execFileSync("mount", ["-t", "tmpfs", "none", "/proc"]);
if (hidden === "false") mkdirSync("/proc/self/fd", { recursive: true });
for (const resolution of ["openat2", "proc-fd"] as const) {
  try {
    openRoot({ root, resolution }, systemClock).dispose();
    console.log(`${resolution}: opened`);
  } catch (thrown) {
    console.log(`${resolution}: ${thrown}`);
  }
}
