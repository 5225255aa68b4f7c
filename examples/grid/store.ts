import type { Factory, SignaturesOf } from "envoi";
import { deliveryOf } from "envoi/nats";
import { addCounts } from "./corpus";
import type { Store } from "./protocols";

/** What the store has. */
export interface Shelf {
  readonly pages: Set<number>;
  readonly totals: Map<string, number>;
  /** Pages that came again, with the mark that they may: they were not added. */
  marked: number;
  /** Pages that came again without the mark. None should. */
  unmarked: number;
}

export const emptyShelf = (): Shelf => ({ pages: new Set(), totals: new Map(), marked: 0, unmarked: 0 });

/** A store that keeps each page once: what comes again changes nothing. `onKept` gets the node that counted the page; "" is this one. */
export function storeOf(shelf: Shelf, onKept: (node: string) => void): Factory<SignaturesOf<typeof Store>> {
  return (ctx) => ({
    keep({ page, words, mayRepeat }) {
      if (shelf.pages.has(page)) {
        if (mayRepeat || deliveryOf(ctx.metadata)?.mayRepeat === true) shelf.marked++;
        else shelf.unmarked++;
        return;
      }
      shelf.pages.add(page);
      addCounts(shelf.totals, words);
      onKept(String(ctx.metadata?.["envoi.node"] ?? ""));
    },
  });
}
