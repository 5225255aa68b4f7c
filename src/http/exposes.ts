declare const exposing: unique symbol;

/** The sessions of a gateway, for the compiler alone. */
export interface ExposedSessions<Signatures, Metadata> {
  /** The signatures of the operations that clients may call. */
  readonly signatures: Signatures;
  readonly metadata: Metadata;
}

/**
 * Tells the compiler alone what is exposed: a client's types come from it, without those of Bun. `Sessions` is never for a
 * gateway without sessions. What is not known is unknown.
 */
export interface Exposes<Actors, Sessions = unknown, Topics = unknown> {
  readonly [exposing]?: { readonly actors: Actors; readonly sessions: Sessions; readonly topics: Topics };
}
