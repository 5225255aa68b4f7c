// Why something was given up, where its sender or its reader did not say: the reason of a `cancelled` error.

/** Why a wait ends whose handler has ended. */
export const ENDED: unique symbol = Symbol(
  "the handler that waited for it has ended; await it there, or use the reference itself (ref.ask, ref.stream)",
);

/** Why a stream ends whose reader wants no more. */
export const LEFT: unique symbol = Symbol("its reader left the stream");

/** Why those that answer later than the first one are given up. */
export const ANSWERED: unique symbol = Symbol("another worker of the pool has answered first");
