import { type Address, type AnyRef, isAddress } from "../index";

/** An actor by its reference or address, or several by a pattern: `"@(tools/*)"`. */
export type Included = AnyRef | Address | string;

/** True when it may stand in `include`: a reference, an address, or a pattern with `*`. */
export function isIncluded(value: unknown): value is Included {
  if (typeof value === "string") return isAddress(value.replaceAll("*", "x"));
  return typeof value === "object" && value !== null && "address" in value && isAddress(value.address);
}

/** The pattern of what is included, as it stands in the header. */
export const patternOf = (included: Included): string => (typeof included === "string" ? included : included.address);

/** A test of addresses by patterns. `*` stands for any characters, also for none and for slashes. */
export function addressTest(patterns: readonly string[] | undefined): (address: string) => boolean {
  if (patterns === undefined) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const others = patterns.filter((pattern) => pattern.includes("*")).map(expressionOf);
  return (address) => exact.has(address) || others.some((expression) => expression.test(address));
}

/** Adjacent stars are one: several in a row would take exponential time on an address that does not fit. */
function expressionOf(pattern: string): RegExp {
  const parts = pattern.split(/\*+/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}
