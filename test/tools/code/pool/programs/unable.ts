/** A process that finds that it cannot work. */
import { writeSync } from "node:fs";

writeSync(3, `${JSON.stringify(["unavailable", "no interpreter"])}\n`);
