// What an actor is doing: numbers, because they are looked at several times a message.
/** Neither handles messages nor is scheduled: it starts, restarts or stops. */
export const SUSPENDED = 0;
export const IDLE = 1;
export const READY = 2;
export const HANDLING = 3;
export const AWAITING = 4;

// How far its life has got, in an order that is compared.
export const ALIVE = 0;
/** Alive, with a bounded mailbox or a relay in front of it. */
export const GUARDED = 1;
/** Handles what waits, and takes nothing more. */
export const DRAINING = 2;
/** Takes messages, and handles none until its next instance has begun. */
export const RESTARTING = 3;
export const STOPPING = 4;
export const STOPPED = 5;
