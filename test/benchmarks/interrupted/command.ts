/** A run of one row that ends and of one that does not: `command.ts SUBJECT [options]`. */
import { main } from "../../../benchmarks/harness/cli";
import { inFreshProcess } from "../../../benchmarks/harness/fresh-process";
import { runInTerminal } from "../../../benchmarks/harness/terminal";
import { probe, surroundings } from "../rows";

const [subject = "", ...options] = process.argv.slice(2);
const endless = new URL("./endless.ts", import.meta.url);
const rows = [
  probe({ name: "finished" }),
  probe({ name: "endless", floor: { none: "it does not end" }, measure: () => inFreshProcess(endless, subject, 0) }),
];
const suites = async () => [{ name: "memory", about: "", rows }];
const root = process.cwd();
await runInTerminal(root, (around) => main(options, surroundings(root, { ...around, suites }).around));
