/**
 * Checks what a release must keep, on a quiet machine: `bun run release:check`. Everything that `verify` checks, the targets of all
 * benchmarks, the speed beside that of the last tag, and the pages. All of it is run, whatever fails, and nothing in the tree is changed.
 */
import { join } from "node:path";
import { stalePages } from "../benchmarks/harness/documents";
import { endDescendants, onEnding } from "../benchmarks/harness/processes";
import { type Outcome, type Step, takeSteps } from "./checklist";

/** For what it runs to put away what it made once it is told to end, in milliseconds. */
const GRACE = 10_000;

/** Stale documents that are named; of charts there are dozens. */
const FEW = 3;

/** What the benchmarks end with where noise, or what is not installed, keeps some rows from being judged: they have named them. */
const UNJUDGED = 3;

/** Runs one of the project's programs, its output shown as it comes. */
export function program(root: string, ...args: readonly string[]): Step["run"] {
  return async (signal) => {
    const child = Bun.spawn([process.execPath, ...args], {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      detached: true, // A terminal's Ctrl-C would reach it beside the signal below, and a second one ends it at once.
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (): void => {
      child.kill("SIGINT");
      timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), GRACE);
    };
    signal.addEventListener("abort", end, { once: true });
    const status = await child.exited;
    signal.removeEventListener("abort", end);
    clearTimeout(timer);
    if (status === UNJUDGED) return { isOk: true, note: "not all could be judged; they are named above" };
    return { isOk: status === 0, note: status === 0 ? "" : `status ${status}` };
  };
}

/**
 * The tag to compare a tree with: the last one that HEAD descends from. When HEAD has a tag of its own, that is the release which is
 * being checked, and the one before it counts.
 */
export function lastTag(root: string): string | undefined {
  const nearest = describe(root, "HEAD");
  const isOwn =
    nearest !== undefined && git(root, "rev-parse", `${nearest}^{commit}`) === git(root, "rev-parse", "HEAD");
  return isOwn ? describe(root, "HEAD^") : nearest;
}

const describe = (root: string, from: string): string | undefined =>
  git(root, "describe", "--tags", "--abbrev=0", from);

function git(cwd: string, ...args: readonly string[]): string | undefined {
  const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd, stdout: "pipe", stderr: "ignore" });
  return success ? stdout.toString().trim() : undefined;
}

/** What there is to check in a tree: about 12 minutes, and 20 at most, on a quiet machine with two cores. */
export function releaseSteps(root: string): Step[] {
  return [
    { name: "verify", run: program(root, "scripts/verify.ts") },
    { name: "documents", run: () => documents(root) },
    { name: "benchmarks", run: program(root, "benchmarks/run.ts", "--check") },
    { name: "comparison", run: (signal) => comparison(root, signal) },
  ];
}

async function documents(root: string): Promise<Outcome> {
  const stale = await stalePages(root);
  if (stale.length === 0) return { isOk: true, note: "" };
  const named =
    stale.length > FEW ? `${stale.slice(0, FEW).join(", ")} and ${stale.length - FEW} more` : stale.join(", ");
  return { isOk: false, note: `not what the results say: ${named}; \`bun run bench --page\` writes them` };
}

async function comparison(root: string, signal: AbortSignal): Promise<Outcome> {
  const tag = lastTag(root);
  if (tag === undefined) return { isOk: true, note: "there is no tag yet, so nothing to compare with" };
  const { isOk, note } = await program(root, "benchmarks/run.ts", "--compare", tag, "--quick")(signal);
  return { isOk, note: `with ${tag}${note && `: ${note}`}` };
}

if (import.meta.main) {
  const root = join(import.meta.dir, "..");
  if (process.argv.length > 2) {
    console.error(`There is no option "${process.argv[2]}", nor any other.`);
    process.exit(2);
  }
  const controller = new AbortController();
  // The first one ends what runs, and the summary follows.
  const atOnce = (): never => {
    endDescendants("SIGKILL");
    process.exit(130);
  };
  const stopListening = onEnding(() => controller.abort(), atOnce);
  process.exitCode = await takeSteps(releaseSteps(root), (line) => console.log(line), controller.signal);
  stopListening();
}
