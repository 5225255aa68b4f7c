import { defineProtocol, type Static, Type } from "envoi";

/** What happens while an agent works on a message, in its order; `answer` or `failed` is the last. Each is an event of the session. */
export const Happening = Type.Union([
  /** A step begins: the agent calls a tool. */
  Type.Object({
    kind: Type.Literal("call"),
    step: Type.Integer(),
    why: Type.String(),
    tool: Type.String(),
    input: Type.Unknown(),
  }),
  /** A step ends. */
  Type.Object({ kind: Type.Literal("result"), step: Type.Integer(), ok: Type.Boolean(), result: Type.Unknown() }),
  Type.Object({ kind: Type.Literal("answer"), text: Type.String() }),
  Type.Object({ kind: Type.Literal("failed"), why: Type.String() }),
]);
export type Happening = Static<typeof Happening>;

/** The agent of a session. */
export const Agent = defineProtocol("agent", {
  /** Works on what a person wrote. */
  work: { payload: Type.Object({ text: Type.String({ minLength: 1, maxLength: 4_000 }) }), stream: Happening },
  /** Goes on with a message whose work was interrupted, after the last step that is in the log. */
  goOn: {
    /** The id of the event that the message began with. */
    payload: Type.Object({ request: Type.Integer({ minimum: 1 }) }),
    stream: Happening,
  },
});
