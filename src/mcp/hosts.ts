import { option } from "../index";

const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

/** Throws unless it is `"any"`, or names of hosts. */
export function checkHosts(value: unknown, name: string, of: string): void {
  if (value === "any") return;
  option.texts(value, name, of);
  // An array of texts, by the check before.
  for (const each of value as readonly string[]) {
    if (hostnameOf(each) === each.toLowerCase()) continue;
    throw new TypeError(
      `The ${name} of ${of} are names without a port or a path, such as "mcp.example.com"; got "${each}".`,
    );
  }
}

/**
 * Checks the host that a request names, and the page that a browser sends it from. In DNS rebinding, a stranger's name leads to this
 * machine, and stands in both.
 */
export class Hosts {
  readonly #names: ReadonlySet<string> | null;
  /** The last headers that passed the check. The next request mostly has the same. */
  #host: string | null = null;
  #origin: string | null = null;

  constructor(given: readonly string[] | "any" = LOCAL) {
    this.#names = given === "any" ? null : new Set(given.map((name) => name.toLowerCase()));
  }

  allows({ headers, url }: Request): boolean {
    if (this.#names === null) return true;
    const host = headers.get("host");
    const named = host ?? url; // A request that a program made has no such header.
    if (named !== this.#host) {
      if (!this.#names.has(hostnameOf(host ?? new URL(url).host))) return false;
      this.#host = named;
    }
    const origin = headers.get("origin");
    if (origin === null || origin === this.#origin) return true;
    const [, rest = ""] = /^https?:\/\/(.*)$/i.exec(origin) ?? []; // "null" is that of a page without an origin.
    if (!this.#names.has(hostnameOf(rest))) return false;
    this.#origin = origin;
    return true;
  }
}

/** The name in `name:port`; empty for any other text. */
function hostnameOf(host: string): string {
  const [, name = ""] = /^(\[[0-9a-f:.]+\]|[^:/@?#[\]\s]+)(?::\d+)?$/i.exec(host) ?? [];
  return name.toLowerCase();
}
