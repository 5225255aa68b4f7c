import { appendFileSync, truncateSync, writeFileSync } from "node:fs";

// Changes a file without end, as a program does that does not know of the actor.

const [path = "", how] = process.argv.slice(2);
const line = "x".repeat(4_096);
writeFileSync(path, line);
process.stdin.on("end", () => process.exit()).resume(); // Nor longer than the test.
console.log("ready");

let count = 0;
const change = (): void => {
  for (let i = 0; i < 32; i++) {
    if (how === "grow") {
      appendFileSync(path, line.repeat(16));
      if (++count % 64 === 0) truncateSync(path, line.length); // Lest the disk fills.
    } else {
      truncateSync(path, 0);
      writeFileSync(path, line.repeat(512));
    }
  }
  setImmediate(change);
};
change();
