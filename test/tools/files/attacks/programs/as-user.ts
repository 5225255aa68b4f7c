import { createSystem } from "../../../../../src";
import { spawnFileSystem } from "../../../../../src/tools";

// Asks for what it is told to, as the user that it is told to become, and tells what came of it.

const [root = "", resolution, user = "0", asked = "[]"] = process.argv.slice(2);
if (user !== "0") {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}
await using system = createSystem({ askTimeout: 5_000 });
const files = spawnFileSystem(system, { root, resolution: resolution as "openat2" });
const told: unknown[] = [];
for (const [operation, payload] of JSON.parse(asked) as [never, never][]) {
  told.push((await files.ask(operation, payload))._unsafeUnwrap());
}
console.log(JSON.stringify(told));
