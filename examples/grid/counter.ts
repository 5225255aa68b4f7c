import type { Factory, RefTo, SignaturesOf } from "envoi";
import { deliveryOf } from "envoi/nats";
import { countWords, textOf } from "./corpus";
import type { Counter, Store } from "./protocols";

/** A counter of words. Its handler ends once the store has taken the page: whoever asked it may forget the page then. */
export function counterOf(store: RefTo<typeof Store>): Factory<SignaturesOf<typeof Counter>> {
  return (ctx) => ({
    async count({ seed, page, words, mayRepeat }) {
      const counts = countWords(textOf(seed, page, words));
      const isMarked = mayRepeat || deliveryOf(ctx.metadata)?.mayRepeat === true;
      const kept = await ctx.ask(store, "keep", { page, words: [...counts], mayRepeat: isMarked });
      if (kept.isErr()) throw kept.error; // The sender sends the page again.
    },
  });
}
