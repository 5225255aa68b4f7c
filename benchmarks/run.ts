import { existsSync } from "node:fs";
import { join } from "node:path";
import { main } from "./harness/cli";
import { loadSuites } from "./harness/load";
import type { Status, Terminal } from "./harness/surroundings";
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
    isCheckout: existsSync(join(root, "src/index.ts")),
  });

if (import.meta.main) await runInTerminal(root, (around) => bench("bun run bench", process.argv.slice(2), around));
