import type { Infer } from "./schema";

declare const item: unique symbol;

/** The result type of an operation that gives a stream of items. No value has this type. */
export interface Stream<Item> {
  readonly [item]: Item;
}

/** An operation as a function type, so that TypeScript's own rules say which operation may replace which. */
export type SignatureOf<O> = O extends { readonly stream: infer S }
  ? (...payload: PayloadOf<O>) => Stream<Infer<S>>
  : O extends { readonly reply: infer R }
    ? (...payload: PayloadOf<O>) => Infer<R>
    : (...payload: PayloadOf<O>) => void;

type PayloadOf<O> = O extends { readonly payload: infer P } ? [payload: Infer<P>] : [];

type Returned<F> = F extends (...payload: never) => infer Result ? Result : never;
type IsAny<T> = 0 extends 1 & T ? true : false;
// any and never extend everything, but are replies.
type IsStream<T> =
  IsAny<T> extends true ? false : [T] extends [never] ? false : T extends Stream<unknown> ? true : false;

/** The names that `tell` and `ask` take: all operations except streams. */
export type AskName<S> = keyof { [K in keyof S as IsStream<Returned<S[K]>> extends true ? never : K]: K } & string;

/** The names that `stream` takes. */
export type StreamName<S> = keyof { [K in keyof S as IsStream<Returned<S[K]>> extends true ? K : never]: K } & string;

/** The shape of an operation's calls: with or without a payload. An ask without one takes its options in the payload's place. */
export type ShapeOf<F> = F extends (...payload: infer Payload) => unknown
  ? Payload extends readonly []
    ? "no payload"
    : number extends Payload["length"]
      ? // biome-ignore lint/suspicious/noExplicitAny: a signature of type any, or of any arguments, has either shape.
        any
      : "a payload"
  : never;

type IsOneShape<Shape> = [Shape] extends ["no payload"] ? true : [Shape] extends ["a payload"] ? true : false;

/**
 * The arguments after an operation's name: none, or its payload, which may be left out if `undefined` fits. For a union of
 * names, the payload must fit each of the operations.
 */
export type PayloadArgs<S, K extends keyof S> = S[K] extends (...payload: infer Payload) => unknown
  ? [Payload] extends [never]
    ? [payload: never]
    : Payload extends readonly []
      ? []
      : undefined extends Payload[0]
        ? [payload?: Payload[0]]
        : [payload: Payload[0]]
  : never;

type Mixed = "one of these operations takes a payload and another takes none: call each by its own name";

// The next three types first let a name of type any pass. The compiler compares two references with any in place of Name, and
// could not relate the other branches.

/**
 * The operation of a tell, an ask or an offer: the name if it fits. Otherwise the compiler shows this type as the error, a
 * sentence or the existing names. AskName is written out at the end, because the compiler would show its alias with all signatures.
 */
export type Asked<S, Name> = unknown extends Name
  ? Name
  : [Name] extends [AskName<S>]
    ? IsOneShape<ShapeOf<S[Name & keyof S]>> extends true
      ? Name
      : Mixed
    : Name extends AskName<S>
      ? Name
      : Name extends StreamName<S>
        ? `${Name} gives a stream: call stream() for it`
        : keyof { [K in keyof S as IsStream<Returned<S[K]>> extends true ? never : K]: K } & string;

/** The operation of a stream: like `Asked`, for `stream`. */
export type Streamed<S, Name> = unknown extends Name
  ? Name
  : [Name] extends [StreamName<S>]
    ? IsOneShape<ShapeOf<S[Name & keyof S]>> extends true
      ? Name
      : Mixed
    : Name extends StreamName<S>
      ? Name
      : Name extends AskName<S>
        ? `${Name} does not stream: call ask() or tell() for it`
        : keyof { [K in keyof S as IsStream<Returned<S[K]>> extends true ? K : never]: K } & string;

/**
 * The arguments after the name of a call: the payload. If the name is not in `Names`, any arguments fit, so that the compiler
 * complains of the name only.
 */
export type CallArgs<S, Name, Names = keyof S> = unknown extends Name
  ? unknown[]
  : [Name] extends [Names & keyof S]
    ? IsOneShape<ShapeOf<S[Name]>> extends true
      ? PayloadArgs<S, Name>
      : unknown[]
    : unknown[];

/** The arguments after the name in a tell, an ask or an offer. */
export type AskArgs<S, Name> = CallArgs<S, Name, AskName<S>>;

/** The arguments after the name in a stream. */
export type StreamArgs<S, Name> = CallArgs<S, Name, StreamName<S>>;

/** The reply to an ask of the operation; `void` if it has none. */
export type ReplyOf<S, K extends keyof S> = IsStream<Returned<S[K]>> extends true ? never : Returned<S[K]>;

type ItemIn<Reply> = IsAny<Reply> extends true ? never : Reply extends Stream<infer Item> ? Item : never;

/** The type of each item of the operation's stream. */
export type ItemOf<S, K extends keyof S> = ItemIn<Returned<S[K]>>;

type Arguments<F> = F extends (...payload: infer Payload) => unknown ? Payload : never;
type Nothing = ReturnType<() => void>;
type IsNothing<T> = IsAny<T> extends true ? false : [T, Nothing] extends [Nothing, T] ? true : false;

declare const passedOn: unique symbol;

/**
 * The result of a handler that stashed or forwarded its message: the reply comes from elsewhere. `To` is the signatures
 * of the actor that it was forwarded to. One of them must be that of the handler's operation.
 */
export interface PassedOn<out To = never> {
  readonly [passedOn]: To;
}

/** The iterables that a stream's handler may return. A text is iterable too, but almost never meant. */
export type Items<Item> = AsyncIterable<Item> | (Iterable<Item> & object);

type ItemsOf<Reply> = IsStream<Reply> extends true ? Items<ItemIn<Reply>> : never;
type UnlessStream<Reply, Result> = IsStream<Reply> extends true ? never : Result;
// The result of an operation without a reply is ignored.
type AnythingFor<Reply> = IsNothing<Reply> extends true ? unknown : never;

// The result is a union without a condition around it. So a reply whose type is a type parameter fits: a generic function does
// not know whether that is a stream or void. Stream<Item> itself does no harm, because no value has that type.
type Handler<S, K extends keyof S> = (
  ...payload: Arguments<S[K]>
) =>
  | Returned<S[K]>
  | ItemsOf<Returned<S[K]>>
  | AnythingFor<Returned<S[K]>>
  | PassedOn<{ [Own in K]: S[Own] }>
  | PromiseLike<Returned<S[K]> | UnlessStream<Returned<S[K]>, PassedOn<{ [Own in K]: S[Own] }>>>;

/** True when an operation takes this payload. */
export type Takes<F, Payload> =
  IsAny<F> extends true
    ? true
    : [Arguments<F>] extends [readonly []]
      ? false
      : F extends (payload: Payload) => unknown
        ? true
        : false;

/** True when two actors have an operation in common: the same name, and a signature that fits. */
export type SharesWith<S, Theirs> = string extends keyof Theirs
  ? true
  : [{ [K in keyof S & keyof Theirs]: Theirs[K] extends S[K] ? K : never }[keyof S & keyof Theirs]] extends [never]
    ? false
    : true;

/**
 * The object of handlers that an actor's factory returns: a method for each operation. The method gives the reply or a
 * promise of it; for a stream it gives an iterable, such as a generator's, async or not.
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
