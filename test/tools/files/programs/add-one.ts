// Adds one to the number in a file, so many times, each with the write lock held.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../../src/runtime/clock";
import { openRoot } from "../../../../src/tools/files/root/open-root";
import { Staging } from "../../../../src/tools/files/write/staging";
import { WriteLock } from "../../../../src/tools/files/write/write-lock";
import { machineOf, resolutionOf } from "./machine";

const [, , directory = "", way = "", times = "0"] = process.argv;
const root = openRoot({ root: directory, resolution: resolutionOf(way) }, systemClock, machineOf(way));
const lock = new WriteLock(new Staging(root), systemClock);
const file = join(directory, "count");
for (let i = 0; i < Number(times); i++) {
  await lock.acquire("count");
  writeFileSync(file, String(Number(readFileSync(file, "utf8")) + 1));
  lock.release();
}
