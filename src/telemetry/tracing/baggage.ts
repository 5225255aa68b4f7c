import { type Baggage, type BaggageEntry, baggageEntryMetadataFromString, propagation } from "@opentelemetry/api";

// W3C Baggage as the text that travels in metadata. The limits are those of OpenTelemetry's own propagator.

const MOST_MEMBERS = 180;
const MOST_CHARACTERS_OF_MEMBER = 4_096;
const MOST_CHARACTERS = 8_192;

/** A token of HTTP (RFC 9110). */
const KEY = /^[!#$%&'*+.^_`|~\w-]+$/;

/** The baggage in a text; undefined where there is none. Members that are not well formed are left out. */
export function readBaggage(text: string): Baggage | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  const entries: Record<string, BaggageEntry> = {};
  let count = 0;
  for (const member of text.split(",", MOST_MEMBERS)) {
    const read = memberIn(member);
    if (read === undefined) continue;
    entries[read.key] = read.entry;
    count++;
  }
  return count === 0 ? undefined : propagation.createBaggage(entries);
}

function memberIn(member: string): { key: string; entry: BaggageEntry } | undefined {
  const [pair = "", ...properties] = member.split(";");
  const sign = pair.indexOf("=");
  const key = pair.slice(0, Math.max(sign, 0)).trim();
  if (!KEY.test(key) || key === "__proto__" || member.length > MOST_CHARACTERS_OF_MEMBER) return undefined;
  try {
    const value = decodeURIComponent(pair.slice(sign + 1).trim());
    if (properties.length === 0) return { key, entry: { value } };
    return { key, entry: { value, metadata: baggageEntryMetadataFromString(properties.join(";").trim()) } };
  } catch {
    return undefined; // A percent sign that encodes nothing.
  }
}

/** The text of a baggage, as far as it fits the limits; empty for an empty one. */
export function writeBaggage(baggage: Baggage): string {
  let text = "";
  let count = 0;
  for (const [key, { value, metadata }] of baggage.getAllEntries()) {
    const properties = metadata === undefined ? "" : metadata.toString();
    const member = `${encodeURIComponent(key)}=${encodeURIComponent(value)}${properties === "" ? "" : `;${properties}`}`;
    const length = text.length + member.length + (text === "" ? 0 : 1);
    if (member.length > MOST_CHARACTERS_OF_MEMBER || length > MOST_CHARACTERS) continue;
    if (++count > MOST_MEMBERS) break;
    text = text === "" ? member : `${text},${member}`;
  }
  return text;
}
