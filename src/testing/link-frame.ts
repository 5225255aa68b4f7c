import type { Address, AskError, Metadata, Pattern, Progress } from "../index";

/** A frame from one end of a link to the other, as JSON. `id` is that of the message it is about. */
export type Frame =
  | {
      readonly kind: "message";
      readonly id: string;
      readonly to: Address;
      readonly pattern: Pattern;
      readonly isAwaited: boolean;
      readonly type: string;
      readonly payload?: unknown;
      readonly metadata?: Metadata | undefined;
      /** Milliseconds; null without a limit, because JSON has no Infinity. */
      readonly timeLeft: number | null;
      readonly credit: number;
      readonly wantsProgress: boolean;
    }
  | { readonly kind: "cancel"; readonly id: string }
  | { readonly kind: "credit"; readonly id: string; readonly count: number }
  | Answer
  | { readonly kind: "progress"; readonly id: string; readonly progress: Progress }
  | { readonly kind: "stopped"; readonly to: Address };

/** The outcome of a message, or a part of it. Numbered, because a link may reorder frames, and a stream has several of these. */
export type Answer = Outcome & { readonly id: string; readonly index: number };

/** A reply, that an offer was taken, or the end of a stream; items; or a failure. */
export type Outcome =
  | { readonly kind: "reply"; readonly payload?: unknown }
  | { readonly kind: "items"; readonly items: readonly unknown[] }
  | { readonly kind: "failure"; readonly error: AskError["kind"]; readonly detail?: unknown };
