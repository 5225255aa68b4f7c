import { type GatewayOptions, type Serving, serve } from "../../../src/http/index";
import { createSystem, createTopic, defineProtocol, type SystemOptions, type Topic, Type } from "../../../src/index";

const Desk = defineProtocol("desk", {
  add: { payload: Type.Number(), reply: Type.Number() },
  total: { reply: Type.Number() },
  who: { reply: Type.Unknown() },
  wait: { reply: Type.Null() },
  big: { payload: Type.Number(), reply: Type.String() },
  bigint: { reply: Type.Unknown() },
  odd: { reply: Type.Unknown() },
  odds: { stream: Type.Unknown() },
  fail: { reply: Type.Null() },
  work: { reply: Type.Null() },
  secret: { reply: Type.Null() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
  pages: { payload: Type.Object({ size: Type.Number(), count: Type.Number() }), stream: Type.String() },
});

/** What a test may see and do of a service. */
export interface Service extends AsyncDisposable {
  readonly url: URL;
  readonly serving: Serving;
  readonly changes: Topic<unknown>;
  /** The operations that have begun and not ended. */
  readonly running: Set<string>;
  /** Resolves once `running` has so many. */
  untilRunning(count: number): Promise<void>;
  /** Lets all that `wait`s go on. */
  release(): void;
  /** The items of `pages` that were made. */
  readonly made: number;
  readonly logged: string[];
}

type Options = Pick<
  GatewayOptions,
  "authenticate" | "authorize" | "cors" | "limits" | "rateLimit" | "socket" | "topics"
>;

/**
 * Starts a service with a desk, which does what the tests of sockets need.
 *
 * @param odd what `odd` replies, and `odds` streams.
 */
export function startService(options: Options = {}, systemOptions: SystemOptions = {}, odd: unknown = null): Service {
  const logged: string[] = [];
  const log = (sentence: string): void => void logged.push(sentence);
  const system = createSystem({ logger: { warn: log, error: log }, ...systemOptions });
  const changes = createTopic<unknown>("changes");
  const running = new Set<string>();
  const watchers = new Set<() => void>();
  let total = 0;
  let made = 0;
  let held: (() => void)[] = [];
  const mark = (name: string, isRunning: boolean): void => {
    if (isRunning) running.add(name);
    else running.delete(name);
    for (const watch of watchers) watch();
  };
  const desk = system.spawn(
    "inner/desk",
    Desk,
    (ctx) => ({
      add: (amount) => (total += amount),
      total: () => total,
      who: () => ctx.metadata ?? null,
      wait() {
        const name = `wait ${Math.random()}`;
        mark(name, true);
        return new Promise((resolve, reject) => {
          held.push(() => resolve(null));
          ctx.onAbort(() => reject(ctx.signal.reason));
        }).finally(() => mark(name, false)) as Promise<null>;
      },
      big: (length) => "é".repeat(length / 2),
      bigint: () => 1n,
      odd: () => odd,
      *odds() {
        yield odd;
      },
      fail() {
        throw new Error("a secret of the inside");
      },
      work() {
        ctx.progress(1, 4, "begun");
        return new Promise((resolve) => void held.push(() => resolve(null)));
      },
      secret: () => null,
      *ticks(count) {
        for (let tick = 1; tick <= count; tick++) yield tick;
      },
      async *pages({ size, count }) {
        const name = `pages ${Math.random()}`;
        mark(name, true);
        try {
          for (let index = 0; index < count; index++) {
            made++;
            yield "x".repeat(size);
          }
        } finally {
          mark(name, false);
        }
      },
    }),
    { concurrency: 10_000 },
  );
  const serving: Serving = serve(system, {
    port: 0,
    signals: [],
    topics: { changes },
    expose: {
      desk: {
        ref: desk,
        operations: ["add", "total", "who", "wait", "big", "bigint", "odd", "odds", "fail", "work", "ticks", "pages"],
      },
    },
    ...options,
  });
  return {
    url: serving.url,
    serving,
    changes,
    running,
    logged,
    get made() {
      return made;
    },
    untilRunning: (count) =>
      new Promise((resolve) => {
        const watch = (): void => {
          if (running.size !== count) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
    release() {
      for (const resolve of held) resolve();
      held = [];
    },
    async [Symbol.asyncDispose]() {
      await serving.stop({ streams: 1, timeout: 1 });
    },
  };
}
