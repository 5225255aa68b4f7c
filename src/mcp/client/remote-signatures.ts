import { type Static, Type } from "../../index";

/** The reason why a tool of another server gave nothing. */
export const ToolError = Type.Object({
  kind: Type.Union([
    Type.Literal("failed", { description: "The tool says so." }),
    Type.Literal("refused", { description: "The server does not take the call." }),
    Type.Literal("timeout", { description: "It took too long; it may have been done." }),
    Type.Literal("lost", { description: "The connection was lost, or could not be made; it may have been done." }),
    Type.Literal("invalid-reply", { description: "The server's answer does not fit what it says of the tool." }),
  ]),
  message: Type.String(),
});

export type ToolError = Static<typeof ToolError>;

/**
 * The reply of a tool of another server. Its value is held to the schema that the server gives, if it gives one. `resultOf` of
 * `envoi/tools` makes one Result of the reply and of the ask.
 */
export type RemoteReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ToolError };

/** The signatures of another server's tools: which there are, only the run time knows. */
export type RemoteSignatures = Record<string, (payload?: unknown) => RemoteReply>;
