/** `bun run stress`: see `--help`. */
import { join } from "node:path";
import { UsageError } from "../harness/arguments";
import { commandFor, missingPeers } from "../harness/shipped";
import { isCheckout, runInTerminal, type Status, type Terminal } from "../harness/terminal";
import { stressTargets } from "../targets/stress";
import { main as stress } from "./command";
import { FULL, measureStress, QUICK } from "./stress";

/** Runs the command on a terminal. */
export function main(argv: readonly string[], around: Terminal): Promise<Status> {
  const { isTerminal, progress, err, root } = around;
  return stress(argv, {
    ...around,
    async measure(options) {
      const missing = missingPeers(root).filter((name) => !name.startsWith("mitata@"));
      if (missing.length > 0) {
        const command = commandFor(missing);
        throw new UsageError(`Some of the load is code, which needs what is not installed: \`${command}\`.`);
      }
      const times = new Map([
        [FULL, "five minutes"],
        [QUICK, "two minutes"],
      ]);
      err(`This takes about ${times.get(options.effort) ?? "a hundred windows of that length"}.\n`);
      return measureStress(options);
    },
    targets: stressTargets,
    isInstalled: !isCheckout(root),
    writePages: async () => (await import("../harness/documents")).writePages(root), // Not part of a package.
    progress: (text) => {
      if (isTerminal) progress(text);
      else if (text !== "") err(`${text}\n`);
    },
  });
}

if (import.meta.main) {
  await runInTerminal(join(import.meta.dir, "../.."), (around) => main(process.argv.slice(2), around));
}
