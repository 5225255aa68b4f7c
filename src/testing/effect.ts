import type { ActorOptions, Address, Metadata } from "../index";

interface Message {
  readonly operation: string;
  readonly payload: unknown;
}

/** An action of an actor other than its reply, as plain data. */
export type Effect =
  | ({
      readonly kind: "told" | "asked" | "streamed" | "offered";
      readonly to: Address;
      /** That of the call, where it has one. What a system would hand on is not added. */
      readonly metadata?: Metadata;
    } & Message)
  | ({ readonly kind: "forwarded"; readonly to: Address } & Message)
  | ({ readonly kind: "stashed" } & Message)
  /** The stashed messages, in the order in which they come again. */
  | { readonly kind: "unstashed"; readonly messages: readonly Message[] }
  | { readonly kind: "became" | "unbecame" }
  | {
      readonly kind: "spawned";
      readonly address: Address;
      /** The name of its protocol. */
      readonly protocol: string;
      readonly options?: ActorOptions;
    }
  /** The progress that `ctx.progress` was told. */
  | { readonly kind: "progressed"; readonly done: number; readonly total?: number; readonly note?: string }
  /** The actor itself, a child, or a watched actor. */
  | { readonly kind: "stopped" | "watched" | "unwatched"; readonly address: Address }
  | {
      readonly kind: "timer-set";
      readonly timer: "once" | "fixedDelay" | "fixedRate";
      readonly key: string;
      /** Its delay or period, in milliseconds. */
      readonly delay: number;
    }
  | { readonly kind: "timer-cancelled"; readonly key: string }
  /** A delay of `null` ends it. */
  | { readonly kind: "receive-timeout"; readonly delay: number | null };

/** The part of an effect that a call's options give. */
export function beside(options: unknown): { readonly metadata?: Metadata } {
  if (typeof options !== "object" || options === null || !("metadata" in options)) return {};
  const { metadata } = options;
  return metadata === undefined ? {} : { metadata: metadata as Metadata }; // Typed by the options of each call.
}
