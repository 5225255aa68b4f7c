import { refuse, shown } from "./fetch-error";
import { bytesOf } from "./ip-address";

/** A URL that can be read in one way only. */
export interface Target {
  readonly protocol: "http:" | "https:";
  /** A name in lower case, in the letters of DNS; or an address, that of IPv6 without brackets. */
  readonly host: string;
  /** The bytes of the host when it is an address; null for a name. */
  readonly address: Uint8Array | null;
  readonly port: number;
  readonly path: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
}

/** Longest URL, in letters. */
export const LONGEST_URL = 8_192;

const ABSOLUTE = /^https?:\/\/[^/]/i;
/** Blanks, control characters and backslashes: parsers drop or change them, each in its own way. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are looked for.
const AMBIGUOUS = /[\u0000-\u0020\u007f-\u009f\\]/;
const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** Reads a URL, or refuses it. Its fragment is left out: it is never sent. */
export function targetOf(text: string): Target {
  const advice = "write an absolute one, such as https://example.com/page";
  if (text.length > LONGEST_URL) return refuse("invalid-url", `The URL is longer than ${LONGEST_URL} letters.`);
  if (!ABSOLUTE.test(text) || !URL.canParse(text)) {
    return refuse("invalid-url", `${shown(text)} is no URL of http or https; ${advice}.`);
  }
  if (AMBIGUOUS.test(text)) {
    return refuse(
      "invalid-url",
      `${shown(text)} has a blank, a control character or a backslash; write it as %20, say.`,
    );
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return refuse("invalid-url", "The URL has a user or a password before the host; leave them out.");
  }
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const address = bytesOf(host);
  const isHttp = url.protocol === "http:";
  const port = url.port === "" ? (isHttp ? 80 : 443) : Number(url.port);
  if ((address === null && (host.length > 253 || !NAME.test(host))) || port === 0) {
    return refuse("invalid-url", `${shown(text)} has a host or a port that cannot be; ${advice}.`);
  }
  if (climbs(url.pathname)) {
    return refuse("invalid-url", `The path of ${shown(text)} has an encoded "..", slash or NUL; write it without.`);
  }
  return { protocol: isHttp ? "http:" : "https:", host, address, port, path: url.pathname, query: url.search };
}

/** The scheme, the host and the port. A caller's headers stay within them. */
export const originOf = ({ protocol, host, port }: Target): string => `${protocol}//${host}:${port}`;

/** The host as a URL and a `Host` header write it. */
export const hostText = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** The `Host` header: without the port of the scheme. */
export function hostHeader({ protocol, host, port }: Target): string {
  const isUsual = port === (protocol === "http:" ? 80 : 443);
  return isUsual ? hostText(host) : `${hostText(host)}:${port}`;
}

/** The URL as the caller may read it: in its plain form. */
export const urlText = (target: Target): string =>
  `${target.protocol}//${hostHeader(target)}${target.path}${target.query}`;

/** Times that a path is decoded: a server may do it twice. */
const MOST_DECODINGS = 4;

/**
 * True when a server that decodes the path, once or several times, could find another path than the one that the rules look
 * at: `..` between encoded slashes, or before a semicolon, or in the overlong UTF-8 of old servers. `URL` has resolved the plain
 * `..` and `%2e%2e`.
 */
function climbs(path: string): boolean {
  let decoded = path;
  for (let times = 0; times < MOST_DECODINGS; times++) {
    const next = decoded
      .replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replaceAll("\u00c0\u00ae", ".")
      .replaceAll("\u00c0\u00af", "/");
    if (next.includes("\0")) return true;
    if (next.split(/[/\\]/).some((segment) => /^\.{1,2}(;|$)/.test(segment))) return true;
    if (next === decoded) return false;
    decoded = next;
  }
  return true; // Still encoded: nobody writes a path so.
}
