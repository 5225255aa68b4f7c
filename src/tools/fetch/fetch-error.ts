import type { TSchema } from "typebox";
import { type Static, Type } from "../../index";
import { outcomeSchema } from "../reply";

/** The kinds of fetch errors. */
const Kind = Type.Union([
  Type.Literal("invalid-url"),
  Type.Literal("invalid-request"),
  Type.Literal("not-allowed"),
  Type.Literal("unresolved"),
  Type.Literal("address-refused"),
  Type.Literal("unreachable"),
  Type.Literal("insecure"),
  Type.Literal("redirect-refused"),
  Type.Literal("too-large"),
  Type.Literal("not-text"),
  Type.Literal("bad-reply"),
  Type.Literal("timeout"),
  Type.Literal("busy"),
  Type.Literal("stopped"),
]);

/**
 * The reason why a request got no answer, as plain data. An answer with any status, such as 404, is no error.
 *
 * | kind | what happened |
 * | --- | --- |
 * | `invalid-url` | it is no absolute URL of http or https, has a user or a password, or can be read in two ways |
 * | `invalid-request` | a header or the body cannot be sent |
 * | `not-allowed` | the owner allows no such URL, method or header |
 * | `unresolved` | the name of the host has no address |
 * | `address-refused` | the host has no address that may be connected to, such as that of a private network |
 * | `unreachable` | no connection was made, or it was lost |
 * | `insecure` | the server has no certificate for this name that holds |
 * | `redirect-refused` | the server redirects to what is not allowed, or too often |
 * | `too-large` | the request or the answer has more bytes than the actor's limits, or than the caller wants |
 * | `not-text` | the answer is not text in the encoding that it names: ask for `base64` |
 * | `bad-reply` | the answer is no HTTP, or its compression is broken or unknown |
 * | `timeout` | the answer did not end in time |
 * | `busy` | too many names are being looked up; ask again later |
 * | `stopped` | the actor was stopped before the answer ended |
 */
export const FetchError = Type.Object({
  kind: Kind,
  /** The URL as the caller wrote it, at most 200 letters of it. */
  url: Type.String(),
  /** A sentence: what happened, and what to do. */
  message: Type.String(),
});
export type FetchError = Static<typeof FetchError>;

/** Carries an error to the edge of the actor, where it becomes the reply. It is no Error, since it needs no stack. */
export class FetchRefusal {
  constructor(
    readonly kind: FetchError["kind"],
    readonly message: string,
  ) {}
}

/** Refuses the request. */
export function refuse(kind: FetchError["kind"], message: string): never {
  throw new FetchRefusal(kind, message);
}

const MOST_LETTERS = 200;

/** A text of a caller or a server, for a sentence: on one line and not too long. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS).toWellFormed()}…` : text);

/** The error as the caller reads it. */
export const errorOf = ({ kind, message }: FetchRefusal, url: string): FetchError => ({
  kind,
  url: url.slice(0, MOST_LETTERS).toWellFormed(),
  message,
});

/** A reply: the value, or the error. */
export const outcome = <Value extends TSchema>(value: Value) => outcomeSchema(value, FetchError);
