/**
 * `structuredClone`, which QuickJS lacks. It follows the HTML Standard for the types of the language itself.
 *
 * It is carried into the sandbox as its own source text, at its first use. The class of an object is found by methods that
 * work only on that class, so no tag or prototype can fake it. An object without a native prototype is not tested: each of
 * the fifteen tests that fails with an error took 20 µs, and longer on a deeper stack.
 */
export function cloneGlobal(): (value: unknown, options?: { readonly transfer?: Iterable<unknown> }) => unknown {
  const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const getter = (of: object, key: PropertyKey) => {
    const { get } = getOwnPropertyDescriptor(of, key) ?? {};
    return (value: unknown): unknown => apply(get ?? String, value, []);
  };
  const method = (work: unknown) => (value: unknown) => apply(work as () => unknown, value, []);
  const mapSize = getter(Map.prototype, "size");
  const setSize = getter(Set.prototype, "size");
  const bufferSize = getter(ArrayBuffer.prototype, "byteLength");
  const viewBuffer = getter(DataView.prototype, "buffer");
  const sourceOf = getter(RegExp.prototype, "source");
  const flagsOf = getter(RegExp.prototype, "flags");
  const typedName = getter(getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag);
  const timeOf = method(Date.prototype.getTime);
  const boxed = [Boolean, Number, String, BigInt].map((of) => method(of.prototype.valueOf));
  const unclonable = [
    method(WeakMap.prototype.has),
    method(WeakSet.prototype.has),
    method(WeakRef.prototype.deref),
    method(Symbol.prototype.valueOf),
    (value: unknown) => apply(Promise.prototype.then, value, [undefined, () => {}]),
  ];
  const ERRORS: readonly string[] = [
    "EvalError",
    "RangeError",
    "ReferenceError",
    "SyntaxError",
    "TypeError",
    "URIError",
  ];
  const isError = (Error as unknown as { isError(value: unknown): boolean }).isError; // QuickJS has it; the compiler's library does not declare it yet.

  const natives = new Set<object | null>(
    [Map, Set, WeakMap, WeakSet, WeakRef, ArrayBuffer, DataView, RegExp, Date, Boolean, Number, String, BigInt, Symbol]
      .map((of): object => of.prototype)
      .concat(Promise.prototype, Error.prototype, getPrototypeOf(Uint8Array.prototype) as object),
  );
  const { has } = Set.prototype;
  const isPlain = (given: object): boolean => {
    if (Array.isArray(given)) return true;
    for (let of = getPrototypeOf(given); of !== null; of = getPrototypeOf(of)) {
      if (apply(has, natives, [of])) return false;
    }
    return true;
  };

  const is = (test: (value: unknown) => unknown, value: unknown): boolean => {
    try {
      test(value);
      return true;
    } catch {
      return false;
    }
  };

  const refused = (what: string): Error =>
    Object.defineProperty(new Error(`${what} cannot be cloned.`), "name", {
      value: "DataCloneError",
      configurable: true,
      writable: true,
    });

  return function structuredClone(value, options) {
    const known = new Map<unknown, unknown>();
    const note = <Made>(of: unknown, made: Made): Made => {
      known.set(of, made);
      return made;
    };
    const transfers = options?.transfer === undefined ? [] : [...options.transfer];
    for (const buffer of transfers) if (!is(bufferSize, buffer)) throw refused("What is no ArrayBuffer");

    const clone = (given: unknown): unknown => {
      if (typeof given === "symbol") throw refused("A symbol");
      if (typeof given === "function") throw refused("A function");
      if (typeof given !== "object" || given === null) return given;
      if (known.has(given)) return known.get(given);
      const made = isPlain(given) ? undefined : (special(given) ?? collection(given));
      return made ?? members(given, note(given, Array.isArray(given) ? listOf(given) : {}));
    };

    const listOf = (list: readonly unknown[]): unknown[] => {
      const made: unknown[] = [];
      made.length = list.length;
      return made;
    };

    const members = (from: object, to: object): object => {
      for (const key of Object.keys(from)) {
        // A getter may have deleted the key meanwhile.
        if (!Object.hasOwn(from, key)) continue;
        const member = clone((from as Record<string, unknown>)[key]);
        Object.defineProperty(to, key, { value: member, configurable: true, enumerable: true, writable: true });
      }
      return to;
    };

    const special = (given: object): object | undefined => {
      for (const unbox of boxed) if (is(unbox, given)) return note(given, Object(unbox(given)) as object);
      if (is(timeOf, given)) return note(given, new Date(timeOf(given) as number));
      if (given !== RegExp.prototype && is(sourceOf, given)) {
        return note(given, new RegExp(sourceOf(given) as string, flagsOf(given) as string));
      }
      if (is(bufferSize, given)) return note(given, apply(ArrayBuffer.prototype.slice, given, [0]) as object);
      const name = typedName(given) as string | undefined;
      if (name !== undefined) return view(given as Uint8Array, name);
      if (is(viewBuffer, given)) return view(given as DataView, "DataView");
      if (isError(given)) return error(given as Error);
      for (const test of unclonable) if (is(test, given)) throw refused("An object of this kind");
      return undefined;
    };

    const view = (given: Uint8Array | DataView, name: string): object => {
      const buffer = clone(given.buffer) as ArrayBuffer;
      const length = name === "DataView" ? given.byteLength : (given as Uint8Array).length;
      // A built-in tag is the name of a class of views, which all take a buffer, an offset and a length.
      const Of = (globalThis as unknown as Record<string, new (...parts: unknown[]) => object>)[name];
      if (Of === undefined) throw refused(`A ${name}`);
      return note(given, new Of(buffer, given.byteOffset, length));
    };

    const error = (given: Error): Error => {
      const name = String(given.name);
      // A name of ERRORS is that of a built-in subclass of Error; code that has replaced it gets its own one.
      const Of = ERRORS.includes(name) ? (globalThis as unknown as Record<string, typeof Error>)[name] : Error;
      const made = note(given, new (Of ?? Error)());
      const hide = (key: string, of: unknown) =>
        Object.defineProperty(made, key, { value: of, configurable: true, writable: true });
      if (Object.hasOwn(given, "message")) hide("message", String(given.message));
      if (typeof given.stack === "string") hide("stack", given.stack);
      return made;
    };

    const collection = (given: object): object | undefined => {
      if (is(mapSize, given)) {
        const made = note(given, new Map());
        const entries: [unknown, unknown][] = [];
        apply(Map.prototype.forEach, given, [(member: unknown, key: unknown) => entries.push([key, member])]);
        for (const [key, member] of entries) made.set(clone(key), clone(member));
        return made;
      }
      if (!is(setSize, given)) return undefined;
      const made = note(given, new Set());
      const list: unknown[] = [];
      apply(Set.prototype.forEach, given, [(member: unknown) => list.push(member)]);
      for (const member of list) made.add(clone(member));
      return made;
    };

    const made = clone(value);
    for (const buffer of transfers) (buffer as ArrayBuffer).transfer();
    return made;
  };
}
