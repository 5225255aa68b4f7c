/** Refusals by the transport, before a message is read. They are JSON-RPC, so that clients can show them. */
const refuse = (status: number, code: number, message: string, headers: Record<string, string> = {}): Response =>
  Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status, headers });

/** Errors of JSON-RPC, and those that MCP's transports use. */
const [PARSE, INVALID, INTERNAL, REFUSED, NO_SESSION] = [-32_700, -32_600, -32_603, -32_000, -32_001];

/** Ends the connection: nothing more of the body is taken. */
const CLOSE = { connection: "close" };

export const refusals = {
  host: () => refuse(403, REFUSED, "This host name or origin is not served here."),
  method: () => refuse(405, REFUSED, "Send POST, or DELETE to end a session.", { allow: "POST, DELETE" }),
  unknown: () =>
    refuse(401, REFUSED, "The request names no caller who is let in: send credentials.", {
      "www-authenticate": "Bearer",
    }),
  type: () => refuse(415, REFUSED, "The body must be JSON: send content-type: application/json, not compressed."),
  large: (most: number) => refuse(413, REFUSED, `The body has more than ${most} bytes, the most that is taken.`, CLOSE),
  slow: (time: number) => refuse(408, REFUSED, `The body did not come within ${time} ms.`, CLOSE),
  cut: () => refuse(400, PARSE, "The body was cut short: send the whole of it."),
  json: () => refuse(400, PARSE, "This is no valid JSON."),
  deep: (most: number) => refuse(400, INVALID, `The JSON is nested more than ${most} levels deep.`),
  polluting: () => refuse(400, INVALID, 'The JSON has a key "__proto__": leave it out.'),
  batch: (most: number) => refuse(400, INVALID, `A batch has at most ${most} messages.`),
  session: () => refuse(404, NO_SESSION, "There is no such session: begin anew with initialize."),
  noSession: () => refuse(400, REFUSED, "Begin with initialize, and send the header Mcp-Session-Id that it gives."),
  full: () => refuse(503, REFUSED, "There are too many sessions: try again later.", { "retry-after": "60" }),
  closed: () => refuse(503, REFUSED, "The server is stopping."),
  failed: () => refuse(500, INTERNAL, "The server failed."),
};
