import { type JsonFault, readJson as parseText } from "../index";
import type { Limits, Site } from "./contract";
import { PAUSE, type Slow } from "./disconnects";
import { refuse } from "./problem";

/** The contents of a body: a JSON value, or nothing where it is empty. */
export interface Body {
  readonly value: unknown;
}

/** The part of a site that a body is read with. */
type Reader = Pick<Site, "limits" | "clock" | "disconnects">;

/** Settles the promise of an answer. */
export interface Settle<Answer = Response | Promise<Response>> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (thrown: unknown) => void;
}

/** Takes a body that has come, or the refusal. It must not throw. */
type Take = (body: Body | Response) => void;

/** Reads a body as `takeBody` does. */
export const readBody = (site: Reader, request: Request): Promise<Body | Response> =>
  new Promise((resolve, reject) => takeBody(site, request, resolve, reject));

/**
 * Reads a body, and answers with its refusal, or with what a function makes of its value. All that follows settles the one promise of the
 * answer: each function that waits in between took 0.2 µs of a request.
 */
export const takePosted = (
  site: Reader,
  request: Request,
  use: (value: unknown, settle: Settle) => void,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const take = (body: Body | Response): void => {
      try {
        if (body instanceof Response) resolve(body);
        else use(body.value, { resolve, reject });
      } catch (thrown) {
        reject(thrown);
      }
    };
    takeBody(site, request, take, reject);
  });

/**
 * Reads a body of JSON within the limits, and hands it to a function, or the refusal. It looks at the headers first, so that most of what
 * does not fit is refused before a byte of it was read.
 */
function takeBody(site: Reader, request: Request, take: Take, fail: (thrown: unknown) => void): void {
  const { limits } = site;
  const { headers } = request;
  const length = headers.get("content-length");
  // To look at `body` makes a stream of it, which costs; a request that came over the network has one of these headers.
  if (length === "0" || (length === null && !headers.has("transfer-encoding") && request.body === null)) {
    take(NOTHING);
    return;
  }
  const type = headers.get("content-type");
  if (type === null || !isJson(type)) {
    take(refuse("unsupported-media-type", 'The body must be JSON: send "content-type: application/json".'));
    return;
  }
  if (length !== null && !(Number(length) <= limits.body)) {
    take(tooLarge(limits, Number(length)));
    return;
  }
  const reading = new Reading(site, request, take, fail);
  if (length === null) reading.readChunks();
  else reading.readText();
}

const NOTHING: Body = { value: undefined };

/** A body of as many times the limit still comes to its end, and is dropped. */
const PASSED_OVER = 16;

/**
 * The refusal of a body that is too large. It ends the connection, or Bun would take all that comes; but a client that still sends may not
 * hear the answer then, so a body that is not giant is passed over.
 *
 * @param length in bytes; infinite where nobody knows it.
 */
export const tooLarge = ({ body }: Pick<Limits, "body">, length: number): Response =>
  refuse(
    "payload-too-large",
    `The body has more than ${body} bytes, the most that is taken: send less.`,
    length <= PASSED_OVER * body ? {} : CLOSE,
  );

/** `application/json` in UTF-8, or another type in its syntax (RFC 6839). */
export const isJson = (type: string): boolean =>
  type === "application/json" ||
  /^application\/(?:json|[\w.-]+\+json)\s*(?:;\s*(?:charset\s*=\s*"?utf-?8"?\s*)?)?$/i.test(type);

/** A body on its way. */
class Reading implements Slow {
  before: Slow | null = null;
  after: Slow | null = null;
  readonly #site: Reader;
  readonly #request: Request;
  readonly #take: Take;
  readonly #fail: (thrown: unknown) => void;
  #timer: { cancel(): void } | null = null;
  #reader: { cancel(): Promise<void> } | null = null;
  #isOver = false;

  constructor(site: Reader, request: Request, take: Take, fail: (thrown: unknown) => void) {
    this.#site = site;
    this.#request = request;
    this.#take = take;
    this.#fail = fail;
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
        if (text === null) this.#end(tooLarge(this.#site.limits, Number.POSITIVE_INFINITY));
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
    const body = text.length > limits.body ? tooLarge(limits, text.length) : parseJson(text, limits);
    const isCompressed = body instanceof Response && isEncoded(this.#request);
    this.#end(isCompressed ? refuse("unsupported-media-type", COMPRESSED) : body);
  }

  #cut(thrown: unknown): void {
    if (isUsed(thrown)) {
      this.#end(null);
      this.#fail(new TypeError("The body was read before the gateway got the request: hand it on unread."));
    } else this.#end(refuse("bad-request", "The body was cut short: send the whole of it."));
  }

  #end(body: Body | Response | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#site.disconnects.drop(this);
    this.#timer?.cancel();
    if (body !== null) this.#take(body);
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
export function readJson(text: string, limits: Pick<Limits, "depth">): Body | string {
  if (text === "") return NOTHING;
  const read = parseText(text, limits);
  return read.isOk() ? { value: read.value } : SENTENCES[read.error](limits.depth);
}

const SENTENCES: { readonly [Fault in JsonFault]: (depth: number) => string } = {
  "no-json": () => "This is no valid JSON: check it with a JSON parser.",
  "too-deep": (depth) => `The JSON is nested more than ${depth} levels deep: send it flatter.`,
  "own-prototype": () => 'The JSON has a key "__proto__": leave it out.',
};
