import { type Load, startLoad } from "../load";
import { auditComplaints, isAsBefore, NotRecovered, recover } from "../overload";
import type { Fault, WindowResult } from "../results";
import { errorShare } from "../steps";
import { fault as crashes } from "./crashes";
import { fault as deadLetters } from "./dead-letters";
import { fault as fullMailboxes } from "./full-mailboxes";
import { fault as kills } from "./kills";
import { fault as slowDisk } from "./slow-disk";
import type { FaultPlan, Told } from "./trouble";

export const FAULTS: readonly FaultPlan[] = [kills, crashes, slowDisk, fullMailboxes, deadLetters];

export interface FaultOptions {
  /** Of each window, in milliseconds. */
  readonly window: number;
  readonly signal: AbortSignal;
}

/** A request without an answer is given up then, in milliseconds: later than any ask times out. */
const PATIENCE = 5_000;
const SETTLE = 500;
/** So often a window is taken, since the machine may falter: what does not come back never does. */
const TRIES = 5;

/** Has something go wrong under load for one window, and looks whether all is as before after it. */
export async function measureFault(plan: FaultPlan, { window, signal }: FaultOptions): Promise<Fault> {
  const { name, about, rate, mix, module } = plan;
  await using load = await startLoad({ rate, mix, patience: PATIENCE, subject: new URL(module), signal });
  await Bun.sleep(SETTLE);
  const look = () => load.window(window);
  const before = await until(look, (seen) => errorShare(seen) === 0);
  await load.command("begin");
  const seen = load.window(window);
  seen.catch(() => {}); // It is told below, unless what comes before it fails.
  await Bun.sleep(window);
  await load.command("end");
  const recovered = await recovery(load, before);
  const during = await seen;
  const after = await until(look, (seen) => isAsBefore(seen, before));
  await load.rest();
  const { audit } = await load.look();
  const { happened, failed } = (await load.command("told")) as Told; // As `subjectOf` tells it.
  const result = { name, about, before, during, after, audit, happened: { ...happened }, recovery: recovered ?? NEVER };
  const all = [...failed, ...complaints(plan, result)];
  if (recovered === undefined) all.push(`It was not as before ${NEVER / 1_000} s after.`);
  return { ...result, failed: all };
}

async function until(
  look: () => Promise<WindowResult>,
  isRight: (seen: WindowResult) => boolean,
): Promise<WindowResult> {
  for (let tries = 1; ; tries++) {
    const seen = await look();
    if (isRight(seen) || tries === TRIES) return seen;
  }
}

/** What stands for no recovery: as long as `recover` waits, in milliseconds. */
const NEVER = 10_000;

async function recovery(load: Load, before: Fault["before"]): Promise<number | undefined> {
  try {
    return await recover(load, before);
  } catch (thrown) {
    if (thrown instanceof NotRecovered) return undefined;
    throw thrown;
  }
}

/** What should hold of any fault, and did not. */
export function complaints(plan: FaultPlan, fault: Omit<Fault, "failed">): string[] {
  const { before, during, after, happened, audit } = fault;
  const failed: string[] = [];
  if (Object.values(happened).every((times) => times === 0)) failed.push("Nothing went wrong, so this was no fault.");
  for (const [operation, { errors }] of Object.entries(during.operations)) {
    const unexpected = Object.keys(errors).filter((kind) => !plan.allowed[operation]?.includes(kind));
    for (const kind of unexpected) failed.push(`${errors[kind]} × ${operation} came back as ${kind}.`);
  }
  if (errorShare(before) > 0) failed.push("Something went wrong before the fault began.");
  if (!isAsBefore(after, before)) {
    const [then, now] = [before.all.latency.p95, after.all.latency.p95].map((p95) => p95.toFixed(1));
    const errors = (errorShare(after) * 100).toFixed(1);
    failed.push(`After it, the p95 was ${now} ms with ${errors} % errors; before it was ${then} ms.`);
  }
  failed.push(...auditComplaints(audit));
  return failed;
}
