#!/usr/bin/env bun
/** The command-line program of the package: `bunx envoi`. */
import { join } from "node:path";
import manifest from "../package.json";
import { instead, UsageError, usage } from "./harness/arguments";
import { commandFor, missingPeers, stress } from "./harness/parts";
import { runInTerminal, type Status, type Terminal } from "./harness/terminal";

const COMMANDS = {
  bench: "measures envoi beside its floors, and checks its targets; envoi bench --help tells its options",
  stress: "raises the load until something breaks, and tells where; envoi stress --help tells its options",
};
const names = Object.keys(COMMANDS);

const HELP = `envoi COMMAND [options]

${Object.entries(COMMANDS)
  .map(([name, about]) => `  ${name.padEnd(8)}${about}`)
  .join("\n")}
  help    this text

--version tells which version of envoi this is.
`;

async function run([command = "", ...rest]: readonly string[], around: Terminal): Promise<Status> {
  if (["", "help", "--help", "-h"].includes(command)) {
    around.out(HELP);
    return 0;
  }
  if (["version", "--version", "-v"].includes(command)) {
    around.out(`envoi ${manifest.version}\n`);
    return 0;
  }
  if (!names.includes(command)) {
    around.err(`envoi knows no command "${command}".${instead(command, names)}\n`);
    return 2;
  }
  return command === "stress" ? stressOrSay(rest, around) : benchOrSay(rest, around);
}

async function benchOrSay(argv: readonly string[], around: Terminal): Promise<Status> {
  if (argv.includes("--help")) {
    around.out(usage("envoi bench"));
    return 0;
  }
  const timer = missingPeers(around.root).find((name) => name.startsWith("mitata@"));
  if (timer !== undefined) {
    around.err(`The benchmarks take their times by mitata, which is not installed: \`${commandFor([timer])}\`.\n`);
    return 1;
  }
  const { bench } = await import("./run"); // Which imports mitata.
  return bench("envoi bench", argv, around);
}

async function stressOrSay(argv: readonly string[], around: Terminal): Promise<Status> {
  try {
    return await stress(argv, around);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    around.err(`${error.message}\n`);
    return 2;
  }
}

await runInTerminal(join(import.meta.dir, ".."), (around) => run(process.argv.slice(2), around));
