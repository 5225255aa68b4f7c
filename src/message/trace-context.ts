/** The trace that a message belongs to (W3C Trace Context), as handlers read it in `ctx.metadata`. */
export type TraceContext = {
  readonly traceparent: string;
  readonly tracestate?: string;
};

/** Version, trace, parent and flags; what a later version has behind them is not known. */
const TRACEPARENT = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The flags that this version knows: sampled, and random (level 2). */
const FLAGS = 0b11;
const SAMPLED = 0b01;

/**
 * The trace context in two texts, such as those of a message's metadata or of headers. Undefined where there is none, or one that is not
 * well formed: then its state does not count either (section 3.3 of W3C Trace Context). A `traceparent` of a later version is handed on as
 * version 00, the highest that is known here. A state that is not well formed is left out, and one that is too long is shortened.
 *
 * @example
 * traceContext(headers.get("traceparent"), headers.get("tracestate"))?.traceparent;
 */
export function traceContext(traceparent: unknown, tracestate: unknown): TraceContext | undefined {
  const parent = typeof traceparent === "string" ? parentIn(traceparent) : undefined;
  if (parent === undefined) return undefined;
  const state = typeof tracestate === "string" ? stateIn(tracestate) : undefined;
  return state === undefined ? { traceparent: parent } : { traceparent: parent, tracestate: state };
}

/**
 * The trace context among metadata, or among the members of another object, such as the `_meta` of a message of MCP. Undefined as above. A
 * handler that calls something else than an actor hands its trace on by it: `ctx.handsOn` has that of the handler, `ctx.metadata` that of its caller.
 *
 * @example
 * await fetch(url, { headers: { ...traceOf(ctx.handsOn) } });
 */
export function traceOf(given: unknown): TraceContext | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { traceparent, tracestate } = given as Record<string, unknown>; // Any object has such members, or not.
  return traceparent === undefined ? undefined : traceContext(traceparent, tracestate);
}

function parentIn(text: string): string | undefined {
  if (text.length < 55) return undefined;
  const [, version, trace, parent, flags = "", more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  const known = Number.parseInt(flags, 16) & (version === "00" ? FLAGS : SAMPLED);
  return `00-${trace}-${parent}-0${known}`;
}

/** Members that a state has at most. */
const MEMBERS = 32;
/** Characters that are handed on at most, which each vendor should do, and those of a member that goes first. */
const CHARACTERS = 512;
const LARGE = 128;
/** Two texts of 256 characters, a sign between them, a comma and a space. */
const LONGEST = MEMBERS * (256 + 1 + 256 + 2);

const KEY = /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})$/;
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** A state that is well formed, shortened as section 3.3.1.5 says; undefined for any other one, and for an empty one. */
function stateIn(text: string): string | undefined {
  if (text.length > LONGEST) return undefined;
  const members: string[] = [];
  const keys = new Set<string>();
  for (const part of text.split(",")) {
    const member = trimmed(part);
    if (member === "") continue;
    const sign = member.indexOf("=");
    const key = member.slice(0, Math.max(sign, 0));
    if (!KEY.test(key) || !VALUE.test(member.slice(sign + 1)) || keys.has(key)) return undefined;
    keys.add(key);
    members.push(member);
  }
  if (members.length === 0 || members.length > MEMBERS) return undefined;
  return shortened(members).join(",") || undefined;
}

/** Drops members until the state is short enough: large ones first, then from the end. */
function shortened(members: readonly string[]): readonly string[] {
  let size = members.reduce((sum, { length }) => sum + length + 1, -1);
  if (size <= CHARACTERS) return members;
  const left = [...members];
  for (let index = left.length - 1; index >= 0 && size > CHARACTERS; index--) {
    const { length } = left[index] ?? "";
    if (length <= LARGE) continue;
    size -= length + 1;
    left.splice(index, 1);
  }
  while (size > CHARACTERS) size -= (left.pop()?.length ?? 0) + 1;
  return left;
}

/** Without the spaces and tabs at both ends. A pattern for it would take the square of their number. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === 32 || code === 9;
