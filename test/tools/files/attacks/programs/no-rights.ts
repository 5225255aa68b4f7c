import { createSystem } from "../../../../../src";
import { loadCompiler } from "../../../../../src/protocol/compiler";
import { spawnFileSystem } from "../../../../../src/tools";
import { loadFileActor } from "../../../../../src/tools/late";
import { operations, perform } from "../operations";

// Tries every operation on each path; as a user without rights, where it is told to become one.

const [root = "", resolution, user, ...paths] = process.argv.slice(2);
if (user === "nobody") {
  // Load the late modules now: that user may not be able to read them, such as below root's own folder.
  for (const load of [loadFileActor, loadCompiler]) load();
  process.setgroups?.([]);
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}
await using system = createSystem({ askTimeout: 5_000, logger: { warn() {}, error() {} } });
const files = spawnFileSystem(system, { root, resolution: resolution as "openat2" });
const told: unknown[] = [];
for (const path of paths) {
  for (const operation of operations) {
    const reply = await perform(files, operation, path).catch((error: unknown) => ({ ok: false as const, error }));
    const value = reply.ok ? reply.value : undefined;
    told.push({
      path,
      name: operation.name,
      kind: reply.ok ? "served" : (reply.error as { kind: string }).kind,
      value,
    });
  }
}
const { failed } = system.router.audit();
console.log(JSON.stringify({ told, failed }));
