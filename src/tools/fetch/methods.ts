/** The methods that a fetch actor can be allowed. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
/** A method that a fetch actor can be allowed. */
export type FetchMethod = (typeof METHODS)[number];
