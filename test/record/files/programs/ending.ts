/** Records a thousand messages in one turn and ends in a way. Its arguments: the folder, the form, the way. */
import { join } from "node:path";
import { messageLine, openFile, upTo } from "../folder";

const [folder = "", compress, way] = process.argv.slice(2);
const { file } = openFile({ to: join(folder, "run.ndjson"), compress: compress === "zstd" && "zstd" });
const add = (from: number): void => {
  for (const id of upTo(500)) file.append(messageLine(from + id, 700), true);
};
add(0);
void file.flush(); // A write is under way.
setImmediate(() => {
  add(500);
  if (way === "process.exit") process.exit(0);
  if (way === "an error that nobody catches") throw new Error("nobody catches this");
});
