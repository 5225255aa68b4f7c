/** How often a property is tried: `usual` times, and twenty times as often in the long verification. */
export const runs = (usual: number): { numRuns: number } => ({
  numRuns: process.env["ENVOI_LONG"] ? usual * 20 : usual,
});
