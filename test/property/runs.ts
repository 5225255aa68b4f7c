/** True in the long verification: what takes long is done in full, and otherwise in part. */
export const isLong = process.env["ENVOI_LONG"] !== undefined;

/** How often a property is tried: `usual` times, and twenty times as often in the long verification. */
export const runs = (usual: number): { numRuns: number } => ({
  numRuns: isLong ? usual * 20 : usual,
});
