/** The wall clock in milliseconds since 1970, for messages and the system clock. Nothing else in envoi reads it. */
export const wallTime = (): number => Date.now();
