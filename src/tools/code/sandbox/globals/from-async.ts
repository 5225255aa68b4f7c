/**
 * `Array.fromAsync`, which this version of QuickJS does not have (ECMAScript 2026).
 *
 * It is carried into the sandbox as its own source text, at its first use.
 */
export function fromAsyncGlobal() {
  type Items = AsyncIterable<unknown> & Iterable<unknown> & ArrayLike<unknown>;

  return async (Maker: unknown, items: Items, map?: unknown, self?: unknown): Promise<unknown> => {
    if (map !== undefined && typeof map !== "function") throw new TypeError("Array.fromAsync maps by a function.");
    const isMaker = typeof Maker === "function" && Object.hasOwn(Maker, "prototype");
    const Of = (isMaker ? Maker : Array) as new (length?: number) => unknown[];
    const isIterable = items[Symbol.asyncIterator] != null || items[Symbol.iterator] != null;
    const made = isIterable ? new Of() : new Of(items.length);
    let index = 0;
    const add = async (item: unknown): Promise<void> => {
      const value: unknown = map === undefined ? item : await Reflect.apply(map as () => unknown, self, [item, index]);
      const own = { value, writable: true, enumerable: true, configurable: true };
      if (!Reflect.defineProperty(made, index, own)) throw new TypeError("An item cannot be put there.");
      index++;
    };
    if (isIterable) for await (const item of items) await add(item);
    else for (let count = items.length; index < count; ) await add(await items[index]);
    made.length = index;
    return made;
  };
}
