// Stages a file, writes half of it, says so, and waits until it is killed.
import { systemClock } from "../../../../src";
import { openRoot, thisMachine } from "../../../../src/tools/files/open-root";
import { Staging } from "../../../../src/tools/files/staging";

const [, , directory = "", way = ""] = process.argv;
const machine = way === "proc-fd without FFI" ? { ...thisMachine(), libc: undefined } : thisMachine();
const root = openRoot({ root: directory, resolution: way === "openat2" ? "openat2" : "proc-fd" }, systemClock, machine);
const staging = new Staging(root);
const { descriptor } = staging.create("file");
root.write(descriptor, Buffer.from("half"), 4);
console.log("begun");
setInterval(() => {}, 60_000);
