import { createSystem, defineProtocol, type System, Type } from "../../../src/index";
import type { ManualClock } from "../../../src/testing/index";

/** An actor whose streams tests can steer. */
export const Feed = defineProtocol("feed", {
  /** So many numbers, at once. */
  ticks: { payload: Type.Number(), stream: Type.Number(), hints: { readOnly: true } },
  /** So many numbers, each in a turn of the event loop of its own. */
  later: { payload: Type.Number(), stream: Type.Number(), hints: { readOnly: true } },
  /** What the test pushes. */
  pushed: { payload: Type.String(), stream: Type.Unknown(), hints: { readOnly: true } },
  /** Texts of a length, for ever. */
  texts: { payload: Type.Number(), stream: Type.String() },
  fails: { payload: Type.Number(), stream: Type.Number() },
  odd: { stream: Type.Unknown() },
});

/** Items that a test pushes into a stream by name, and what became of it. */
export class Pushed {
  readonly #ready: unknown[] = [];
  #wake: () => void = () => {};
  #isEnded = false;
  /** Resolves once the producer was ended by its reader. */
  readonly ended: Promise<void>;
  readonly #onEnded: () => void;
  taken = 0;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#onEnded = resolve;
  }

  push(...items: unknown[]): void {
    this.#ready.push(...items);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *items(signal: AbortSignal): AsyncGenerator<unknown> {
    const aborted = (): void => {
      this.#onEnded();
      this.#wake();
    };
    signal.addEventListener("abort", aborted);
    if (signal.aborted) aborted();
    while (!signal.aborted) {
      while (this.#ready.length > 0) {
        this.taken++;
        yield this.#ready.shift();
      }
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Spawns the actor. `made` counts the items that its endless texts have made. */
export function spawnFeed(system: System = createSystem()) {
  const streams = new Map<string, Pushed>();
  const state = { made: 0 };
  const pushed = (name: string): Pushed => {
    const stream = streams.get(name) ?? new Pushed();
    streams.set(name, stream);
    return stream;
  };
  const ref = system.spawn(
    "feed",
    Feed,
    (ctx) => ({
      async *ticks(count) {
        for (let tick = 1; tick <= count; tick++) yield tick;
      },
      async *later(count) {
        for (let tick = 1; tick <= count; tick++) {
          yield tick;
          await new Promise<void>((resolve) => setImmediate(resolve));
        }
      },
      pushed: (name) => pushed(name).items(ctx.signal),
      async *texts(length) {
        for (;;) {
          state.made++;
          yield "x".repeat(length);
        }
      },
      async *fails(count) {
        for (let tick = 1; tick <= count; tick++) yield tick;
        throw new Error("the password is swordfish");
      },
      *odd() {
        yield 1;
        yield 1n;
      },
    }),
    { concurrency: 1_000 },
  );
  return { system, ref, pushed, state };
}

/** Gives what lets the actors run until something is done. */
export const settlingBy =
  (clock: ManualClock) =>
  async <Value>(promise: Promise<Value>): Promise<Value> => {
    let isDone = false;
    promise.then(() => {
      isDone = true;
    });
    while (!isDone) await clock.settle();
    return promise;
  };
