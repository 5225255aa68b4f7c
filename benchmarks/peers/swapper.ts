/** Swaps a directory for a link and back, as fast as it can, until it is ended: `swapper.ts <directory> <link>`. */
import { renameSync } from "node:fs";

const [directory = "", link = ""] = process.argv.slice(2);
const aside = `${directory}-aside`;

process.stdout.write("swapping\n");
for (;;) {
  renameSync(directory, aside);
  renameSync(link, directory);
  renameSync(directory, link);
  renameSync(aside, directory);
}
