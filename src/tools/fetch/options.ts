import { type ActorOptions, quote } from "../../index";
import { fixedHeader, NEVER_ADDED, USUAL_HEADERS } from "./headers";
import { blockOf } from "./ip-address";
import { type FetchMethod, METHODS } from "./methods";
import { patternOf, type Rule } from "./rules";

/** A set of URLs that callers may request, with the options of these requests. */
export interface FetchRule {
  /**
   * The URLs: a scheme, a host, a port and a path, such as `https://api.example.com/v1/*`. A star in the path stands for any
   * letters, slashes included. `*.example.com` stands for all hosts below that one, and a host `*` for any. The default
   * port is that of the scheme; `:*` stands for any. The query is free.
   */
  readonly url: string;
  /** The methods that may be used. Default: those of the actor. */
  readonly methods?: readonly FetchMethod[];
  /**
   * Headers that are added to each request by this rule, such as an API key: `{ authorization: "Bearer …" }`. The caller neither
   * names nor sees them, unless the server's answer repeats them. A redirect gets them only if this rule allows its URL. Default:
   * none.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Addresses or blocks that may be connected to, though they are not public: `["127.0.0.1", "10.1.0.0/16"]`. Default: none.
   */
  readonly addresses?: readonly string[];
  /**
   * True to send the trace that a request belongs to, as the headers `traceparent` and `tracestate` (W3C Trace Context): to servers whose traces
   * are joined with those of this system. Any other server would learn which of its requests belong together. A redirect gets them only if
   * its own rule says so. Default: false.
   */
  readonly trace?: boolean;
  /** The certificates (PEM) that servers are checked against, in place of those of the machine. Default: those of the machine. */
  readonly ca?: string;
}

/**
 * Gives the addresses of a host, or none. The actor checks each of them, and connects to one that it has checked. It calls this once
 * for each request and for each redirect. Requests for one host at the same time share the answer.
 */
export type ResolveHost = (host: string) => readonly string[] | Promise<readonly string[]>;

/** Options of a fetch actor. */
export interface FetchOptions extends Pick<ActorOptions, "supervision" | "phase" | "capacity" | "overflow"> {
  /** URLs that may be asked for: patterns, or rules with more. Default: none. */
  readonly allow?: readonly (string | FetchRule)[];
  /** The actor's name. Default: `"fetch"`. */
  readonly name?: string;
  /** The methods that may be used unless a rule names its own. Default: `["GET", "HEAD"]`. */
  readonly methods?: readonly FetchMethod[];
  /**
   * Headers that callers may set, beside accept, accept-language, content-type, content-language, if-match,
   * if-modified-since, if-none-match, if-unmodified-since, range and idempotency-key. Default: none.
   */
  readonly requestHeaders?: readonly string[];
  /** Largest body of a request, in bytes. Default: 1 MB. */
  readonly maxRequestBytes?: number;
  /** Largest body of an answer to `get` and `request`, in bytes, after its decompression. Default: 1 MB. */
  readonly maxReplyBytes?: number;
  /** Largest body of an answer to `requestStream`, in bytes, after its decompression. Default: 100 MB. */
  readonly maxStreamBytes?: number;
  /** Most redirects that are followed for a request; 0 refuses all. Default: 5. */
  readonly maxRedirects?: number;
  /** Longest time of `get` and `request`, from their handling to the end of the body, in milliseconds. Default: 30,000. */
  readonly timeout?: number;
  /** Longest time of `requestStream`, in milliseconds. Its reader's time counts. Default: 600,000. */
  readonly streamTimeout?: number;
  /** Most requests at once. As many streams run beside them. Others wait in the mailbox. Default: 16. */
  readonly concurrency?: number;
  /** Gives the addresses of a host. Default: the machine's resolver. */
  readonly resolve?: ResolveHost;
}

/** The options, checked, with all defaults filled in. */
export interface Limits {
  readonly rules: readonly Rule[];
  /** Headers that callers may set, in lower case. */
  readonly requestHeaders: ReadonlySet<string>;
  readonly maxRequestBytes: number;
  readonly maxReplyBytes: number;
  readonly maxStreamBytes: number;
  readonly maxRedirects: number;
  readonly timeout: number;
  readonly streamTimeout: number;
  readonly concurrency: number;
  readonly resolve: ResolveHost | undefined;
}

const MB = 1024 * 1024;
const COUNTS = [
  "maxRequestBytes",
  "maxReplyBytes",
  "maxStreamBytes",
  "timeout",
  "streamTimeout",
  "concurrency",
] as const;
const NAMES: ReadonlySet<string> = new Set<keyof FetchOptions>([
  "allow",
  "name",
  "methods",
  "requestHeaders",
  ...COUNTS,
  "maxRedirects",
  "resolve",
  "supervision",
  "phase",
  "capacity",
  "overflow",
]);
const RULE_NAMES: ReadonlySet<string> = new Set<keyof FetchRule>([
  "url",
  "methods",
  "headers",
  "addresses",
  "trace",
  "ca",
]);

/**
 * Refuses invalid options with advice, and fills in the defaults.
 *
 * @throws TypeError or RangeError for an invalid option.
 */
