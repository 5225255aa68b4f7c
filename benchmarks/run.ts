import { join } from "node:path";
import { parseArguments } from "./harness/arguments";
import { main } from "./harness/cli";
import { loadSuites } from "./harness/load";
import { unlessInterrupted } from "./harness/processes";
import { layOut } from "./harness/shipped";
import { isCheckout, runInTerminal, type Status, type Surroundings, settle, type Terminal } from "./harness/terminal";
import { targets } from "./targets";

const root = join(import.meta.dir, "..");

/** What needs a checkout, by its own sources; loaded where it is asked for, since a package does not have it. */
const here: Pick<Surroundings, "writePages" | "compare"> = {
  writePages: async (root) => (await import("./harness/documents")).writePages(root),
  compare: async (...given) => (await import("./compare/compare")).compare(...given),
};

/** Runs the suites of this folder; `command` is what was typed to come here. */
export const bench = (command: string, argv: readonly string[], around: Terminal, ofCheckout = here): Promise<Status> =>
  main(argv, {
    ...around,
    ...ofCheckout,
    command,
    suites: () => loadSuites(join(import.meta.dir, "suites")),
    targets,
    isCheckout: isCheckout(around.root),
    soak: async (...given) => (await import("./soak/soak")).soak(...given),
  });

/** Whether what is asked for needs no build, or makes its own; a wrong command line is told before anything is built. */
function needsNoBuild(argv: readonly string[]): boolean {
  try {
    const { smoke, help, page, compare } = parseArguments(argv);
    return smoke || help || page || compare !== undefined;
  } catch {
    return true;
  }
}

if (import.meta.main) {
  const argv = process.argv.slice(2);
  await runInTerminal(root, async (around) => {
    if (needsNoBuild(argv)) return bench("bun run bench", argv, around);
    // What is measured is what is shipped: this file, imported from where envoi is the built one.
    around.progress("building the package");
    const build = async () => {
      const folder = await unlessInterrupted(layOut(root), around.signal);
      const shipped: { readonly bench: typeof bench } = await import(join(folder, "benchmarks/run.ts"));
      return shipped.bench("bun run bench", argv, around, here);
    };
    return settle(around, build, "Interrupted before anything was measured.\n");
  });
}
