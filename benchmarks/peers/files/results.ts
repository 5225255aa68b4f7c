import { Type } from "envoi";
import { machineSchema } from "../../harness/machine";
import type { Described } from "../../harness/schema";
import { failure, row } from "../results";

/** The reads of a race: those that gave what is outside, those that gave what is inside, and the rest, which were refused. */
const race = Type.Object({ reads: Type.Number(), escapes: Type.Number(), inside: Type.Number() });
export type Race = Described<typeof race>;

const fifo = Type.Object({
  answer: Type.Union([Type.Literal("refuses"), Type.Literal("reads"), Type.Literal("hangs")]),
});

const peer = Type.Object({
  name: Type.String(),
  how: Type.String(),
  /** Package and version. */
  packages: Type.Array(Type.String()),
  rows: Type.Array(row),
  race: Type.Union([race, failure]),
  fifo: Type.Union([fifo, failure]),
});
export type FilePeerResult = Described<typeof peer>;

/** What was measured of the tools for files, as `benchmarks/results/peers-files.json` keeps it. */
export const filePeerResults = Type.Object({
  machine: machineSchema,
  /** Rounds of all candidates in turn. */
  rounds: Type.Number(),
  /** How long each race lasted, in seconds. */
  seconds: Type.Number(),
  peers: Type.Array(peer),
});
export type FilePeerResults = Described<typeof filePeerResults>;
