import { createSystem } from "envoi";
import { resultOf, spawnFileSystem } from "envoi/tools";

const files = spawnFileSystem(createSystem(), { root: import.meta.dir });
const read = resultOf(await files.ask("read", { path: "number.txt" }));
process.exit(read.isOk() ? Number(read.value.content) : 1);
