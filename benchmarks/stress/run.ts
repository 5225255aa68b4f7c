/** `bun run stress`: see `--help`. */
import { join } from "node:path";
import { isCheckout, type Status, type Terminal } from "../harness/surroundings";
import { runInTerminal } from "../harness/terminal";
import { stressTargets } from "../targets";
import { main as stress } from "./command";
import { measureStress } from "./stress";

/** Runs the command on a terminal. */
export function main(argv: readonly string[], around: Terminal): Promise<Status> {
  const { isTerminal, progress, err, root } = around;
  return stress(argv, {
    ...around,
    measure: measureStress,
    targets: stressTargets,
    isInstalled: !isCheckout(root),
    progress: (text) => {
      if (isTerminal) progress(text);
      else if (text !== "") err(`${text}\n`);
    },
  });
}

if (import.meta.main) {
  await runInTerminal(join(import.meta.dir, "../.."), (around) => main(process.argv.slice(2), around));
}
