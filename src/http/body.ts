import type { Clock } from "../index";
import type { Limits } from "./contract";
import { refuse } from "./problem";

/** What a body says: a JSON value, or nothing where it is empty. */
export interface Body {
  readonly value: unknown;
}

/**
 * Reads a body of JSON within the limits, or gives the refusal. It looks at the headers first, so that most of what does not fit is
 * refused before a byte of it was read.
 */
export async function readBody(request: Request, limits: Limits, clock: Clock): Promise<Body | Response> {
  const { headers } = request;
  const length = headers.get("content-length");
  // To look at `body` makes a stream of it, which costs; a request that came over the network has one of these headers.
  if (length === "0" || (length === null && !headers.has("transfer-encoding") && request.body === null)) {
    return { value: undefined };
  }
  const type = headers.get("content-type");
  if (type === null || !isJson(type)) {
    return refuse("unsupported-media-type", 'The body must be JSON: send "content-type: application/json".');
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    return refuse("unsupported-media-type", "The body must not be compressed: leave content-encoding out.");
  }
  if (length !== null && Number(length) > limits.body) return tooLarge(limits);
  const text = await within(
    clock,
    limits.bodyTime,
    length === null ? readBounded(request, limits.body) : request.text(),
  );
  if (text === LATE) {
    return refuse("slow-request", `The body did not come within ${limits.bodyTime} ms: send it faster.`, {
      connection: "close",
    });
  }
  if (text === CUT) return refuse("bad-request", "The body ended before its end: send the whole of it.");
  if (text === TOO_LARGE) return tooLarge(limits);
  return parseJson(text, limits);
}

const tooLarge = ({ body }: Limits): Response =>
  refuse("payload-too-large", `The body has more than ${body} bytes, the most that is taken: send less.`);

/** `application/json`, or another type in its syntax (RFC 6839). */
const isJson = (type: string): boolean =>
  type === "application/json" || /^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i.test(type);

const LATE = Symbol("late");
const CUT = Symbol("cut");
const TOO_LARGE = Symbol("too large");

/** Waits for a body, but not for longer than a time. What comes later is dropped. */
function within<Value>(clock: Clock, time: number, body: Promise<Value>): Promise<Value | typeof LATE | typeof CUT> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(() => resolve(LATE), time);
    body.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      () => {
        timer.cancel();
        resolve(CUT);
      },
    );
  });
}

/** Reads a body whose length was not told, up to a limit. */
async function readBounded({ body }: Request, limit: number): Promise<string | typeof TOO_LARGE> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > limit) return TOO_LARGE; // Leaving the loop cancels the body.
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Parses text from outside, or gives the refusal. */
export function parseJson(text: string, { depth }: Pick<Limits, "depth">): Body | Response {
  if (text === "") return { value: undefined };
  // Each level takes two characters, so that a short text needs no look.
  if (text.length > 2 * depth && depthOf(text, depth) > depth) {
    return refuse("bad-request", `The JSON is nested more than ${depth} levels deep: send it flatter.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse("bad-request", "This is no valid JSON: check it with a JSON parser.");
  }
  if (mayPollute(text) && pollutes(value)) {
    return refuse("bad-request", 'The JSON has a key "__proto__": leave it out.');
  }
  return { value };
}

/** The deepest nesting of a text of JSON, or the first depth that is over the limit. */
function depthOf(text: string, limit: number): number {
  let depth = 0;
  let deepest = 0;
  let isText = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isText) {
      if (code === 92)
        index++; // A backslash: the next character is not the end.
      else if (code === 34) isText = false;
    } else if (code === 34) isText = true;
    else if (code === 91 || code === 123) {
      if (++depth > deepest) deepest = depth;
      if (depth > limit) return depth;
    } else if (code === 93 || code === 125) depth--;
  }
  return deepest;
}

/** True for a text that may have the key, written plainly or with an escape. */
const mayPollute = (text: string): boolean => text.includes("__proto__") || /\\u00(?:5f|7[024])/i.test(text);

/** True where a part of the value has the key `__proto__`, which a careless copy would make its prototype. */
function pollutes(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Object.hasOwn(value, "__proto__")) return true;
  return Object.values(value).some(pollutes);
}
