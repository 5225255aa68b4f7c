import type { Errand } from "./errand";
import { FetchRefusal, refuse, shown } from "./fetch-error";
import type { Rule } from "./rules";
import { hostText, type Target } from "./target";

/** A request as it is sent to a target. */
export interface Parcel {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | null;
}

/** Most addresses of a host that are tried. */
const MOST_TRIES = 3;

/** Sends one request to the first of some addresses that takes the connection. No redirect is followed. */
export async function exchange(
  target: Target,
  addresses: readonly string[],
  parcel: Parcel,
  rule: Rule,
  errand: Errand,
): Promise<Response> {
  for (const [index, address] of addresses.entries()) {
    try {
      return await sendTo(address, target, parcel, rule, errand.signal);
    } catch (thrown) {
      errand.signal.throwIfAborted();
      const isLast = index + 1 >= Math.min(addresses.length, MOST_TRIES);
      // Only a connection that was never made is tried again: nothing was sent then.
      if (isLast || !isUnconnected(thrown)) throw refusalOf(thrown, target.host);
    }
  }
  return refuse("unreachable", `The host ${shown(target.host)} has no address.`);
}

/**
 * Sends a request to an address. The address stands in the URL, so nothing is looked up between the check and the connection. The `Host`
 * header and TLS carry the name, and the certificate is checked against it.
 */
function sendTo(
  address: string,
  { protocol, host, port, path, query, address: literal }: Target,
  { method, headers, body }: Parcel,
  { ca }: Rule,
  signal: AbortSignal,
): Promise<Response> {
  return Bun.fetch(`${protocol}//${hostText(address)}:${port}${path}${query}`, {
    method,
    headers,
    body,
    signal,
    redirect: "manual",
    // A proxy of the environment would look the name up once more, and keep-alive would lend a connection to another rule.
    proxy: false,
    keepalive: false,
    protocol: "http1.1", // HTTP/3 could be offered by the server at another host and port.
    decompress: false, // Its size is not bounded there: see body.ts.
    tls: {
      rejectUnauthorized: true, // The environment cannot turn it off.
      ...(literal === null && { serverName: host }),
      ...(ca !== undefined && { ca }),
    },
  });
}

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";

const UNCONNECTED = new Set([
  "ECONNREFUSED",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "EADDRNOTAVAIL",
  "ConnectionRefused",
  "FailedToOpenSocket",
]);

const isUnconnected = (thrown: unknown): boolean => UNCONNECTED.has(codeOf(thrown));

/** The refusal for an error of the connection. The text of the error is left out, since it has the address. */
export function refusalOf(thrown: unknown, host: string): unknown {
  if (thrown instanceof FetchRefusal) return thrown;
  const code = codeOf(thrown);
  if (code === "") return thrown;
  const name = shown(host);
  if (/^ERR_TLS|^ERR_SSL|CERT|SELF_SIGNED|UNABLE_TO_|DEPTH_ZERO/.test(code)) {
    return new FetchRefusal("insecure", `The host ${name} has no certificate for that name that holds.`);
  }
  if (/^(ERR_|Z_)|BROTLI|Malformed|Invalid|TooLarge|Unrequested|Unsupported|Unexpected/.test(code)) {
    return new FetchRefusal("bad-reply", `The answer of ${name} is broken: it cannot be read.`);
  }
  return new FetchRefusal("unreachable", `No connection to ${name} was made, or it was lost; try again later.`);
}
