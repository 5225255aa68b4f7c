// Reasons of a `cancelled` error, for waits that ended without a word from their sender or reader.

/** The handler of a wait has ended. */
export const ENDED: unique symbol = Symbol(
  "the handler that waited for it has ended; await it there, or use the reference itself (ref.ask, ref.stream)",
);

/** The reader of a stream wants no more. */
export const LEFT: unique symbol = Symbol("its reader left the stream");

/** The later workers are given up once one has answered. */
export const ANSWERED: unique symbol = Symbol("another worker of the pool has answered first");
