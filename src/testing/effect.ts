import type { ActorOptions, Address } from "../index";

interface Message {
  readonly operation: string;
  readonly payload: unknown;
}

/** Something that an actor did besides its reply, as plain data. */
export type Effect =
  | ({ readonly kind: "told" | "asked" | "streamed" | "offered" | "forwarded"; readonly to: Address } & Message)
  | ({ readonly kind: "stashed" } & Message)
  /** What had been stashed, in the order in which it comes again. */
  | { readonly kind: "unstashed"; readonly messages: readonly Message[] }
  | { readonly kind: "became" | "unbecame" }
  | {
      readonly kind: "spawned";
      readonly address: Address;
      /** The name of its protocol. */
      readonly protocol: string;
      readonly options?: ActorOptions;
    }
  /** Itself, or a child. */
  | { readonly kind: "stopped" | "watched" | "unwatched"; readonly address: Address }
  | {
      readonly kind: "timer-set";
      readonly timer: "once" | "fixedDelay" | "fixedRate";
      readonly key: string;
      /** Its delay or period, in milliseconds. */
      readonly delay: number;
    }
  | { readonly kind: "timer-cancelled"; readonly key: string }
  /** `null` ends it. */
  | { readonly kind: "receive-timeout"; readonly delay: number | null };
