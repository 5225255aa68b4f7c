import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { letters } from "../../benchmarks/harness/file-samples";
import { Proof } from "../../benchmarks/harness/sampling";
import { append, byActor, byHand, edit, write, writeAndDelete } from "../../benchmarks/subjects/file-kinds";

const KINDS = { write: write(100), append, edit: edit(1_000), delete: writeAndDelete };

describe("work with files is refused where the folder does not hold what was written last, and leaves nothing behind:", () => {
  for (const [name, open] of Object.entries(KINDS)) {
    for (const by of [byHand, byActor]) {
      test(`${name}, ${by.name}`, async () => {
        let at = "";
        const opened = (folder: string) => {
          at = folder;
          return open(folder);
        };
        const prepared = by(opened, 2);
        const proof = new Proof(name, 2, prepared);
        for (let i = 0; i < 3; i++) await proof.call();
        writeFileSync(join(at, "file.txt"), letters(99, 1));
        expect(() => prepared.verify?.(3)).toThrow("does not hold what was written last");
        await prepared.teardown?.();
        expect(existsSync(at)).toBe(false);
      });
    }
  }
});