export function limitsOf(options: FetchOptions): Limits {
  checkNames(options, NAMES, "a fetch actor", '{ allow: ["https://api.example.com/*"] }');
  for (const key of COUNTS) {
    const value = options[key];
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new RangeError(`The ${key} of a fetch actor is a whole number from 1; got ${quote(value)}.`);
  }
  const { allow = [], methods = ["GET", "HEAD"], maxRedirects = 5, resolve, requestHeaders = [] } = options;
  if (!Number.isSafeInteger(maxRedirects) || maxRedirects < 0) {
    throw new RangeError(`The maxRedirects of a fetch actor is a whole number from 0; got ${quote(maxRedirects)}.`);
  }
  if (resolve !== undefined && typeof resolve !== "function") {
    throw new TypeError(`The resolve of a fetch actor is a function of a host; got ${quote(resolve)}.`);
  }
  const usual = methodsOf(methods, "The methods of a fetch actor");
  return {
    rules: listOf(allow, "The allow of a fetch actor", '["https://api.example.com/*"]').map((rule) =>
      ruleOf(rule, usual),
    ),
    requestHeaders: new Set([...USUAL_HEADERS, ...namesOf(requestHeaders)]),
    maxRequestBytes: options.maxRequestBytes ?? MB,
    maxReplyBytes: options.maxReplyBytes ?? MB,
    maxStreamBytes: options.maxStreamBytes ?? 100 * MB,
    maxRedirects,
    timeout: options.timeout ?? 30_000,
    streamTimeout: options.streamTimeout ?? 600_000,
    concurrency: options.concurrency ?? 16,
    resolve,
  };
}

function ruleOf(given: unknown, usual: ReadonlySet<string>): Rule {
  const example = '{ url: "https://api.example.com/*", methods: ["GET", "POST"] }';
  const rule: unknown = typeof given === "string" ? { url: given } : given;
  checkNames(rule, RULE_NAMES, "a rule of allow", example);
  // Its names were checked.
  const {
    url,
    methods,
    headers = {},
    addresses = [],
    trace = false,
    ca,
  } = rule as {
    readonly [Name in keyof FetchRule]?: unknown;
  };
  const pattern = typeof url === "string" ? patternOf(url) : null;
  if (pattern === null) {
    throw new TypeError(
      `A URL of allow has a scheme, a host and a path, such as "https://api.example.com/*"; got ${quote(url)}.`,
    );
  }
  const blocks = listOf(addresses, "The addresses of a rule", '["10.1.0.0/16"]').map((text) => {
    const block = typeof text === "string" ? blockOf(text) : null;
    if (block !== null) return block;
    throw new TypeError(
      `An address of a rule is one such as "127.0.0.1", or a block such as "10.1.0.0/16"; got ${quote(text)}.`,
    );
  });
  if (ca !== undefined && (typeof ca !== "string" || !ca.includes("-----BEGIN"))) {
    throw new TypeError("The ca of a rule is a text of certificates in PEM, as in their file.");
  }
  const added = addedHeaders(headers);
  if (added.length > 0 && pattern.host === null) {
    throw new TypeError(`The headers of a rule would be sent to any host by ${quote(url)}; name the host.`);
  }
  if (typeof trace !== "boolean") throw new TypeError(`The trace of a rule is true or false; got ${quote(trace)}.`);
  if (trace && pattern.host === null) {
    throw new TypeError(`The trace of a rule would be sent to any host by ${quote(url)}; name the host.`);
  }
  const own = methods === undefined ? usual : methodsOf(methods, "The methods of a rule");
  return { pattern, methods: own, headers: added, blocks, isTraced: trace, ca };
}

function addedHeaders(headers: unknown): Rule["headers"] {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    throw new TypeError(`The headers of a rule are an object of texts, such as { authorization: "Bearer …" }.`);
  }
  return Object.entries(headers).map(([given, value]) => {
    const name = given.toLowerCase();
    // The value is not shown: it may be a secret.
    if (NEVER_ADDED.has(name))
      throw new TypeError(`A rule cannot add the header ${quote(given)}: it belongs to the connection.`);
    const header = typeof value === "string" ? fixedHeader(name, value) : null;
    if (header === null)
      throw new TypeError(`The header ${quote(given)} of a rule is a name and a text that HTTP can carry.`);
    return header;
  });
}

function namesOf(names: unknown): string[] {
  return listOf(names, "The requestHeaders of a fetch actor", '["x-request-id"]').map((given) => {
    const name = typeof given === "string" ? given.toLowerCase() : "";
    if (fixedHeader(name, "") !== null && !NEVER_ADDED.has(name)) return name;
    throw new TypeError(`A caller cannot set the header ${quote(given)}; name another one in requestHeaders.`);
  });
}

function methodsOf(given: unknown, what: string): ReadonlySet<string> {
  const methods = listOf(given, what, '["GET", "POST"]');
  const wrong = methods.find((method) => !(METHODS as readonly unknown[]).includes(method));
  if (wrong === undefined && methods.length > 0) return new Set(methods as readonly string[]); // Each was found among the names.
  throw new TypeError(`${what} are some of ${METHODS.join(", ")}; got ${quote(wrong ?? methods)}.`);
}

function listOf(given: unknown, what: string, example: string): readonly unknown[] {
  if (Array.isArray(given)) return given;
  throw new TypeError(`${what} is a list, such as ${example}; got ${quote(given)}.`);
}

function checkNames(given: unknown, names: ReadonlySet<string>, of: string, example: string): asserts given is object {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError(`The options of ${of} are an object, such as ${example}; got ${quote(given)}.`);
  }
  for (const name of Object.keys(given)) {
    if (names.has(name)) continue;
    throw new TypeError(`There is no option "${name}" of ${of}; write one of ${[...names].join(", ")}.`);
  }
}
