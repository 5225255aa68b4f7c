import { createSystem } from "../../../../../src";
import { type FileSystemRef, resultOf, spawnFileSystem } from "../../../../../src/tools";

// So many writers, each of which adds a line of its own to one file, by reading it and writing it whole with the etag of
// what it read, again for as long as others are first. Prints how often that was.

/** Adds one line; gives how many conflicts were told. */
export async function addLine(files: FileSystemRef, path: string, line: string): Promise<number> {
  for (let conflicts = 0; ; conflicts++) {
    const read = resultOf(await files.ask("read", { path }))._unsafeUnwrap();
    const { etag } = read;
    if (etag === undefined) throw new Error("A whole file comes with its etag.");
    const content = `${read.content as string}${line}\n`;
    const written = resultOf(await files.ask("write", { path, content, ifMatch: etag }));
    if (written.isOk()) return conflicts;
    if (written.error.kind !== "changed") throw written.error;
  }
}

if (import.meta.main) {
  const [root = "", resolution, name = "", writers = "0", rounds = "0"] = process.argv.slice(2);
  const system = createSystem();
  const files = spawnFileSystem(system, { root, resolution: resolution as "openat2" });
  console.log("ready");
  await new Promise((resolve) => process.stdin.once("data", resolve));
  process.stdin.unref?.();
  const conflicts = await Promise.all(
    Array.from({ length: Number(writers) }, async (_, writer) => {
      let count = 0;
      for (let round = 0; round < Number(rounds); round++) {
        count += await addLine(files, "shared.txt", `${name}/${writer}/${round}`);
      }
      return count;
    }),
  );
  console.log(JSON.stringify({ conflicts: conflicts.reduce((sum, each) => sum + each, 0) }));
  await system.shutdown();
  process.exit(0);
}
