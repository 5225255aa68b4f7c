import type { TraceContext } from "../../index";
import type { Addresses } from "./addresses";
import { bodyOf } from "./body";
import type { Errand } from "./errand";
import { exchange } from "./exchange";
import { FetchRefusal, refuse, shown } from "./fetch-error";
import { callersHeaders, headersTo, keptElsewhere, withoutBody } from "./headers";
import type { Limits } from "./options";
import { ruleFor } from "./rules";
import { originOf, type Target, targetOf, urlText } from "./target";

/** A request of a caller. */
export interface Wish {
  readonly url: string;
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly bodyEncoding?: "utf8" | "base64" | undefined;
}

/** The head of an answer, and its unread body. */
export interface Answer {
  readonly target: Target;
  readonly response: Response;
  readonly body: AsyncGenerator<Uint8Array> | null;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Sends a request, and follows its redirects. Each redirect is a new request: the rules apply to it, and its host is looked up and
 * checked.
 *
 * @param most bytes that the body may have.
 * @param trace the one that the request belongs to.
 */
export async function open(
  wish: Wish,
  most: number,
  limits: Limits,
  addresses: Addresses,
  errand: Errand,
  trace: TraceContext | undefined,
): Promise<Answer> {
  let target = targetOf(wish.url);
  let method = wish.method ?? "GET";
  let rule = ruleFor(limits.rules, target, method);
  let callers = callersHeaders(wish.headers, limits.requestHeaders);
  let body = bytesOf(wish, method, limits.maxRequestBytes);
  for (let redirects = 0; ; redirects++) {
    const headers = headersTo(target, rule, callers, trace);
    const response = await exchange(
      target,
      await addresses.of(target, rule, errand),
      { method, headers, body },
      rule,
      errand,
    );
    const { status } = response;
    const location = REDIRECTS.has(status) ? response.headers.get("location") : null;
    if (location === null) return { target, response, body: bodyOf(response, method, most) };
    void response.body?.cancel().catch(() => {}); // Its connection is closed; nobody waits for that.
    if (redirects >= limits.maxRedirects) {
      return refuse(
        "redirect-refused",
        `The server redirects more than ${limits.maxRedirects} times; ask for ${shown(location)} itself.`,
      );
    }
    if (method !== "HEAD" && (status === 303 || (status < 303 && method === "POST"))) {
      method = "GET";
      body = null;
      callers = withoutBody(callers);
    }
    const last = target;
    try {
      target = targetOf(resolved(location, last));
      rule = ruleFor(limits.rules, target, method);
    } catch (thrown) {
      if (!(thrown instanceof FetchRefusal)) throw thrown;
      return refuse("redirect-refused", `The server redirects to ${shown(location)}, and this is not allowed.`);
    }
    if (originOf(target) !== originOf(last)) callers = keptElsewhere(callers);
  }
}

/** The URL of a redirect, which may be relative. */
const resolved = (location: string, from: Target): string =>
  URL.canParse(location, urlText(from)) ? new URL(location, urlText(from)).href : location;

const BASE64 = /^[A-Za-z\d+/]*={0,2}$/;

/** The body of a request, or a refusal. Checks the length before encoding. */
function bytesOf({ body, bodyEncoding }: Wish, method: string, most: number): Uint8Array<ArrayBuffer> | null {
  if (body === undefined) return null;
  if (method === "GET" || method === "HEAD") {
    return refuse("invalid-request", `A request by ${method} has no body; leave it out, or use another method.`);
  }
  const encoding = bodyEncoding ?? "utf8";
  const size = typeof body === "string" ? Buffer.byteLength(body, encoding) : body.length;
  if (size > most) return refuse("too-large", `The body has more than ${most} bytes; send it in parts.`);
  // A copy: bytes of the caller may change while they are sent.
  if (typeof body !== "string") return Uint8Array.from(body);
  if (encoding === "base64" && !BASE64.test(body)) {
    return refuse("invalid-request", "The body is not base64, of the letters with + and /.");
  }
  return Uint8Array.from(Buffer.from(body, encoding));
}
