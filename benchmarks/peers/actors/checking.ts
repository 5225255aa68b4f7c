import type { RoomRun } from "../room";
import { type Check, checks, ONE_AT_A_TIME, STARVES, YIELDS } from "./checks";
import { hostOf, reasonIn } from "./hosts";
import { type ActorCandidate, NO_ASK } from "./peer";
import type { ActorPeerResult, Checked } from "./results";
import { LEAVES } from "./rows";

/** For a check, in milliseconds. */
const PATIENCE = 30_000;

type Found = Pick<ActorPeerResult, "lacks" | "keepsOneAtATime" | "yieldsToTimers" | "leaves" | "checks">;

/** Finds out what a peer does not do; `fairness` is what the row about timers found. */
export async function checkPeer(
  run: RoomRun,
  candidate: ActorCandidate,
  gone: { readonly failed: string } | undefined,
  fairness: Checked["outcome"] | undefined,
): Promise<Found> {
  const made: Checked[] = [];
  for (const check of checks) {
    made.push({ check: check.name, outcome: gone ?? (await outcomeOf(run, candidate, check)) });
  }
  const outcome = gone ?? fairness ?? { failed: "its volley was not measured" };
  return summariseChecks(candidate, [...made, { check: YIELDS, outcome }]);
}

async function outcomeOf(run: RoomRun, candidate: ActorCandidate, check: Check): Promise<Checked["outcome"]> {
  const none = candidate.unchecked?.[check.name];
  if (none !== undefined) return { none };
  if (check.isOfAsks && candidate.said.includes(NO_ASK)) return { none: NO_ASK };
  const host = hostOf(candidate, "check", check.name);
  try {
    const told = await host.next(PATIENCE);
    if (told?.kind === "checked") return told.holds;
    return run.failure(candidate, `could not be checked for "${check.name}"`, reasonIn(told));
  } finally {
    await host.end();
  }
}

/** What follows from the checks. */
export function summariseChecks(candidate: ActorCandidate, made: readonly Checked[]): Found {
  const holds = (name: string): boolean => made.some(({ check, outcome }) => check === name && outcome === true);
  const lackOf = new Map([...checks.map(({ name, lack }) => [name, lack] as const), [YIELDS, STARVES]]);
  const found = made.flatMap(({ check, outcome }) => (outcome === false ? [lackOf.get(check) ?? check] : []));
  return {
    lacks: [...candidate.said, ...found],
    keepsOneAtATime: holds(ONE_AT_A_TIME),
    yieldsToTimers: holds(YIELDS),
    leaves: candidate.leaves ?? LEAVES,
    checks: [...made],
  };
}
