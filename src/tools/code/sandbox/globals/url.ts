/** The parts of a URL; `origin` and `href` are made of the others. */
export type UrlParts = Readonly<Record<(typeof URL_PARTS)[number], string>>;

export const URL_PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;

/** A request of the sandbox to its process, as JSON. The answer for a URL is its parts, or null if it is invalid. */
export type UrlRequest =
  | readonly ["parse", url: string, base?: string]
  | readonly ["set", href: string, part: string, value: string]
  | readonly ["read", query: string]
  | readonly ["write", pairs: readonly (readonly [string, string])[]];

/**
 * Most characters of a request. A parser cannot be interrupted: a run whose time is up meanwhile is killed. A request of
 * this length takes at most 60 ms, but 0.3 s for parameters, and 4 s for a host of as many labels beyond ASCII.
 */
const LONGEST = 1024 * 1024;

/** Answers a request; undefined if it is too long or malformed. Code may have changed the functions that make its text. */
export function answerUrl(request: string): string | undefined {
  try {
    return request.length > LONGEST ? undefined : answerOf(request);
  } catch {
    return undefined;
  }
}

/**
 * Answers a request in the process of the sandbox, by Bun's own parser. So the answers are those of the other tiers, and
 * the sandbox needs no parser of 30 KB with its tables of names.
 */
function answerOf(request: string): string | undefined {
  const [kind, first, second, third] = JSON.parse(request) as [UrlRequest[0], never, never, never]; // The caller catches others.
  if (kind === "read") return JSON.stringify([...new URLSearchParams(first)]);
  if (kind === "write") return JSON.stringify(new URLSearchParams(first as [string, string][]).toString());
  const isSet = kind === "set" && second !== "href";
  const url = kind === "parse" ? URL.parse(first, second) : URL.parse(isSet ? first : third);
  if (url !== null && isSet) Reflect.set(url, second, third);
  return JSON.stringify(url && Object.fromEntries(URL_PARTS.map((part) => [part, url[part]])));
}

/**
 * `URL` and `URLSearchParams`, made from the answers of the process.
 *
 * It is carried into the sandbox as its own source text, at the first use of either.
 */
