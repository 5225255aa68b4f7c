import type { TraceContext } from "../../index";
import { refuse, shown } from "./fetch-error";
import type { Rule } from "./rules";
import { hostHeader, type Target } from "./target";

/** Headers that a caller may set in any request. None of them changes the method, the sender or the connection. */
export const USUAL_HEADERS = [
  "accept",
  "accept-language",
  "content-type",
  "content-language",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-unmodified-since",
  "range",
  "idempotency-key",
];
/** Headers that a redirect to another origin keeps. */
const KEPT_ELSEWHERE: ReadonlySet<string> = new Set(["accept", "accept-language"]);

/** Headers of one connection (RFC 9110, section 7.6.1), and those that this actor writes itself. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
export const NEVER_ADDED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  "accept-encoding",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "via",
]);
/** Headers of an answer that are hidden from its caller: those of the connection and the compression, and cookies. */
const NEVER_SHOWN: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  "alt-svc",
  "content-encoding",
  "content-length",
  "set-cookie",
  "set-cookie2",
]);

const MOST_HEADERS = 64;
const LONGEST_VALUE = 4_096;
const TOKEN = /^[a-z\d!#$%&'*+.^_`|~-]{1,100}$/;
/** A value holds visible letters of Latin-1, blanks and tabs. A line end would begin another header. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** A header by a name in lower case; null if HTTP cannot carry it. */
export const fixedHeader = (name: string, value: string): readonly [string, string] | null =>
  TOKEN.test(name) && VALUE.test(value) && value.length <= LONGEST_VALUE ? [name, value.trim()] : null;

/** The headers of a caller by their names in lower case, or a refusal. */
export function callersHeaders(
  given: Readonly<Record<string, string>> | undefined,
  allowed: ReadonlySet<string>,
): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(given ?? {})) {
    const name = key.toLowerCase();
    if (!allowed.has(name)) {
      const names = [...allowed].join(", ");
      return refuse("not-allowed", `The header ${shown(key)} may not be set; leave it out, or use one of ${names}.`);
    }
    if (fixedHeader(name, value) === null || found.has(name)) {
      return refuse(
        "invalid-request",
        `The header ${shown(key)} is there twice, too long, or no text that HTTP can carry.`,
      );
    }
    found.set(name, value.trim());
  }
  return found;
}

/** The headers of a request to a target. Those of the owner go before those of the caller. */
export function headersTo(
  target: Target,
  rule: Rule,
  callers: ReadonlyMap<string, string>,
  trace: TraceContext | undefined,
): Record<string, string> {
  return {
    "user-agent": "envoi",
    accept: "*/*",
    ...Object.fromEntries(callers),
    ...(rule.isTraced && trace),
    ...Object.fromEntries(rule.headers),
    "accept-encoding": callers.has("range") ? "identity" : "gzip, br", // A part of something compressed is of no use.
    host: hostHeader(target),
  };
}

/** The headers of a caller that a redirect to another origin keeps. */
export const keptElsewhere = (callers: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...callers].filter(([name]) => KEPT_ELSEWHERE.has(name)));

/** The headers of a caller for a request that lost its body on the way. */
export const withoutBody = (callers: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...callers].filter(([name]) => !name.startsWith("content-")));

/** The headers of an answer that its caller may see. */
export function shownHeaders(headers: Headers): Record<string, string> {
  const found: [string, string][] = [];
  for (const [name, value] of headers) {
    if (NEVER_SHOWN.has(name) || !/^[a-z\d-]{1,100}$/.test(name) || found.length >= MOST_HEADERS) continue;
    found.push([name, value.slice(0, LONGEST_VALUE)]);
  }
  return Object.fromEntries(found);
}
