/** Records messages in a folder until it is killed; writes a byte for each turn. Its arguments: the folder, the form, a seed. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { messageLine, openFile } from "../folder";

const [folder = "", compress, seed = "1"] = process.argv.slice(2);
const { file } = openFile({
  to: join(folder, "run.ndjson"),
  compress: compress === "zstd" && "zstd",
  rotate: { bytes: compress === "zstd" ? 2_000 : 30_000, keep: 1_000 },
});
let [id, state] = [0, Number(seed)];

/** A whole number below a bound; of its own, so that little is loaded before it is killed. */
function below(bound: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return (state >>> 8) % bound;
}

function turn(): void {
  for (let lines = below(40); lines > 0; lines--) file.append(messageLine(++id, below(3_000)), true);
  writeSync(1, ".");
  if (below(8) > 0) setImmediate(turn);
  else void file.flush().then(turn); // Else compressed lines would wait for most of its short life.
}

turn();
