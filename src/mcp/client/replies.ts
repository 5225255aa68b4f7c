import type { Operation } from "../../index";
import { isObject } from "../rooted";
import type { ClientParts, ClientSdk } from "../sdk";
import { CUT } from "./cuts";
import type { RemoteTool } from "./remote-protocol";
import type { RemoteReply, ToolError } from "./remote-signatures";

/** Most characters of a sentence that a server gives. */
const LONGEST = 4_096;

/**
 * The reply that a tool's result stands for, checked by the operation's schema.
 *
 * @param isSoonChecked false for a value that its schema would take too long to check.
 */
export function replyOf(
  result: ClientSdk.CallToolResult,
  tool: RemoteTool,
  operation: Operation | undefined,
  isSoonChecked: (value: unknown) => boolean,
): RemoteReply {
  if (result.isError === true) return failed("failed", textsOf(result.content) ?? "The tool failed without a word.");
  const hasSchema = tool.outputSchema !== undefined;
  if (hasSchema && result.structuredContent === undefined) {
    return failed("invalid-reply", "The tool gave no structured content, though it has a schema of it.");
  }
  const value = hasSchema ? result.structuredContent : (textsOf(result.content) ?? result.content);
  if (hasSchema && !isSoonChecked(value)) {
    return failed("invalid-reply", "What the tool gave is too large to be checked by its schema.");
  }
  const reply: RemoteReply = { ok: true, value };
  if (operation === undefined || operation.reply.parse(reply).isOk()) return reply;
  return failed("invalid-reply", "What the tool gave does not fit its schema.");
}

/** The joined texts of parts; undefined if some part is no text. */
function textsOf(content: readonly unknown[]): string | undefined {
  const texts: string[] = [];
  for (const part of content) {
    if (!isObject(part) || part["type"] !== "text" || typeof part["text"] !== "string") return undefined;
    texts.push(part["text"]);
  }
  return texts.join("\n");
}

const failed = (kind: ToolError["kind"], message: string): RemoteReply => ({
  ok: false,
  error: { kind, message: message.slice(0, LONGEST) },
});

/** The error of a call that was not answered. `isOver` is true when the connection can no longer be used. */
export function errorOf(
  thrown: unknown,
  { ProtocolError, SdkError, SdkErrorCode, SdkHttpError }: ClientParts,
  signal: AbortSignal,
): { readonly error: ToolError; readonly isOver: boolean } {
  const message = (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, LONGEST);
  const said = (kind: ToolError["kind"], isOver = false) => ({ error: { kind, message }, isOver });
  if (signal.aborted) return said("timeout");
  if (thrown instanceof ProtocolError) return said(thrown.code === CUT ? "lost" : "refused");
  if (thrown instanceof SdkHttpError) return said("lost", thrown.status === 404); // The session is gone.
  if (!(thrown instanceof SdkError)) return said("lost"); // Such as that of fetch.
  const { ConnectionClosed, NotConnected, SendFailed, RequestTimeout, InvalidResult } = SdkErrorCode;
  if (thrown.code === InvalidResult) return said("invalid-reply");
  return said([ConnectionClosed, NotConnected, SendFailed, RequestTimeout].includes(thrown.code) ? "lost" : "refused");
}
