/** The wishes of a client for its answer (RFC 7240). */
export interface Preferences {
  /** It does not want to wait: the message is taken, and answered with 202. */
  readonly isAsync: boolean;
  /** The milliseconds that it would wait; infinite if it did not say. */
  readonly wait: number;
  /** It would know how long the parts of its request took. */
  readonly isTimed: boolean;
}

const NONE: Preferences = { isAsync: false, wait: Number.POSITIVE_INFINITY, isTimed: false };
const TIMED: Preferences = { ...NONE, isTimed: true };

/** Reads the header `prefer`. A preference that is not well written is passed over, as RFC 7240 wants it. */
export function preferencesOf(header: string | null): Preferences {
  if (header === null) return NONE;
  if (header === "server-timing") return TIMED;
  const wait = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(header)?.[1];
  return {
    isAsync: /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i.test(header),
    wait: wait === undefined ? Number.POSITIVE_INFINITY : Math.max(Number(wait) * 1000, 1),
    isTimed: /(?:^|,)\s*server-timing\s*(?:[,;]|$)/i.test(header),
  };
}

/** True if a client that sent this header `accept` takes a media type (RFC 9110, section 12.5.1). */
export function accepts(header: string | null, type: string): boolean {
  if (header === null || header === "*/*" || header === "" || header === type) return true;
  let best = 0;
  let isTaken = false;
  for (const range of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    const rank = name === type ? 3 : name === `${type.slice(0, type.indexOf("/"))}/*` ? 2 : name === "*/*" ? 1 : 0;
    if (rank === 0 || rank < best) continue;
    best = rank;
    isTaken = !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  }
  return isTaken;
}
