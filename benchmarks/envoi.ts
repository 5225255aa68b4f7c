#!/usr/bin/env bun
/** The command-line program of the package: `bunx envoi`. */
import { join } from "node:path";
import manifest from "../package.json";
import { thereIsNo, usage } from "./harness/arguments";
import { commandFor, missingPeers } from "./harness/shipped";
import { runInTerminal, type Status, type Terminal } from "./harness/terminal";

const HELP = `envoi COMMAND [options]

  bench   measures envoi beside its floors, and checks its limits; envoi bench --help tells its options
  stress  raises the load until something breaks, and tells where; envoi stress --help tells its options
  help    this text

--version tells which version of envoi this is.
`;

async function run([command = "help", ...rest]: readonly string[], around: Terminal): Promise<Status> {
  switch (command) {
    case "help":
    case "--help":
    case "-h":
      around.out(HELP);
      return 0;
    case "version":
    case "--version":
    case "-v":
      around.out(`envoi ${manifest.version}\n`);
      return 0;
    case "bench":
      return benchOrSay(rest, around);
    case "stress":
      return (await import("./stress/run")).main(rest, around);
    default:
      around.err(`${thereIsNo("command", command, ["bench", "stress", "help"])}\n`);
      return 2;
  }
}

async function benchOrSay(argv: readonly string[], around: Terminal): Promise<Status> {
  if (argv.includes("--help")) {
    around.out(usage("envoi bench"));
    return 0;
  }
  const [timer] = missingPeers(around.root, "times");
  if (timer !== undefined) {
    around.err(`The benchmarks take their times by mitata, which is not installed: \`${commandFor([timer])}\`.\n`);
    return 1;
  }
  const { bench } = await import("./run"); // Which imports mitata.
  return bench("envoi bench", argv, around);
}

await runInTerminal(join(import.meta.dir, ".."), (around) => run(process.argv.slice(2), around));
