import { createSystem } from "../../../../../src";
import { resultOf, spawnFileSystem } from "../../../../../src/tools";

// Changes forty files at once, again and again, until it is killed: each holds one letter, so that a torn one is told. It prints a
// dot for each change.

const [root = "", resolution] = process.argv.slice(2);
const system = createSystem();
const files = spawnFileSystem(system, { root, resolution: resolution as "openat2" });
for (let i = 0; ; i++) {
  const content = String.fromCharCode(97 + (i % 26)).repeat(2_000);
  const writes = Array.from({ length: 40 }, (_, n) => ({
    kind: "write" as const,
    path: `d${n % 7}/file-${n}`,
    content,
  }));
  const [from, to] = i % 2 === 0 ? ["d0/x", "d1/y"] : ["d1/y", "d0/x"];
  const move = i === 0 ? [] : [{ kind: "move" as const, from: to, to: from }];
  if (i === 0) resultOf(await files.ask("write", { path: from, content }))._unsafeUnwrap();
  resultOf(await files.ask("change", { changes: [...writes, ...move] }))._unsafeUnwrap();
  process.stdout.write(".");
}
