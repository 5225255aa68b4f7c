import { appendFileSync, truncateSync, writeFileSync } from "node:fs";

// Changes a file without end, as a program does that does not know of the actor.

const [path = "", how] = process.argv.slice(2);
const line = "x".repeat(4_096);
writeFileSync(path, line);
console.log("ready");
for (let i = 0; ; i++) {
  if (how === "grow") {
    appendFileSync(path, line.repeat(16));
    if (i % 64 === 63) truncateSync(path, line.length); // Lest the disk fills.
  } else {
    truncateSync(path, 0);
    writeFileSync(path, line.repeat(512));
  }
}
