// Stages a file, writes half of it, says so, and waits until it is killed.
import { systemClock } from "../../../../src/runtime/clock";
import { openRoot } from "../../../../src/tools/files/root/open-root";
import { Staging } from "../../../../src/tools/files/write/staging";
import { machineOf, resolutionOf } from "./machine";

const [, , directory = "", way = ""] = process.argv;
const root = openRoot({ root: directory, resolution: resolutionOf(way) }, systemClock, machineOf(way));
const staging = new Staging(root);
const { descriptor } = staging.create("file");
root.write(descriptor, Buffer.from("half"), 4);
console.log("begun");
process.stdin.on("end", () => process.exit()).resume(); // Nor longer than the test.
