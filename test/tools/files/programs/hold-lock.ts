// Takes the write lock of a directory, says so, and keeps it until it is killed.
import { systemClock } from "../../../../src/runtime/clock";
import { openRoot } from "../../../../src/tools/files/root/open-root";
import { Staging } from "../../../../src/tools/files/write/staging";
import { WriteLock } from "../../../../src/tools/files/write/write-lock";
import { machineOf, resolutionOf } from "./machine";

const [, , root = "", way = ""] = process.argv;
const staging = new Staging(openRoot({ root, resolution: resolutionOf(way) }, systemClock, machineOf(way)));
await new WriteLock(staging, systemClock).acquire("");
console.log("held");
process.stdin.on("end", () => process.exit()).resume(); // Nor longer than the test.
