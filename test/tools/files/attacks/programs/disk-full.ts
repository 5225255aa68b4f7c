import { closeSync, fstatSync, ftruncateSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createSystem } from "../../../../../src";
import { type FileSystemRef, spawnFileSystem } from "../../../../../src/tools";
import { litterIn } from "../litter";
import { type Operation, perform } from "../operations";

// Fills the small disk that a root is on, tries every operation that writes, frees the disk and tries again. Prints what
// it was told.

const [root = "", resolution] = process.argv.slice(2);
await using system = createSystem({ askTimeout: 5_000, logger: { warn() {}, error() {} } });
const files: FileSystemRef = spawnFileSystem(system, { root, resolution: resolution as "openat2" });
const big = "y".repeat(300_000);

const tries: readonly Operation[] = [
  ["write much", "write", { content: big }],
  ["write", "write", { content: "y".repeat(50_000) }],
  ["write durably", "write", { content: "y".repeat(50_000), durable: true }],
  ["append much", "append", { content: big }],
  ["append", "append", { content: "y".repeat(50_000) }],
  ["append durably", "append", { content: "y".repeat(50_000), durable: true }],
  ["edit", "edit", { edits: [{ oldText: "old", newText: big }] }],
  ["copy", "copy", {}],
  ["upload", "beginWrite", {}],
].flatMap(([name, operation, rest]) => {
  const payload = (path: unknown): Record<string, unknown> =>
    operation === "copy" ? { from: "source", to: path, ifExists: "replace" } : { path, ...(rest as object) };
  return [{ name: name as string, operation: operation as string, needs: "file" as const, payload }];
});

const source = "s".repeat(200_000);
await files.ask("write", { path: "source", content: source });
for (const { name } of tries) await files.ask("write", { path: name, content: `old ${name}` });

const ballast = openSync(join(root, "ballast"), "w");
for (const size of [65_536, 4_096, 1]) {
  try {
    for (;;) writeSync(ballast, Buffer.alloc(size, 1));
  } catch {
    // Full for pieces of this size.
  }
}
const all = async (): Promise<unknown[]> => {
  const told: unknown[] = [];
  for (const each of tries) {
    const before = readFileSync(join(root, each.name), "utf8");
    const reply = await perform(files, each, each.name).catch((error: unknown) => ({ ok: false as const, error }));
    const after = readFileSync(join(root, each.name), "utf8");
    told.push({
      name: each.name,
      kind: reply.ok ? "served" : (reply.error as { kind: string }).kind,
      isAsBefore: before === after,
      litter: litterIn(root),
    });
  }
  return told;
};
const whileFull = await all();
const isFull = fstatSync(ballast).size > 0;
ftruncateSync(ballast, 0);
closeSync(ballast);
const afterwards = await all();
const names = readdirSync(root).sort();
const { failed } = system.router.audit();
console.log(JSON.stringify({ isFull, whileFull, afterwards, names, tried: tries.map(({ name }) => name), failed }));
