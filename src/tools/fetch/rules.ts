import { refuse } from "./fetch-error";
import { type Block, isIn, isPublic } from "./ip-address";
import type { Target } from "./target";

/** The URLs of a rule. */
export interface Pattern {
  readonly protocol: Target["protocol"];
  /** Null for any host. */
  readonly host: string | null;
  /** True if the pattern stands for the hosts below `host`, without `host` itself. */
  readonly isBelow: boolean;
  /** Null for any port. */
  readonly port: number | null;
  /** The parts of the path between the stars. */
  readonly path: readonly string[];
}

/** A rule of the owner, checked. */
export interface Rule {
  readonly pattern: Pattern;
  readonly methods: ReadonlySet<string>;
  /** Headers that the owner adds. Names are in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Addresses that may be connected to, though they are not public. */
  readonly blocks: readonly Block[];
  /** True where requests carry their trace. */
  readonly isTraced: boolean;
  readonly ca: string | undefined;
}

const PATTERN = /^(https?):\/\/(\[[\da-f:.]+\]|[^\s/:?#@\\[\]%]+)(?::(\d{1,5}|\*))?(\/[^\s?#\\]*)$/i;

/** Reads a pattern such as `https://*.example.com/api/*`; null for any other text. */
export function patternOf(text: string): Pattern | null {
  const [, scheme = "", host = "", port, path = ""] = PATTERN.exec(text) ?? [];
  const protocol = `${scheme.toLowerCase()}:`;
  if (protocol !== "http:" && protocol !== "https:") return null;
  const isBelow = host.startsWith("*.");
  const name = isBelow ? host.slice(2) : host;
  const plain = `http://${host === "*" ? "any" : name}${path}`;
  if ((name.includes("*") && host !== "*") || !URL.canParse(plain)) return null;
  const { hostname, pathname } = new URL(plain);
  if (port !== undefined && port !== "*" && (Number(port) < 1 || Number(port) > 65_535)) return null;
  return {
    protocol,
    host: host === "*" ? null : hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    isBelow,
    port: port === "*" ? null : port === undefined ? (protocol === "http:" ? 80 : 443) : Number(port),
    path: pathname.split(/\*+/),
  };
}

/** The rule by which a request is allowed, or a refusal. */
export function ruleFor(rules: readonly Rule[], target: Target, method: string): Rule {
  const fitting = rules.filter(({ pattern }) => fits(pattern, target));
  const rule = fitting.find(({ methods }) => methods.has(method));
  if (rule !== undefined) return rule;
  if (fitting.length === 0)
    return refuse("not-allowed", "The owner of this tool does not allow this URL; ask for another one.");
  const methods = new Set(fitting.flatMap((each) => [...each.methods]));
  return refuse("not-allowed", `This URL is not allowed with ${method}; use ${[...methods].join(" or ")}.`);
}

function fits({ protocol, host, isBelow, port, path }: Pattern, target: Target): boolean {
  if (protocol !== target.protocol || (port !== null && port !== target.port)) return false;
  if (host !== null && !(isBelow ? target.host.endsWith(`.${host}`) : target.host === host)) return false;
  return fitsParts(path, target.path);
}

/** Matches a text with parts that stand in their order, the first at its start and the last at its end, in linear time. */
function fitsParts(parts: readonly string[], text: string): boolean {
  const [first = "", ...others] = parts;
  if (!text.startsWith(first)) return false;
  const last = others.pop();
  if (last === undefined) return text === first;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** True when a request may be connected to an address. */
export const isOpen = ({ blocks }: Rule, address: Uint8Array): boolean =>
  isPublic(address) || blocks.some((block) => isIn(address, block));
