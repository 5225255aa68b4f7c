import { copyFileSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Tables of the package: measured penguins of three species, two cities' daily weather, and cars of 1970 to 1982. */
const TABLES = ["penguins.csv", "weather.csv", "cars.csv"];

/** Makes a folder with real tables in it, for whoever has none at hand. It is not removed: the report will be there. */
export function sampleWorkspace(): string {
  const folder = mkdtempSync(join(tmpdir(), "envoi-workspace-"));
  mkdirSync(join(folder, "data"));
  for (const table of TABLES) {
    const source = fileURLToPath(import.meta.resolve(`@observablehq/sample-datasets/${table}`));
    copyFileSync(source, join(folder, "data", table));
  }
  return folder;
}
