import { createSystem } from "../../../../../src";
import { resultOf, spawnFileSystem } from "../../../../../src/tools";

// Writes a thousand files whole, over those that are there, until it is killed: each file holds one letter, so that a
// torn one is told. It prints a dot for each round.

const [root = "", resolution, seed = "0"] = process.argv.slice(2);
const system = createSystem();
const files = spawnFileSystem(system, { root, resolution: resolution as "openat2" });
const letter = String.fromCharCode(97 + (Number(seed) % 26));
for (let i = 0; i < 1_000; i += 4) {
  const writes = [0, 1, 2, 3].map(async (more) => {
    const n = i + more;
    const path = `d${n % 7}/file-${n % 50}`;
    const size = [10, 5_000, 100_000, 400_000][(n + Number(seed)) % 4] ?? 0;
    const content = letter.repeat(size);
    const reply = await files.ask("write", { path, content, durable: n % 97 === 0 });
    resultOf(reply)._unsafeUnwrap();
  });
  await Promise.all(writes);
  process.stdout.write(".");
}
await system.shutdown();
