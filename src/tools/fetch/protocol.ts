import { defineProtocol, type RefTo, type Static, Type } from "../../index";
import { outcome } from "./fetch-error";
import { type FetchMethod, METHODS } from "./methods";
import { LONGEST_URL } from "./target";

const Count = Type.Integer({ minimum: 0 });
const Positive = Type.Integer({ minimum: 1 });
const Bytes = Type.Refine(
  Type.Unsafe<Uint8Array>({}),
  (value) => value instanceof Uint8Array,
  () => "must be a string or a Uint8Array", // Shown for a body, where it stands for both alternatives.
);
/** Texts by their names. `Type.Record` would load the part of TypeBox that computes types, for 5 ms. */
const texts = (options: object) =>
  Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    additionalProperties: { type: "string", maxLength: 4_096 },
    ...options,
  });

const Url = Type.String({
  minLength: 1,
  maxLength: LONGEST_URL,
  description: "An absolute URL, such as https://api.example.com/items?page=2.",
});
const Encoding = Type.Union([Type.Literal("utf8"), Type.Literal("base64"), Type.Literal("bytes")]);

const asked = {
  url: Url,
  /** Headers of the request, such as `{ accept: "application/json" }`. The owner says which may be set. Default: none. */
  headers: Type.Optional(texts({ maxProperties: 32, description: "Headers of the request, by their names." })),
};
const read = {
  /**
   * The form of the content: text, base64, or a Uint8Array. Text is decoded by the charset of the answer, and is UTF-8 without
   * one. Default: `"utf8"`.
   */
  encoding: Type.Optional(Encoding),
  /** Most bytes of the content; what follows is left out, and `isCut` says so. Default: all, up to the actor's limit. */
  maxBytes: Type.Optional(Positive),
};
const sent = {
  method: Type.Unsafe<FetchMethod>({ type: "string", enum: [...METHODS] }),
  /** The body of the request. None with GET and HEAD. */
  body: Type.Optional(Type.Union([Type.String(), Bytes])),
  /** The encoding of a body given as a string. Default: `"utf8"`. */
  bodyEncoding: Type.Optional(Type.Union([Type.Literal("utf8"), Type.Literal("base64")])),
};
const strict = { additionalProperties: false }; // A misspelt `max_bytes` is refused, and not ignored.

/** A request by GET. */
export const FetchGetRequest = Type.Object({ ...asked, ...read }, strict);
export type FetchGetRequest = Static<typeof FetchGetRequest>;

/** A request by any method that is allowed. */
export const FetchRequest = Type.Object({ ...asked, ...sent, ...read }, strict);
export type FetchRequest = Static<typeof FetchRequest>;

/** A request whose answer comes in pieces. Default method: GET. */
export const FetchStreamRequest = Type.Object(
  { ...asked, ...sent, method: Type.Optional(sent.method), encoding: read.encoding },
  strict,
);
export type FetchStreamRequest = Static<typeof FetchStreamRequest>;

const answered = {
  /** The URL that answered, after all redirects. */
  url: Type.String(),
  /** The HTTP status, such as 200 or 404. */
  status: Count,
  /** Headers of the answer, by their names in lower case, without cookies and those of the connection. */
  headers: texts({}),
};
const held = {
  ...answered,
  /** True when the content was cut at `maxBytes`. */
  isCut: Type.Optional(Type.Literal(true)),
};
/** The answer of a server. `content` is a string unless bytes were requested. */
export const FetchReply = Type.Union([
  Type.Object({
    encoding: Type.Union([Type.Literal("utf8"), Type.Literal("base64")]),
    content: Type.String(),
    ...held,
  }),
  Type.Object({ encoding: Type.Literal("bytes"), content: Bytes, ...held }),
]);
export type FetchReply = Static<typeof FetchReply>;

/** A part of an answer: its head comes first and once, then the pieces of its content. */
export const FetchItem = Type.Union([
  Type.Object({ kind: Type.Literal("head"), ...answered }),
  Type.Object({ kind: Type.Literal("content"), content: Type.Union([Type.String(), Bytes]) }),
]);
export type FetchItem = Static<typeof FetchItem>;

const streams = {
  requestStream: {
    description: "Sends an HTTP request, and gives its answer in pieces: for answers that are too large for request.",
    payload: FetchStreamRequest,
    stream: outcome(FetchItem),
  },
};

/** The operation that lasts. */
export const FetchStreams = defineProtocol("fetch-streams", streams);

/**
 * The operations of a fetch actor. Each reply, and each item of a stream, is `{ ok: true, value }` or `{ ok: false, error }`. An
 * answer with any status is a value.
 */
export const Fetch = defineProtocol("fetch", {
  get: {
    description: "Reads a URL by HTTP GET. Gives the status, the headers and the content.",
    hints: { readOnly: true },
    payload: FetchGetRequest,
    reply: outcome(FetchReply),
  },
  request: {
    description: "Sends an HTTP request with a method and a body. Gives the status, the headers and the content.",
    payload: FetchRequest,
    reply: outcome(FetchReply),
  },
  ...streams,
});

/** A ref to a fetch actor. */
export type FetchRef = RefTo<typeof Fetch>;
