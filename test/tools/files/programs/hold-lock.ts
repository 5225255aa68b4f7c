// Takes the write lock of a directory, says so, and keeps it until it is killed.
import { systemClock } from "../../../../src";
import { openRoot, thisMachine } from "../../../../src/tools/files/open-root";
import { Staging } from "../../../../src/tools/files/staging";
import { WriteLock } from "../../../../src/tools/files/write-lock";

const [, , root = "", way = ""] = process.argv;
const machine = way === "proc-fd without FFI" ? { ...thisMachine(), libc: undefined } : thisMachine();
const resolution = way === "openat2" ? "openat2" : "proc-fd";
const staging = new Staging(openRoot({ root, resolution }, systemClock, machine));
await new WriteLock(staging, systemClock).acquire("");
console.log("held");
setInterval(() => {}, 60_000);
