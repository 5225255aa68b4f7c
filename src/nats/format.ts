/** The format of what nodes say to each other and write to the buckets. Each change that another version of envoi would misread raises it. */
export const FORMAT = 1;

const PREFIX = `v${FORMAT}:`;

/** The name of a node from a start, or a loss of its lease, to the next one. The format is its beginning, so that no node takes what it would misread. */
export const newIncarnation = (): string => `${PREFIX}${crypto.randomUUID()}`;

/** True for the incarnation of a node of this format. */
export const isReadable = (incarnation: string): boolean => incarnation.startsWith(PREFIX);

/** The format of the node that has an incarnation; undefined for a text that is none. */
export function formatOf(incarnation: string): number | undefined {
  const [, format] = /^v(\d{1,9}):/.exec(incarnation) ?? [];
  return format === undefined ? undefined : Number(format);
}
