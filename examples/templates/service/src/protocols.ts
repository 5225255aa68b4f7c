import { defineProtocol, type Infer, Type } from "envoi";

const Item = Type.String({ minLength: 1, maxLength: 40 });

/** What comes in. The bounds are part of the schema: what does not fit is refused before an actor sees it. */
export const Change = Type.Object({ item: Item, count: Type.Integer({ minimum: 1, maximum: 1_000 }) });

/** How much there is of an item. */
export const Level = Type.Object({ item: Item, left: Type.Integer() });
export type Level = Infer<typeof Level>;

/** An answer that says no: a rule of the business, and no failure. */
export const Refusal = Type.Object({ refused: Type.String() });

/** Keeps the stock. */
export const Stock = defineProtocol("stock", {
  add: { payload: Change, reply: Type.Union([Level, Refusal]), description: "Adds to the stock." },
  take: { payload: Change, reply: Type.Union([Level, Refusal]), description: "Takes from the stock." },
  levels: { reply: Type.Array(Level), hints: { readOnly: true }, description: "All that is there." },
});

/** Tells its readers of the stock, live. */
export const Feed = defineProtocol("feed", {
  publish: { payload: Level },
  changes: { stream: Level, hints: { readOnly: true }, description: "All that is there, and then each change." },
});
