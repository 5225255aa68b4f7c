/** True in the long verification: what takes long is done in full, and otherwise in part. */
export const isLong = process.env["ENVOI_LONG"] !== undefined;

/** How often a property is tried: `usual` times, and in the long verification twenty times as often, if nothing else is said. */
export const runs = (usual: number, inLong: number = usual * 20): { numRuns: number } => ({
  numRuns: isLong ? inLong : usual,
});
