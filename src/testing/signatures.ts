import type { AskName, ItemOf, Items, PayloadArgs, ReplyOf, StreamName } from "../index";

/** The names of all operations. */
export type AnyName<S> = AskName<S> | StreamName<S>;

/** The operation of a call: its name if it exists, otherwise the existing names. */
export type Named<S, Name> = Name extends keyof S ? Name : keyof S & string;

/** The payload of an operation; `undefined` if it takes none. */
export type PayloadOf<S, Name extends keyof S> =
  PayloadArgs<S, Name> extends [] ? undefined : PayloadArgs<S, Name> extends [payload?: infer P] ? P : never;

/** The answer of an operation: its reply, or for a stream an iterable of its items. */
export type AnswerOf<S, Name extends keyof S> = Name extends StreamName<S> ? Items<ItemOf<S, Name>> : ReplyOf<S, Name>;

/** An answer as an argument, which may be left out if `undefined` is an answer. */
export type AnswerArgs<S, Name extends keyof S> =
  undefined extends AnswerOf<S, Name> ? [answer?: AnswerOf<S, Name>] : [answer: AnswerOf<S, Name>];

/** Makes answers, each from the message's payload. */
export type Answering<S, Name extends keyof S> = (
  payload: PayloadOf<S, Name>,
) => AnswerOf<S, Name> | PromiseLike<AnswerOf<S, Name>>;
