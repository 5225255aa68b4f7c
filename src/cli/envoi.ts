#!/usr/bin/env bun
/** The command-line program of the package: `bunx envoi`. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { version } from "../../package.json";
import { thereIsNo } from "./arguments";
import { record } from "./record/record";
import { runInTerminal, type Status, type Terminal } from "./terminal";

const HELP = `envoi COMMAND [options]

  record  looks into recordings: ls, show, grep, diff; envoi record --help tells more
  bench   measures envoi beside its floors, and checks its limits; envoi bench --help tells its options
  stress  raises the load until something breaks, and tells where; envoi stress --help tells its options
  help    this text

--version tells which version of envoi this is.
`;
const COMMANDS = ["record", "bench", "stress", "help"];

async function run([command = "help", ...rest]: readonly string[], terminal: Terminal): Promise<Status> {
  switch (command) {
    case "help":
    case "--help":
    case "-h":
      await terminal.out(HELP);
      return 0;
    case "version":
    case "--version":
    case "-v":
      await terminal.out(`envoi ${version}\n`);
      return 0;
    case "record":
      return record(rest, terminal);
    default:
      terminal.err(`${thereIsNo("command", command, COMMANDS)}\n`);
      return 2;
  }
}

/** The commands that measure have a terminal of their own. Their code lies beside the package's, and is loaded for them alone. */
interface Measuring {
  readonly measure: (command: "bench" | "stress", argv: readonly string[]) => Promise<void>;
}

async function loadMeasuring(): Promise<Measuring> {
  let root = import.meta.dir;
  while (!existsSync(join(root, "package.json"))) root = dirname(root);
  const folder = ["benchmarks", "bench"].map((name) => join(root, name, "envoi.ts")).find(existsSync);
  return import(folder ?? join(root, "bench/envoi.ts"));
}

const [command, ...rest] = process.argv.slice(2);
if (command === "bench" || command === "stress") await (await loadMeasuring()).measure(command, rest);
else await runInTerminal((terminal) => run(process.argv.slice(2), terminal));
