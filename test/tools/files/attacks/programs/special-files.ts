import { createSystem } from "../../../../../src";
import { spawnFileSystem } from "../../../../../src/tools";
import { operations, perform } from "../operations";

// Tries every operation on each path, and prints what it was told: a process of its own, since one that hangs in an
// open() cannot end its own test.

const [root = "", resolution, ...paths] = process.argv.slice(2);
await using system = createSystem({ askTimeout: 5_000, logger: { warn() {}, error() {} } });
const files = spawnFileSystem(system, { root, resolution: resolution as "openat2" });
for (const path of paths) {
  for (const operation of operations) {
    // Operations that move or delete the file get a copy of their own.
    const own = ["move from", "delete", "delete all"].includes(operation.name)
      ? `${path}-for-${operation.name.replaceAll(" ", "-")}`
      : path;
    const told = await perform(files, operation, own).catch((error: unknown) => ({ ok: false, error }));
    console.log(JSON.stringify({ path, name: operation.name, told }));
  }
}
const { failed } = system.router.audit();
console.log(JSON.stringify({ failed }));
