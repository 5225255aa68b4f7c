/** `bun run stress`: see `--help`. */
import { join } from "node:path";
import { flag, readOptions, UsageError } from "../harness/arguments";
import { align } from "../harness/format";
import { writeWhole } from "../harness/places";
import { commandFor, missingPeers } from "../harness/shipped";
import { describeMiss, isKept, type Target } from "../harness/target";
import { isCheckout, runInTerminal, type Status, settle, type Terminal } from "../harness/terminal";
import { stressTargets } from "../targets/stress";
import { renderStress } from "./page";
import { type StressResults, serialiseStress } from "./results";
import { FULL, measureStress, QUICK } from "./stress";
import { NotFound } from "./trouble";

const usage = (command: string): string => `${command} [options]

  --quick   windows of one second and larger steps; writes nothing
  --check   ends with status 1 when a limit of stress is missed
  --json    the results as JSON on standard output
  --help    this text

Raises load on actors until something breaks. In a checkout of envoi, a full run writes benchmarks/results/stress.json, and the
pages made from it. The status is 1, too, when no breaking point is found or something does not hold past it.
`;

export const main = (argv: readonly string[], around: Terminal, measure = measureStress): Promise<Status> =>
  settle(around, () => stress(argv, around, measure), "Ended before it was over; nothing was written.\n");

async function stress(argv: readonly string[], around: Terminal, measure: typeof measureStress): Promise<Status> {
  const options = { quick: flag, check: flag, json: flag, help: flag };
  const { quick, check, json, help } = readOptions({ args: [...argv], options }).values;
  const { root, isTerminal, out, err } = around;
  if (help) {
    out(usage(isCheckout(root) ? "bun run stress" : "envoi stress"));
    return 0;
  }
  const missing = missingPeers(root, "code");
  if (missing.length > 0) {
    throw new UsageError(`Some of the load is code, which needs what is not installed: \`${commandFor(missing)}\`.`);
  }
  err(`This takes about ${quick ? "one minute" : "three minutes"}.\n`);
  const progress = (text: string) => (isTerminal ? around.progress(text) : err(`${text}\n`));
  const results = await measure(quick ? QUICK : FULL, { ...around, progress }).catch((thrown) => {
    if (!(thrown instanceof NotFound)) throw thrown;
    err(`The breaking point was not found: ${thrown.message}\n`);
  });
  around.progress("");
  if (results === undefined) return 1;
  const parts = renderStress(results).split("\n\n");
  out(json ? serialiseStress(results) : parts.map((part) => (part.startsWith("|") ? align(part) : part)).join("\n\n"));
  if (!quick && isCheckout(root)) {
    await writeWhole([[join(root, "benchmarks/results/stress.json"), serialiseStress(results)]]);
    await (await import("../harness/documents")).writePages(root); // Not part of a package.
  }
  const troubles = [...results.ladders.map(({ overload }) => overload), ...results.faults];
  const said = troubles.flatMap(({ name, failed }) => failed.map((sentence) => `${name}: ${sentence}`));
  if (check) said.push(...missedBy(results, stressTargets).map((miss) => `missed: ${miss}`));
  for (const sentence of said) err(`${sentence}\n`);
  return said.length > 0 ? 1 : 0;
}

export const missedBy = ({ ladders, faults }: StressResults, targets: readonly Target[]): string[] =>
  targets.flatMap((target) => {
    const ladder = ladders.find(({ name }) => name === target.row);
    const trouble = ladder?.overload ?? faults.find(({ name }) => name === target.row);
    const measured = target.figure === "recovery" ? trouble?.recovery : ladder?.held;
    if (measured === undefined) return [`"${target.row}" has no ${target.figure}, which has a limit`];
    return isKept(target, measured) ? [] : [describeMiss({ target, measured })];
  });

if (import.meta.main) {
  await runInTerminal(join(import.meta.dir, "../.."), (around) => main(process.argv.slice(2), around));
}
