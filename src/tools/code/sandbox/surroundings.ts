import type { LatePieces } from "./globals/pieces";
import type { Natives } from "./natives";

/** The functions that the process calls. */
export interface Surroundings {
  /** Forgets the timers of the previous run. */
  beginTimers(): void;
  fire(timer: number): void;
  rethrow(): never;
}

/**
 * Adds the globals that code expects beside the language: timers at once, the others at their first use. Methods that need
 * `Intl` would silently give wrong answers: here they give right ones, or throw.
 *
 * It is carried into the sandbox as its own source text, and takes the functions of the language at the start.
 */
export function surroundings({ setTimer, clearTimer, load, askUrl, random, fail }: Natives): Surroundings {
  const { apply, defineProperty } = Reflect;
  const [global, TypeErrorOf, RangeErrorOf, PromiseOf, ErrorOf] = [globalThis, TypeError, RangeError, Promise, Error];
  const { then } = PromiseOf.prototype;

  const descriptor = (value: unknown) =>
    ({ __proto__: null, value, writable: true, enumerable: false, configurable: true }) as PropertyDescriptor;
  const define = (of: object, name: string, value: unknown): void => {
    defineProperty(of, name, descriptor(value));
  };

  /** Checks the function for a timer or a microtask. Neither evaluates a text here. */
  const callable = (work: unknown): (() => unknown) => {
    if (typeof work !== "function")
      throw new TypeErrorOf(`A function is to be called later, and not a ${typeof work}.`);
    return work as () => unknown;
  };

  type Timer = { readonly work: () => unknown; readonly values: unknown[]; readonly isRepeated: boolean };
  type Timers = Record<number, Timer | undefined>;
  // Without a prototype, whose setters would see each entry. `__proto__` in a literal sets that and makes no entry, which
  // the compiler does not know.
  const none = (): Timers => ({ __proto__: null }) as unknown as Timers;
  let timers = none();
  const later = (work: unknown, delay: unknown, values: unknown[], isRepeated: boolean): number => {
    const timer: Timer = { work: callable(work), values, isRepeated };
    // A delay that is no number becomes NaN, which counts as none.
    const id = setTimer(`${isRepeated ? "each" : "once"}${+(delay as number)}`);
    if (!(id > 0)) throw new RangeErrorOf("The code has 1000 timers already; clear some, or wait for them.");
    timers[id] = timer;
    return id;
  };
  const clear = (id: unknown): void => {
    if (typeof id !== "number" || timers[id] === undefined) return;
    delete timers[id];
    clearTimer(`${id}`);
  };
  const fire = (id: number): void => {
    const timer = timers[id];
    if (timer === undefined) return;
    if (!timer.isRepeated) delete timers[id];
    apply(timer.work, undefined, timer.values);
  };
  define(global, "setTimeout", function setTimeout(work: unknown, delay?: unknown, ...values: unknown[]) {
    return later(work, delay, values, false);
  });
  define(global, "setInterval", function setInterval(work: unknown, delay?: unknown, ...values: unknown[]) {
    return later(work, delay, values, true);
  });
  define(global, "clearTimeout", function clearTimeout(id?: unknown) {
    clear(id);
  });
  define(global, "clearInterval", function clearInterval(id?: unknown) {
    clear(id);
  });

  let thrownLate: unknown;
  const settled = PromiseOf.resolve();
  define(global, "queueMicrotask", function queueMicrotask(work: unknown) {
    const called = callable(work);
    const safely = (): void => {
      try {
        apply(called, undefined, []);
      } catch (thrown) {
        thrownLate = thrown;
        fail("");
      }
    };
    apply(then, settled, [safely]);
  });
  const rethrow = (): never => {
    throw thrownLate;
  };

  const piece = <Name extends keyof LatePieces>(name: Name): LatePieces[Name] => {
    const made = load(name);
    if (made === undefined) throw new ErrorOf("There is no time or memory left for it.");
    return made;
  };
  /** Defines names whose values are made when one of them is first read. */
  const lazily = (names: readonly string[], make: () => Readonly<Record<string, unknown>>): void => {
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as string; // The index is in bounds.
      const get = (): unknown => {
        const made = make();
        for (let index = 0; index < names.length; index++) {
          const own = Reflect.getOwnPropertyDescriptor(global, names[index] as string);
          if (own?.get !== undefined) define(global, names[index] as string, made[names[index] as string]);
        }
        return made[name];
      };
      const set = (value: unknown): void => define(global, name, value);
      defineProperty(global, name, { __proto__: null, get, set, configurable: true } as PropertyDescriptor);
    }
  };
  lazily(["TextEncoder", "TextDecoder", "atob", "btoa"], () => ({ ...piece("text")() }));
  lazily(["URL", "URLSearchParams"], () => piece("url")(askUrl));
  lazily(["structuredClone"], () => ({ structuredClone: piece("clone")() }));
  lazily(["crypto"], () => ({ crypto: piece("crypto")(random) }));

  let collect: ReturnType<LatePieces["fromAsync"]> | undefined;
  const { fromAsync } = {
    async fromAsync(this: unknown, items: never, ...how: [map?: unknown, self?: unknown]) {
      collect ??= piece("fromAsync")();
      return collect(this, items, ...how);
    },
  };
  define(Array, "fromAsync", fromAsync);

  let known: ReturnType<LatePieces["locale"]> | undefined;
  const locale = (): ReturnType<LatePieces["locale"]> => (known ??= piece("locale")());
  const { toUpperCase, toLowerCase } = String.prototype;
  const numberOf = Number.prototype.valueOf;
  const bigintOf = BigInt.prototype.valueOf;
  const ofTexts = {
    localeCompare(this: unknown, other: unknown, ...how: [locales?: unknown, options?: unknown]) {
      if (this === undefined || this === null) throw new TypeErrorOf("localeCompare compares texts.");
      return locale().compare(this, other, how[0], how[1]);
    },
    toLocaleUpperCase(this: string, ...how: [locales?: unknown]) {
      if (how[0] !== undefined) locale().check("toLocaleUpperCase", how[0]);
      return apply(toUpperCase, this, []) as unknown;
    },
    toLocaleLowerCase(this: string, ...how: [locales?: unknown]) {
      if (how[0] !== undefined) locale().check("toLocaleLowerCase", how[0]);
      return apply(toLowerCase, this, []) as unknown;
    },
  };
  define(String.prototype, "localeCompare", ofTexts.localeCompare);
  define(String.prototype, "toLocaleUpperCase", ofTexts.toLocaleUpperCase);
  define(String.prototype, "toLocaleLowerCase", ofTexts.toLocaleLowerCase);
  const numbers = (valueFor: () => number | bigint) =>
    ({
      toLocaleString(this: unknown, ...how: [locales?: unknown, options?: unknown]) {
        return locale().number(apply(valueFor, this, []) as number | bigint, how[0], how[1]);
      },
    }).toLocaleString;
  define(Number.prototype, "toLocaleString", numbers(numberOf));
  define(BigInt.prototype, "toLocaleString", numbers(bigintOf));
  const refusing = (name: string) => () => locale().refuse(`Date.prototype.${name}`);
  define(Date.prototype, "toLocaleString", refusing("toLocaleString"));
  define(Date.prototype, "toLocaleDateString", refusing("toLocaleDateString"));
  define(Date.prototype, "toLocaleTimeString", refusing("toLocaleTimeString"));
  const get = (_: object, key: PropertyKey): unknown =>
    typeof key === "string" ? locale().refuse(`Intl.${key}`) : undefined;
  define(global, "Intl", new Proxy({}, { __proto__: null, get } as ProxyHandler<object>));

  return {
    beginTimers: () => {
      timers = none();
    },
    fire,
    rethrow,
  };
}
