import { type Problem, refuse } from "../problem";

// The answers to the messages of a session.

/** The response to an ask: its reply as JSON, or null where it gives none. */
export const answered = (reply: string | null, headers: Readonly<Record<string, string>> = {}): Response =>
  reply === null
    ? new Response(null, { status: 204, headers })
    : new Response(reply, { headers: { "content-type": "application/json", ...headers } });

/** The refusal of a repetition whose message nobody knows. */
export const refuseUnknownMessage = (key: string | null): Response =>
  key === null
    ? refuse("bad-request", "A Last-Event-ID belongs to a message that is repeated: send the Idempotency-Key of that.")
    : refuse(
        "gone",
        "The message of this Idempotency-Key is not kept any more: leave the Last-Event-ID out to send a new one.",
      );

/** The refusal that a message ended with. */
export const refuseAgain = ({ kind, detail, issues }: Problem): Response =>
  refuse(kind, detail, {}, issues === undefined ? {} : { issues });
