import type { Limits, Site } from "./contract";
import { PAUSE, type Slow } from "./disconnects";
import { refuse } from "./problem";

/** The contents of a body: a JSON value, or nothing where it is empty. */
export interface Body {
  readonly value: unknown;
}

/**
 * Reads a body of JSON within the limits, or gives the refusal. It looks at the headers first, so that most of what does not fit is
 * refused before a byte of it was read.
 */
export function readBody(
  site: Pick<Site, "limits" | "clock" | "disconnects">,
  request: Request,
): Promise<Body | Response> | Body | Response {
  const { limits } = site;
  const { headers } = request;
  const length = headers.get("content-length");
  // To look at `body` makes a stream of it, which costs; a request that came over the network has one of these headers.
  if (length === "0" || (length === null && !headers.has("transfer-encoding") && request.body === null)) return NOTHING;
  const type = headers.get("content-type");
  if (type === null || !isJson(type)) {
    return refuse("unsupported-media-type", 'The body must be JSON: send "content-type: application/json".');
  }
  if (length !== null && !(Number(length) <= limits.body)) {
    // A client that still sends may not hear the answer if the connection ends, so a body that is not giant is passed over.
    return tooLarge(limits, Number(length) <= PASSED_OVER * limits.body ? {} : CLOSE);
  }
  return new Promise((resolve, reject) => {
    const reading = new Reading(site, request, resolve, reject);
    if (length === null) reading.readChunks();
    else reading.readText();
  });
}

const NOTHING: Body = { value: undefined };

/** A body of as many times the limit still comes to its end, and is dropped. */
const PASSED_OVER = 16;

const tooLarge = ({ body }: Pick<Limits, "body">, headers: Readonly<Record<string, string>>): Response =>
  refuse("payload-too-large", `The body has more than ${body} bytes, the most that is taken: send less.`, headers);

/** `application/json` in UTF-8, or another type in its syntax (RFC 6839). */
export const isJson = (type: string): boolean =>
  type === "application/json" ||
  /^application\/(?:json|[\w.-]+\+json)\s*(?:;\s*(?:charset\s*=\s*"?utf-?8"?\s*)?)?$/i.test(type);

/** A body on its way. */
class Reading implements Slow {
  before: Slow | null = null;
  after: Slow | null = null;
  readonly #site: Pick<Site, "limits" | "clock" | "disconnects">;
  readonly #request: Request;
  readonly #resolve: (body: Body | Response) => void;
  readonly #reject: (thrown: unknown) => void;
  #timer: { cancel(): void } | null = null;
  #reader: { cancel(): Promise<void> } | null = null;
  #isOver = false;

  constructor(
    site: Pick<Site, "limits" | "clock" | "disconnects">,
    request: Request,
    resolve: (body: Body | Response) => void,
    reject: (thrown: unknown) => void,
  ) {
    this.#site = site;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    site.disconnects.add(this);
  }

  readText(): void {
    this.#request.text().then(
      (text) => this.#done(text),
      (thrown) => this.#cut(thrown),
    );
  }

  /** Reads a body whose length was not told, up to the limit. */
  readChunks(): void {
    this.#chunks().then(
      (text) => {
        if (text === null) this.#end(tooLarge(this.#site.limits, CLOSE));
        else this.#done(text);
      },
      (thrown) => this.#cut(thrown),
    );
  }

  async #chunks(): Promise<string | null> {
    const { body } = this.#request;
    if (body === null) return "";
    const reader = body.getReader();
    this.#reader = reader;
    const decoder = new TextDecoder();
    let size = 0;
    let text = "";
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      size += step.value.byteLength;
      if (size > this.#site.limits.body) {
        this.#leave();
        return null;
      }
      text += decoder.decode(step.value, { stream: true });
    }
    return text + decoder.decode();
  }

  /** Takes no more of the body. */
  #leave(): void {
    this.#reader?.cancel().catch(() => {}); // It has failed, and nobody waits for it.
  }

  grown(): void {
    const { limits, clock } = this.#site;
    this.#timer = clock.setTimer(
      () => {
        this.#leave();
        this.#end(refuse("slow-request", `The body did not come within ${limits.bodyTime} ms: send it faster.`, CLOSE));
      },
      Math.max(limits.bodyTime - PAUSE, 0),
    );
  }

  #done(text: string): void {
    const { limits } = this.#site;
    // A header that another router made up may be wrong.
    const body = text.length > limits.body ? tooLarge(limits, {}) : parseJson(text, limits);
    const isCompressed = body instanceof Response && isEncoded(this.#request);
    this.#end(isCompressed ? refuse("unsupported-media-type", COMPRESSED) : body);
  }

  #cut(thrown: unknown): void {
    if (isUsed(thrown)) {
      this.#end(null);
      this.#reject(new TypeError("The body was read before the gateway got the request: hand it on unread."));
    } else this.#end(refuse("bad-request", "The body was cut short: send the whole of it."));
  }

  #end(body: Body | Response | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#site.disconnects.drop(this);
    this.#timer?.cancel();
    if (body !== null) this.#resolve(body);
  }
}

/** Ends the connection: nothing more of the body is taken. */
const CLOSE = { connection: "close" };
const COMPRESSED = "The body must not be compressed: leave content-encoding out.";

const isEncoded = ({ headers }: Request): boolean => !["", "identity"].includes(headers.get("content-encoding") ?? "");

/** True for the error of a body that was read already. */
const isUsed = (thrown: unknown): boolean =>
  thrown instanceof Error && /already (?:been )?used|locked/i.test(thrown.message);

/** Parses text from outside, or gives the refusal. */
export function parseJson(text: string, limits: Pick<Limits, "depth">): Body | Response {
  const read = readJson(text, limits);
  return typeof read === "string" ? refuse("bad-request", read) : read;
}

/** Parses text from outside, or says what is wrong with it. */
export function readJson(text: string, { depth }: Pick<Limits, "depth">): Body | string {
  if (text === "") return NOTHING;
  // Each level takes two characters, so that a short text needs no look.
  if (text.length > 2 * depth && isDeeper(text, depth)) {
    return `The JSON is nested more than ${depth} levels deep: send it flatter.`;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "This is no valid JSON: check it with a JSON parser.";
  }
  if (mayPollute(text) && pollutes(value)) return 'The JSON has a key "__proto__": leave it out.';
  return { value };
}

const QUOTE = 34;
const BACKSLASH = 92;

/** True if the nesting of a text of JSON goes beyond a depth. */
function isDeeper(text: string, limit: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === 91 || code === 123) {
      if (++depth > limit) return true;
    } else if (code === 93 || code === 125) depth--;
  }
  return false;
}

/** The index of the quote that ends the string that begins at an index; the length of the text if none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/** True for a text that may have the key, written plainly or with an escape. To look for one character takes half of the time. */
const mayPollute = (text: string): boolean =>
  (text.includes("_") && text.includes("__proto__")) ||
  (text.includes("\\") && text.includes("\\u00") && /\\u00(?:5f|6f|7[024])/i.test(text));

/** True where a part of the value has the key `__proto__`, which a careless copy would make its prototype. */
function pollutes(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Object.hasOwn(value, "__proto__")) return true;
  return Object.values(value).some(pollutes);
}
