import { closeSync, openSync, readdirSync } from "node:fs";
import { createSystem } from "../../../../../src";
import { spawnFileSystem } from "../../../../../src/tools";
import { litterIn } from "../litter";
import { operations, perform } from "../operations";

// Opens files until there can be no more, leaves so many free, and tries every operation on a file that is there.

const [root = "", resolution] = process.argv.slice(2);
await using system = createSystem({ askTimeout: 5_000, logger: { warn() {}, error() {} } });
const files = spawnFileSystem(system, { root, resolution: resolution as "openat2" });
const told: unknown[] = [];
for (const free of [0, 1, 2, 3]) {
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync("/dev/null", "r"));
  } catch {
    // That is all.
  }
  for (let i = 0; i < free; i++) closeSync(opened.pop() ?? -1);
  for (const operation of operations) {
    const path = operation.needs === "directory" ? "a" : operation.needs === "nothing" ? `new-${free}` : "file.txt";
    if (/move|delete|copy/.test(operation.name)) continue; // They change what the others look at.
    const reply = await perform(files, operation, path).catch((error: unknown) => ({ ok: false as const, error }));
    told.push({ free, name: operation.name, kind: reply.ok ? "served" : (reply.error as { kind: string }).kind });
  }
  for (const each of opened) closeSync(each);
}
const before = readdirSync("/proc/self/fd").length;
const recovered: unknown[] = [];
for (const operation of operations) {
  if (operation.needs !== "file" || operation.operation === "edit") continue;
  const reply = await perform(files, operation, "file.txt").catch((error: unknown) => ({ ok: false as const, error }));
  recovered.push({ name: operation.name, kind: reply.ok ? "served" : (reply.error as { kind: string }).kind });
}
const leaked = readdirSync("/proc/self/fd").length - before;
const litter = litterIn(root);
const { failed } = system.router.audit();
console.log(JSON.stringify({ told, recovered, leaked, litter, failed }));
