/** Records into a folder whose disk becomes full; prints what it was told and what can be read. Its arguments: the folder, the form, whether it is full before. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../../../src/testing/index";
import { headerOf, idsOf, openFile, readAll } from "../folder";

const [folder = "", compress, before] = process.argv.slice(2);
if (before === "full") {
  try {
    writeFileSync(join(folder, "ballast"), new Uint8Array(2 ** 21));
  } catch {
    // It is full.
  }
}
const random = createRandom(3);
/** It can hardly be compressed. */
const text = (): string => Array.from({ length: 500 }, () => random.below(2 ** 30).toString(36)).join("");
const { file, troubles } = openFile({ to: join(folder, "run.ndjson"), compress: compress === "zstd" && "zstd" });
let appended = 0;
for (let turns = 0; turns < 800; turns++) {
  const line = {
    ...headerOf("x"),
    kind: "message",
    id: ++appended,
    at: 1,
    pattern: "tell",
    to: "@(a)",
    operation: "say",
  };
  file.append(JSON.stringify({ ...line, payload: text() }), true);
  if (turns % 7 === 0) await file.flush();
  else await new Promise<void>((resolve) => setImmediate(resolve));
}
await file.close();
const read = await readAll(file.path).then(
  ({ lines, reader }) => ({ ids: idsOf(lines), kinds: reader.faults.map(({ kind }) => kind) }),
  (error) => String(error),
);
const told = troubles.map(({ kind, sentence }) => ({ kind, sentence }));
console.log(JSON.stringify({ appended, told, counts: file.counts, read }));