export function urlGlobals(ask: (request: string) => string | undefined): {
  readonly URL: unknown;
  readonly URLSearchParams: unknown;
} {
  const { stringify, parse } = JSON;
  type Pair = [key: string, value: string];
  const asked = (...request: UrlRequest): unknown => {
    const answer = ask(stringify(request));
    if (answer === undefined) throw new TypeError("The URL is longer than this tier reads (1 MB).");
    return parse(answer);
  };
  const text = (value: unknown): string => `${value}`;

  /** Updates the query of a URL from its parameters. */
  const owners = new WeakMap<object, (query: string) => void>();

  class URLSearchParams {
    #pairs: Pair[] = [];

    constructor(init: unknown = "") {
      if (typeof init === "object" && init !== null) {
        if (typeof (init as Partial<Iterable<unknown>>)[Symbol.iterator] === "function") {
          for (const pair of init as Iterable<Iterable<unknown>>) {
            const both = [...pair];
            if (both.length !== 2) throw new TypeError("Each of the parameters is a pair of a name and a value.");
            this.#pairs.push([text(both[0]), text(both[1])]);
          }
        } else {
          for (const key of Object.keys(init)) this.#pairs.push([key, text((init as Record<string, unknown>)[key])]);
        }
      } else {
        this.#pairs = asked("read", text(init)) as Pair[];
      }
    }

    get size(): number {
      return this.#pairs.length;
    }

    append(key: unknown, value: unknown): void {
      this.#pairs.push([text(key), text(value)]);
      this.#changed();
    }

    delete(key: unknown, value?: unknown): void {
      this.#pairs = this.#pairs.filter((pair) => !is(pair, key, value));
      this.#changed();
    }

    get(key: unknown): string | null {
      return this.#pairs.find((pair) => is(pair, key))?.[1] ?? null;
    }

    getAll(key: unknown): string[] {
      return this.#pairs.filter((pair) => is(pair, key)).map(([, value]) => value);
    }

    has(key: unknown, value?: unknown): boolean {
      return this.#pairs.some((pair) => is(pair, key, value));
    }

    set(key: unknown, value: unknown): void {
      const at = this.#pairs.findIndex((pair) => is(pair, key));
      if (at < 0) this.#pairs.push([text(key), text(value)]);
      else {
        this.#pairs = this.#pairs.filter((pair, index) => index <= at || !is(pair, key));
        this.#pairs[at] = [text(key), text(value)];
      }
      this.#changed();
    }

    sort(): void {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }

    forEach(work: (value: string, key: string, of: URLSearchParams) => void, self?: unknown): void {
      for (const [key, value] of this) Reflect.apply(work, self, [value, key, this]);
    }

    *entries(): Generator<Pair> {
      for (let at = 0; at < this.#pairs.length; at++) yield [...(this.#pairs[at] as Pair)]; // The index is in bounds.
    }

    *keys(): Generator<string> {
      for (const [key] of this.entries()) yield key;
    }

    *values(): Generator<string> {
      for (const [, value] of this.entries()) yield value;
    }

    [Symbol.iterator](): Generator<Pair> {
      return this.entries();
    }

    toString(): string {
      return asked("write", this.#pairs) as string;
    }

    #changed(): void {
      owners.get(this)?.(this.toString());
    }

    static replace(params: URLSearchParams, query: string): void {
      params.#pairs = asked("read", query) as Pair[];
    }
  }
  const { replace } = URLSearchParams;
  Reflect.deleteProperty(URLSearchParams, "replace");
  const is = ([key, value]: Pair, wanted: unknown, of?: unknown): boolean =>
    key === text(wanted) && (of === undefined || value === text(of));

  class URL {
    #parts: UrlParts;
    #params: URLSearchParams | undefined;

    constructor(url: unknown, base?: unknown) {
      const made = read(url, base);
      if (made === null) throw new TypeError(`"${text(url).slice(0, 200)}" cannot be parsed as a URL.`);
      this.#parts = made;
    }

    static canParse(url: unknown, base?: unknown): boolean {
      return read(url, base) !== null;
    }

    static parse(url: unknown, base?: unknown): URL | null {
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }

    get searchParams(): URLSearchParams {
      if (this.#params === undefined) {
        this.#params = new URLSearchParams(this.#parts.search);
        owners.set(this.#params, (query) => this.#set("search", query));
      }
      return this.#params;
    }

    toString(): string {
      return this.#parts.href;
    }

    toJSON(): string {
      return this.#parts.href;
    }

    #set(part: string, value: string): void {
      const made = asked("set", this.#parts.href, part, value) as UrlParts | null;
      if (made === null) throw new TypeError(`"${value.slice(0, 200)}" cannot be parsed as a URL.`);
      this.#parts = made;
    }

    static define(part: keyof UrlParts): void {
      const set = function (this: URL, value: unknown): void {
        this.#set(part, text(value));
        if ((part === "search" || part === "href") && this.#params) replace(this.#params, this.#parts.search);
      };
      const get = function (this: URL): string {
        return this.#parts[part];
      };
      Object.defineProperty(URL.prototype, part, {
        get,
        ...(part !== "origin" && { set }),
        enumerable: true,
        configurable: true,
      });
    }
  }
  const read = (url: unknown, base: unknown): UrlParts | null =>
    (base === undefined ? asked("parse", text(url)) : asked("parse", text(url), text(base))) as UrlParts | null;
  // The same list again: this function is carried as its own text, and the compiler holds the two together.
  const parts = [
    "href",
    "origin",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "search",
    "hash",
  ] as const satisfies typeof URL_PARTS;
  for (const part of parts) URL.define(part);
  Reflect.deleteProperty(URL, "define");

  return { URL, URLSearchParams };
}
