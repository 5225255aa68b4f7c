import { defineProtocol, type Static, Type } from "envoi";

const Count = Type.Integer({ minimum: 0 });

/** A page of the corpus to be counted. Its text is made from the seed, where it is counted. */
export const Page = Type.Object({
  seed: Count,
  page: Count,
  words: Count,
  /** True when its sender does not know whether an earlier one was handled. */
  mayRepeat: Type.Boolean(),
});
export type Page = Static<typeof Page>;

/** How often each word occurs in a page. */
export const Counted = Type.Object({
  page: Count,
  words: Type.Array(Type.Tuple([Type.String(), Count])),
  /** True when the page may have been kept before. */
  mayRepeat: Type.Boolean(),
});
export type Counted = Static<typeof Counted>;

/** Counts words. */
export const Counter = defineProtocol("counter", {
  /** Counts a page, and ends once the store has taken it. */
  count: { payload: Page },
});

/** Keeps the counts. */
export const Store = defineProtocol("store", {
  /** Keeps the counts of a page, each page once. */
  keep: { payload: Counted },
});
