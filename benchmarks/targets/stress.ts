import type { Target } from "../harness/target";

const RECOVERS = "its clients give up after a second: what is older than that keeps nobody waiting who is still there";
const stress = { suite: "stress" } as const;
const FAULTS = ["processes killed", "actors that crash", "a slow disk", "mailboxes full", "a flood of dead letters"];

/** What `bun run stress --check` holds its figures against. */
export const stressTargets: readonly Target[] = [
  {
    ...stress,
    row: "messaging only",
    figure: "load that held",
    atLeast: 10_000,
    aim: 200_000,
    reason: "over 10,000 messages a second sustained were promised; here they come from another process",
  },
  {
    ...stress,
    row: "all together",
    figure: "load that held",
    atLeast: 1_000,
    aim: 5_000,
    reason:
      "a tenth of it is code and a seventh are files written whole, of which a machine does a few thousand a second",
  },
  ...["messaging only", "all together", ...FAULTS].map(
    (row): Target => ({ ...stress, row, figure: "recovery", atMost: 5_000, aim: 500, reason: RECOVERS }),
  ),
];
