import { join } from "node:path";
import { main } from "./harness/cli";
import { loadSuites } from "./harness/load";
import { layOut } from "./harness/shipped";
import { isCheckout, type Status, type Terminal } from "./harness/surroundings";
import { runInTerminal } from "./harness/terminal";
import { targets } from "./targets";

const root = join(import.meta.dir, "..");

/** Runs the suites of this folder; `command` is what was typed to come here. */
export const bench = (command: string, argv: readonly string[], around: Terminal): Promise<Status> =>
  main(argv, {
    ...around,
    command,
    suites: () => loadSuites(join(import.meta.dir, "suites")),
    targets,
    isCheckout: isCheckout(around.root),
  });

/** What these ask for needs no build, or makes its own. */
const WITHOUT_BUILD = ["--smoke", "--help", "--page", "--compare"];

if (import.meta.main) {
  const argv = process.argv.slice(2);
  const isFromSources = argv.some((word) => WITHOUT_BUILD.some((flag) => word === flag || word.startsWith(`${flag}=`)));
  await runInTerminal(root, async (around) => {
    if (isFromSources) return bench("bun run bench", argv, around);
    // What is measured is what is shipped: this file, imported from where envoi is the built one.
    const shipped: { readonly bench: typeof bench } = await import(join(layOut(root), "benchmarks/run.ts"));
    return shipped.bench("bun run bench", argv, around);
  });
}
