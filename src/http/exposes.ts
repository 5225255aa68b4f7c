declare const exposing: unique symbol;

/** What knows, for the compiler alone, what is exposed: a client's types come from it, without those of Bun. */
export interface Exposes<E> {
  readonly [exposing]?: E;
}
