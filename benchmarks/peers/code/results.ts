import { Type } from "envoi";
import { machineSchema } from "../../harness/machine";
import type { Described } from "../../harness/schema";
import { failure, row } from "../results";

const orNull = <Schema extends Parameters<typeof Type.Array>[0]>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** What became of an attack, and of the process that was attacked. */
const outcome = Type.Object({
  /** Milliseconds until the run was over; null where it was not. */
  after: orNull(Type.Number()),
  /** How it was over; `died` where its process was. */
  how: Type.Union([Type.Literal("value"), Type.Literal("error"), Type.Literal("died"), Type.Literal("killed")]),
  /** The longest time, in milliseconds, that a 5 ms timer beside it did not fire. */
  gap: Type.Number(),
  /** Most bytes of all its processes together, and those before the attack; null where they cannot be seen. */
  memory: orNull(Type.Object({ before: Type.Number(), peak: Type.Number() })),
  /** Milliseconds that the next trivial run took; null where it gave nothing. */
  usable: orNull(Type.Number()),
  /** Of one processor, how much was still used after all was over; null where it cannot be seen. */
  busy: orNull(Type.Number()),
});
export type Outcome = Described<typeof outcome>;

const attack = Type.Object({ attack: Type.String(), outcome: Type.Union([outcome, failure]) });
export type AttackResult = Described<typeof attack>;

const peer = Type.Object({
  name: Type.String(),
  how: Type.String(),
  /** Package and version. */
  packages: Type.Array(Type.String()),
  rows: Type.Array(row),
  attacks: Type.Array(attack),
});
export type CodePeerResult = Described<typeof peer>;

/** What was measured of the tools for code, as `benchmarks/results/peers-code.json` keeps it. */
export const codePeerResults = Type.Object({
  machine: machineSchema,
  /** Rounds of all candidates in turn. */
  rounds: Type.Number(),
  /** The limits that were set, in milliseconds and bytes. */
  limits: Type.Object({ timeout: Type.Number(), memory: Type.Number() }),
  /** Milliseconds after which a candidate under attack was killed. */
  patience: Type.Number(),
  peers: Type.Array(peer),
});
export type CodePeerResults = Described<typeof codePeerResults>;
