import { defineProtocol, type Static, Type } from "envoi";

const Path = Type.String({ minLength: 1 });
const Lines = Type.Object({ from: Type.Integer({ minimum: 1 }), to: Type.Integer({ minimum: 1 }) });

/** What a planner can have done, by name. What a model proposes is held to these before anything is done. */
export const STEPS = {
  list: Type.Object({ do: Type.Literal("list"), glob: Type.Optional(Type.String()) }),
  read: Type.Object({ do: Type.Literal("read"), path: Path, lines: Type.Optional(Lines) }),
  run: Type.Object({ do: Type.Literal("run"), code: Type.String({ minLength: 1 }) }),
  write: Type.Object({ do: Type.Literal("write"), path: Path, content: Type.String() }),
  finish: Type.Object({ do: Type.Literal("finish"), report: Path, summary: Type.String() }),
  giveUp: Type.Object({ do: Type.Literal("giveUp"), why: Type.String() }),
} as const;

export const Step = Type.Union([STEPS.list, STEPS.read, STEPS.run, STEPS.write, STEPS.finish, STEPS.giveUp]);
export type Step = Static<typeof Step>;
export type StepOf<Name extends Step["do"]> = Extract<Step, { do: Name }>;

/** What came of a step. */
export const Observation = Type.Union([
  Type.Object({ kind: Type.Literal("files"), paths: Type.Array(Type.String()), isCut: Type.Boolean() }),
  Type.Object({ kind: Type.Literal("text"), content: Type.String() }),
  Type.Object({ kind: Type.Literal("value"), value: Type.Unknown(), logs: Type.Array(Type.String()) }),
  Type.Object({ kind: Type.Literal("written"), bytes: Type.Integer() }),
  Type.Object({
    kind: Type.Literal("error"),
    /** The kind of the tool's own error, such as `not-found` or `runtime-error`; `refused` where it may not be done. */
    error: Type.String(),
    message: Type.String(),
    /** Where, in the code of a `run`. */
    line: Type.Optional(Type.Integer()),
    column: Type.Optional(Type.Integer()),
    logs: Type.Optional(Type.Array(Type.String())),
  }),
]);
export type Observation = Static<typeof Observation>;

/** A step that was done, or a proposal that was none, and what came of it. */
export const Turn = Type.Object({
  step: Type.Union([Step, Type.Object({ do: Type.Literal("nothing"), reply: Type.String() })]),
  observation: Observation,
});
export type Turn = Static<typeof Turn>;

/** All that a planner knows: it keeps nothing itself, so that one that was restarted goes on where the last one failed. */
export const PlanRequest = Type.Object({ task: Type.String(), turns: Type.Array(Turn) });
export type PlanRequest = Static<typeof PlanRequest>;

/** What a planner says: its thoughts piece by piece, then the next step, or a proposal that is none. */
export const PlanItem = Type.Union([
  Type.Object({ kind: Type.Literal("thought"), text: Type.String() }),
  Type.Object({ kind: Type.Literal("step"), step: Step }),
  Type.Object({ kind: Type.Literal("nonsense"), reply: Type.String(), fault: Type.String() }),
]);
export type PlanItem = Static<typeof PlanItem>;

/** Decides what to do next. */
export const Planner = defineProtocol("planner", {
  plan: { payload: PlanRequest, stream: PlanItem },
});

/** What happens while a task is worked on, in its order; `finished` or `failed` is the last. */
export const Happening = Type.Union([
  Type.Object({ kind: Type.Literal("thought"), text: Type.String() }),
  Type.Object({ kind: Type.Literal("step"), number: Type.Integer(), step: Step }),
  Type.Object({ kind: Type.Literal("observed"), observation: Observation }),
  Type.Object({
    kind: Type.Literal("finished"),
    report: Type.String(),
    summary: Type.String(),
    content: Type.String(),
  }),
  Type.Object({ kind: Type.Literal("failed"), why: Type.String() }),
]);
export type Happening = Static<typeof Happening>;

/** Works on a task, and tells all that happens. */
export const Agent = defineProtocol("agent", {
  work: { payload: Type.Object({ task: Type.String() }), stream: Happening },
});
