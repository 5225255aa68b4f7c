/** The commands of `bunx envoi` that measure, which `src/cli/envoi.ts` loads. */
import { join } from "node:path";
import { usage } from "./harness/arguments";
import { commandFor, missingPeers } from "./harness/shipped";
import { runInTerminal, type Status, type Terminal } from "./harness/terminal";

export async function measure(command: "bench" | "stress", argv: readonly string[]): Promise<void> {
  await runInTerminal(join(import.meta.dir, ".."), async (around) =>
    command === "bench" ? benchOrSay(argv, around) : (await import("./stress/run")).main(argv, around),
  );
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
