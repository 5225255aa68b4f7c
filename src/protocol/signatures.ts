import type { Infer } from "./schema";

declare const item: unique symbol;

/** Marks, in a signature, an operation that gives a stream of items. No value has this type. */
export interface Stream<Item> {
  readonly [item]: Item;
}

/** An operation's function type. A function type, so that TypeScript's own rules say which may stand for which. */
export type SignatureOf<O> = O extends { readonly stream: infer S }
  ? (...payload: PayloadOf<O>) => Stream<Infer<S>>
  : O extends { readonly reply: infer R }
    ? (...payload: PayloadOf<O>) => Infer<R>
    : (...payload: PayloadOf<O>) => void;

type PayloadOf<O> = O extends { readonly payload: infer P } ? [payload: Infer<P>] : [];

type Returned<F> = F extends (...payload: never) => infer Result ? Result : never;
type IsAny<T> = 0 extends 1 & T ? true : false;
// any and never extend everything, and are replies all the same.
type IsStream<T> =
  IsAny<T> extends true ? false : [T] extends [never] ? false : T extends Stream<unknown> ? true : false;

/** The names of all operations. */
export type OperationName<S> = keyof S & string;

/** The names that `tell` and `ask` take: of all operations but the streams. */
export type AskName<S> = {
  [K in OperationName<S>]: IsStream<Returned<S[K]>> extends true ? never : K;
}[OperationName<S>];

/** The names that `stream` takes. */
export type StreamName<S> = Exclude<OperationName<S>, AskName<S>>;

/** What follows an operation's name in a call: nothing, or its payload, which may be left out where `undefined` fits. */
export type PayloadArgs<S, K extends keyof S> = S[K] extends (...payload: infer Payload) => unknown
  ? Payload extends [infer P]
    ? undefined extends P
      ? [payload?: P]
      : [payload: P]
    : Payload
  : never;

/** What an ask of the operation gives; `void` without a reply. */
export type ReplyOf<S, K extends keyof S> = IsStream<Returned<S[K]>> extends true ? never : Returned<S[K]>;

/** What each item of the operation's stream is. */
export type ItemOf<S, K extends keyof S> =
  IsAny<Returned<S[K]>> extends true ? never : Returned<S[K]> extends Stream<infer Item> ? Item : never;

type Arguments<F> = F extends (...payload: infer Payload) => unknown ? Payload : never;
type Nothing = ReturnType<() => void>;
type IsNothing<T> = IsAny<T> extends true ? false : [T, Nothing] extends [Nothing, T] ? true : false;

declare const passedOn: unique symbol;

/** What a handler returns for a message that it stashed or forwarded, whose reply comes from elsewhere. */
export interface PassedOn {
  readonly [passedOn]: true;
}

// A function that returns anything fits one that returns void, and so does an async one.
type Handler<S, K extends keyof S> =
  IsStream<Returned<S[K]>> extends true
    ? (...payload: Arguments<S[K]>) => AsyncIterable<ItemOf<S, K>> | Iterable<ItemOf<S, K>> | PassedOn
    : IsNothing<Returned<S[K]>> extends true
      ? (...payload: Arguments<S[K]>) => void
      : (...payload: Arguments<S[K]>) => Returned<S[K]> | PassedOn | PromiseLike<Returned<S[K]> | PassedOn>;

/**
 * The object of handlers that an actor's factory returns: a method for each operation, which gives its reply or a
 * promise of it; for a stream an iterable, such as a generator makes, async or not.
 *
 * ```ts
 * const handlers: Handlers<SignaturesOf<typeof Counter>> = {
 *   add(n) { total += n; },
 *   total: () => total,
 *   async *ticks(n) { for (let i = 0; i < n; i++) yield total + i; },
 * };
 * ```
 */
export type Handlers<S> = { [K in keyof S]: Handler<S, K> };
