/** Exits when the disk has a write, before the recording knows of it. Its arguments: the folder, the form. */
import { join } from "node:path";
import { Part } from "../../../../src/record/files/part";
import { messageLine, openFile, upTo } from "../folder";

const [folder = "", compress] = process.argv.slice(2);
const write = Part.prototype.write;
Part.prototype.write = async function (bytes) {
  await write.call(this, bytes);
  process.exit(0);
};
const { file } = openFile({ to: join(folder, "run.ndjson"), compress: compress === "zstd" && "zstd" });
for (const id of upTo(100)) file.append(messageLine(id, 700), true);
void file.flush();
