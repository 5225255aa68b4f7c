import type { Pattern } from "../../index";
import type { Difference } from "./compare";
import type { Outcome } from "./sent";
import type { RecordedMessage } from "./tape";
import type { Refusal } from "./world";

/** A recorded message, as a report names it. */
export interface MessageNote {
  /** The id of its line. */
  readonly id: number;
  /** In milliseconds since the recording began. */
  readonly at: number;
  readonly pattern: Pattern;
  readonly to: string;
  readonly operation: string;
}

/**
 * Something that was not as it is in the recording. `origin` is the message from outside that led to a call of something outside; undefined
 * where nobody knows. Any other deviation is of such a message itself.
 */
export type Deviation =
  /** A reply, an item of a stream or an error is another one. */
  | {
      readonly kind: "value";
      readonly message: MessageNote;
      readonly part: "reply" | "item" | "error";
      /** The index of the item, from 0; undefined for a reply or an error. */
      readonly index: number | undefined;
      /** Empty where the schema or a comparison function of the user refused it. */
      readonly differences: readonly Difference[];
      /** The sentence of the schema or of the comparison function. */
      readonly why: string | undefined;
    }
  /** The message ended otherwise: it failed where it was handled, say. */
  | {
      readonly kind: "outcome";
      readonly message: MessageNote;
      readonly recorded: Outcome;
      readonly replayed: Outcome;
    }
  /** No end came. */
  | { readonly kind: "never"; readonly message: MessageNote }
  /** The message could not be sent. */
  | { readonly kind: "unsent"; readonly message: MessageNote; readonly why: string }
  /** A stream has more items than were recorded, or fewer; `items` are those. */
  | {
      readonly kind: "extra-items" | "missing-items";
      readonly message: MessageNote;
      readonly recorded: number;
      readonly replayed: number;
      readonly items: readonly unknown[];
    }
  /** It ended after a message to the same actor that it ended before in the recording. */
  | { readonly kind: "order"; readonly message: MessageNote; readonly behind: MessageNote }
  /** Something outside was called in a way that was not recorded; `sentence` has the nearest call that was, and how it differs. */
  | {
      readonly kind: "not-recorded";
      readonly refusal: Refusal;
      readonly sentence: string;
      readonly origin: MessageNote | undefined;
    }
  /** A call that was matched by its order has another payload. */
  | {
      readonly kind: "other-payload";
      readonly message: MessageNote;
      readonly differences: readonly Difference[];
      readonly origin: MessageNote | undefined;
    }
  /** A recorded call of something outside was not made. */
  | { readonly kind: "unused"; readonly message: MessageNote; readonly origin: MessageNote | undefined };

export const noteOf = ({ line: { id, at, pattern, to, operation } }: RecordedMessage): MessageNote => ({
  id,
  at,
  pattern,
  to,
  operation,
});

/** The message from outside by which deviations are grouped. */
export const originOf = (deviation: Deviation): MessageNote | undefined =>
  "origin" in deviation ? deviation.origin : deviation.message;

/**
 * Sorts deviations by the messages from outside that led to them. Among those of one message, the calls that are not in the recording come
 * first, because others follow from them. Those of which nobody knows what led to them come before all.
 */
export function sorted(deviations: readonly Deviation[]): Deviation[] {
  const idOf = (deviation: Deviation): number => (deviation.kind === "not-recorded" ? 0 : deviation.message.id);
  return deviations.toSorted(
    (a, b) => (originOf(a)?.id ?? 0) - (originOf(b)?.id ?? 0) || idOf(a) - idOf(b), // Stable: in the order of the calls.
  );
}
