import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createSystem } from "../../../../../src";
import { resultOf, spawnFileSystem } from "../../../../../src/tools";
import { litterIn } from "../litter";

// Works in `mnt` below a root, which is on another file system, and prints what came of it.

const [root = "", resolution, part] = process.argv.slice(2);
await using system = createSystem({ askTimeout: 10_000 });
const files = spawnFileSystem(system, { root, resolution: resolution as "openat2" });
const kinds: string[] = [];

async function ask(operation: string, payload: unknown): Promise<unknown> {
  const reply = resultOf(await files.ask(operation as "read", payload as { path: string }));
  kinds.push(reply.isOk() ? "done" : (reply.error as { kind: string }).kind);
  return reply.isOk() ? reply.value : null;
}

async function upload(path: string, ...pieces: readonly string[]): Promise<void> {
  const { upload } = (await ask("beginWrite", { path })) as { upload: string };
  for (const content of pieces) await files.ask("writeChunk", { upload, content });
  await ask("finishWrite", { upload });
}

const mount = join(root, "mnt");
const large = "x".repeat(700_000);

if (part === "work") {
  await ask("write", { path: "mnt/small", content: "small" });
  chmodSync(join(mount, "small"), 0o640);
  await ask("write", { path: "mnt/small", content: "new small" });
  await ask("write", { path: "mnt/large", content: large });
  await ask("write", { path: "mnt/durable", content: "durable", durable: true });
  await ask("write", { path: "mnt/edited", content: "old text" });
  await ask("edit", { path: "mnt/edited", edits: [{ oldText: "old", newText: "new" }] });
  await upload("mnt/uploaded", "one ", "two");
  await ask("copy", { from: "file.txt", to: "mnt/copied" });
  await ask("copy", { from: "mnt/large", to: "mnt/copied large" });
  await ask("copy", { from: "a", to: "mnt/tree/a" });
  await ask("copy", { from: "mnt/tree", to: "back" });
  const { etag } = (await ask("read", { path: "mnt/small" })) as { etag: string };
  await ask("write", { path: "mnt/small", content: "new small", ifMatch: etag });
  const done = kinds.splice(0);
  await ask("write", { path: "mnt/small", content: "other", ifMatch: "1-1" });
  await ask("write", { path: "mnt/small", content: "other", ifExists: "fail" });
  await ask("copy", { from: "a", to: "mnt/tree" });
  const text = (path: string): string => readFileSync(join(mount, path), "utf8");
  const names = readdirSync(mount).sort();
  const contents = Object.fromEntries(
    [...names.filter((name) => name !== "tree"), "tree/a/b/deep.txt"].map((name) => {
      const content = text(name);
      return [name, content.length > 1_000 ? content.length : content];
    }),
  );
  const mode = (statSync(join(mount, "small")).mode & 0o777).toString(8);
  console.log(JSON.stringify({ kinds: done, contents, mode, conflicts: kinds, names, litter: litterIn(root) }));
} else {
  await ask("write", { path: "mnt/file", content: "old" });
  kinds.length = 0;
  await ask("write", { path: "mnt/file", content: large });
  await ask("write", { path: "mnt/other", content: large });
  await ask("edit", { path: "mnt/file", edits: [{ oldText: "old", newText: large }] });
  await ask("write", { path: "big/file", content: large });
  kinds.length = 3;
  await ask("copy", { from: "big", to: "mnt/big" });
  const names = readdirSync(mount);
  console.log(
    JSON.stringify({ kinds, content: readFileSync(join(mount, "file"), "utf8"), names, litter: litterIn(root) }),
  );
}
