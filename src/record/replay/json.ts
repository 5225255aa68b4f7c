// The form that values have in a recording: JSON, in which a key that begins with "$" tags what JSON lacks.

export const isNode = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value that is written by its size and hash, or not at all. */
export interface Tagged {
  readonly tag: "$binary" | "$large" | "$unwritable";
  /** Undefined for a value that cannot be written. */
  readonly bytes: number | undefined;
  readonly hash: string;
}

const TAGS = ["$binary", "$large", "$unwritable"] as const;

/** The size and hash of a value that is written so; undefined for any other value. */
export function tagOf(value: unknown): Tagged | undefined {
  if (!isNode(value)) return undefined;
  const [only, more] = Object.keys(value);
  const tag = TAGS.find((each) => each === only);
  if (tag === undefined || more !== undefined) return undefined;
  const about = value[tag];
  if (!isNode(about)) return { tag, bytes: undefined, hash: String(about) };
  const { bytes, sha256 } = about;
  return { tag, bytes: typeof bytes === "number" ? bytes : undefined, hash: String(sha256) };
}

/** The bytes of a value as JSON. */
export const sizeOf = (value: unknown): number =>
  Buffer.byteLength(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
