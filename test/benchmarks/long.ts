/** A number for `verify`, and the one for the long verification. */
export const quickOr = (quick: number, long: number): number => (process.env["ENVOI_LONG"] ? long : quick);
