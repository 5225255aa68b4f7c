/** A value as a list of its parts. `{ "$": index }` refers to a part that occurs more than once. The last part is the whole value. */
export type Packed = readonly unknown[];

/** The shortest part, as JSON, that is worth a place of its own. */
const SHORTEST = 40;

/** Packs a value of JSON whose parts occur many times. The schemas of messages shrink to a third. */
export function pack(whole: unknown): Packed {
  const counts = new Map<string, number>();
  const count = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const text = JSON.stringify(value);
    const before = counts.get(text) ?? 0;
    counts.set(text, before + 1);
    if (before === 0) for (const part of Object.values(value)) count(part);
  };
  count(whole);
  const parts: unknown[] = [];
  const places = new Map<string, number>();
  const replace = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const text = JSON.stringify(value);
    const known = places.get(text);
    if (known !== undefined) return { $: known };
    const copy = mapped(value, replace);
    if ((counts.get(text) ?? 0) < 2 || text.length < SHORTEST) return copy;
    places.set(text, parts.length);
    return { $: parts.push(copy) - 1 };
  };
  const last = replace(whole); // It adds the parts.
  return [...parts, last];
}

/** Restores the value that was packed. Changes the parts, and shares one object for each that occurs many times. */
export function unpack(packed: Packed): unknown {
  const revived: unknown[] = [];
  const revive = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const own = value as Record<string, unknown>; // An array has names, too.
    if (typeof own["$"] === "number") return revived[own["$"]];
    for (const name in own) own[name] = revive(own[name]); // Copies took twice the time, at each start.
    return own;
  };
  for (const part of packed) revived.push(revive(part));
  return revived.at(-1);
}

const mapped = (value: object, change: (part: unknown) => unknown): unknown =>
  Array.isArray(value)
    ? value.map(change)
    : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part)]));
