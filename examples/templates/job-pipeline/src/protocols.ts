import { defineProtocol, type Infer, Type } from "envoi";

/** A job as it comes in, one a line. What does not fit is refused before a worker sees it. */
export const Job = Type.Object({ id: Type.String({ minLength: 1 }), text: Type.String() });
export type Job = Infer<typeof Job>;

/** The end of a job. */
export const Outcome = Type.Union([
  Type.Object({ id: Type.String(), ok: Type.Literal(true), value: Type.Unknown(), attempts: Type.Integer() }),
  Type.Object({ id: Type.String(), ok: Type.Literal(false), reason: Type.String(), attempts: Type.Integer() }),
]);
export type Outcome = Infer<typeof Outcome>;

/** How many jobs have ended, and how. */
export interface Summary {
  done: number;
  failed: number;
}

/** Does jobs, one at a time. */
export const Worker = defineProtocol("worker", { run: { payload: Job } });

/** Writes outcomes, one at a time, in the order in which they come. */
export const Results = defineProtocol("results", { add: { payload: Outcome } });
