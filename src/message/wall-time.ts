/** The wall clock in milliseconds since 1970: the one place of envoi that reads it, for messages and the system clock. */
export const wallTime = (): number => Date.now();
