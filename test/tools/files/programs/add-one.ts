// Adds one to the number in a file, so many times, each with the write lock held.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../../src";
import { openRoot, thisMachine } from "../../../../src/tools/files/open-root";
import { Staging } from "../../../../src/tools/files/staging";
import { WriteLock } from "../../../../src/tools/files/write-lock";

const [, , directory = "", way = "", times = "0"] = process.argv;
const machine = way === "proc-fd without FFI" ? { ...thisMachine(), libc: undefined } : thisMachine();
const root = openRoot({ root: directory, resolution: way === "openat2" ? "openat2" : "proc-fd" }, systemClock, machine);
const lock = new WriteLock(new Staging(root), systemClock);
const file = join(directory, "count");
for (let i = 0; i < Number(times); i++) {
  await lock.acquire("count");
  writeFileSync(file, String(Number(readFileSync(file, "utf8")) + 1));
  lock.release();
}
