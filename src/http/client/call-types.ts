import type { ItemOf, StreamArgs, Streamed } from "../../index";

/** A value after it went through JSON: a Date has become a text, and what has `toJSON` what that gives. */
export type JsonOf<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends { toJSON(): infer J }
      ? JsonOf<J>
      : T extends object
        ? { [K in keyof T]: JsonOf<T[K]> }
        : T;

/** The payload, and the options after it. An operation without a payload has undefined in its place. */
export type WithOptions<Payload extends unknown[], Options> = Payload extends []
  ? [payload?: undefined, options?: Options]
  : [...payload: Payload, options?: Options];

/** The operation of a stream: its name if it fits, else what the compiler shows. Any name where the compiler knows none. */
export type StreamedName<Signatures, Name> = string extends keyof Signatures ? Name : Streamed<Signatures, Name>;

/** The arguments after the name in a stream. */
export type StreamedArgs<Signatures, Name, Options> = string extends keyof Signatures
  ? [payload?: unknown, options?: Options]
  : WithOptions<StreamArgs<Signatures, Name>, Options>;

/** The items of a stream, as they come. */
export type Streaming<Signatures, Name> = AsyncIterableIterator<
  string extends keyof Signatures ? unknown : JsonOf<ItemOf<Signatures, Name & keyof Signatures>>,
  undefined
>;
