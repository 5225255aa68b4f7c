// The JSON texts of what JSON lacks. `readValue` is their inverse.

export const UNDEFINED = `{"$undefined":true}`;

/** A number, also one that JSON does not know. */
export function numberText(value: number): string {
  if (Object.is(value, -0)) return `{"$number":"-0"}`;
  return Number.isFinite(value) ? String(value) : `{"$number":"${value}"}`;
}

export function dateText(date: Date): string {
  const time = Date.prototype.getTime.call(date);
  return `{"$date":"${Number.isNaN(time) ? "invalid" : new Date(time).toISOString()}"}`;
}

/** Something that cannot be written, with a word that says why. */
export function unwritable(why: string): string {
  return `{"$unwritable":${JSON.stringify(why)}}`;
}

/** The mask of a text: its end, and no more than a quarter of it. */
export function masked(text: string, keep: number): string {
  const kept = Math.min(keep, Math.floor(text.length / 4));
  return `***${kept === 0 ? "" : text.slice(-kept)}`;
}

/** A JSON text as one of a text, which the schema of an error wants. */
export function asText(json: string): string {
  return json.startsWith('"') ? json : JSON.stringify(json);
}
