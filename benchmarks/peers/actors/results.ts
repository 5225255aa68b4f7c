import { Type } from "envoi";
import { machineSchema } from "../../harness/machine";
import type { Described } from "../../harness/schema";

/** What was measured of one peer at one row. */
const figure = Type.Union([
  Type.Object({
    peer: Type.String(),
    median: Type.Number(),
    min: Type.Number(),
    samples: Type.Number(),
    /** The median of each round, in which all took their turns. */
    rounds: Type.Array(Type.Number()),
  }),
  /** It could not be installed, started, or do its work. */
  Type.Object({ peer: Type.String(), failed: Type.String() }),
  /** It has nothing of the kind, or nobody would do it with it. */
  Type.Object({ peer: Type.String(), none: Type.String() }),
]);
export type ActorFigure = Described<typeof figure>;

const row = Type.Object({
  row: Type.String(),
  /** Of each figure; those in `ns` are for one operation. */
  unit: Type.Union([Type.Literal("ns"), Type.Literal("B"), Type.Literal("ms"), Type.Literal("")]),
  /** Whether more is better. */
  isMoreBetter: Type.Boolean(),
  figures: Type.Array(figure),
});
export type ActorRowResult = Described<typeof row>;

/** What came of a check: it held, it did not, or it could not be made, with the reason. */
const checked = Type.Object({
  check: Type.String(),
  outcome: Type.Union([Type.Boolean(), Type.Object({ none: Type.String() }), Type.Object({ failed: Type.String() })]),
});
export type Checked = Described<typeof checked>;

const peer = Type.Object({
  name: Type.String(),
  how: Type.String(),
  /** Package and version. */
  packages: Type.Array(Type.String()),
  /** Whether it is no library of actors, but what one could do without. */
  isFloor: Type.Boolean(),
  /** What it does not do: what the checks found, and what none can show. */
  lacks: Type.Array(Type.String()),
  keepsOneAtATime: Type.Boolean(),
  yieldsToTimers: Type.Boolean(),
  /** How many leaves its skynet had. */
  leaves: Type.Number(),
  checks: Type.Array(checked),
});
export type ActorPeerResult = Described<typeof peer>;

/** What was measured of the actors, as `benchmarks/results/peers-actors.json` keeps it. */
export const actorPeerResults = Type.Object({
  machine: machineSchema,
  /** Rounds of all peers in turn. */
  rounds: Type.Number(),
  peers: Type.Array(peer),
  rows: Type.Array(row),
});
export type ActorPeerResults = Described<typeof actorPeerResults>;
