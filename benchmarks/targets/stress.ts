import type { Target } from "../harness/target";

const RECOVERS = "its clients give up after a second: what is older than that keeps nobody waiting who is still there";
const SUSTAINED = "over 10,000 messages a second sustained were promised; here they come from another process";
const FILES =
  "a tenth of it is code and a seventh are files written whole, of which a machine does a few thousand a second";
const FAULTS = ["processes killed", "actors that crash", "a slow disk, and mailboxes full"];
const held = { suite: "stress", figure: "load that held" } as const;

/** What `bun run stress --check` holds its figures against. */
export const stressTargets: readonly Target[] = [
  { ...held, row: "messaging only", atLeast: 10_000, aim: 200_000, reason: SUSTAINED },
  { ...held, row: "all together", atLeast: 1_000, aim: 5_000, reason: FILES },
  ...["messaging only", "all together", ...FAULTS].map(
    (row): Target => ({ suite: "stress", row, figure: "recovery", atMost: 5_000, aim: 500, reason: RECOVERS }),
  ),
];
