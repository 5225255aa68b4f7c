import { expect, test } from "bun:test";
import fc from "fast-check";
import { OVERFLOWS } from "../../src/actor/options";
import {
  type ActorOptions,
  type AskResult,
  type Context,
  createSystem,
  type Directive,
  defineProtocol,
  type Hooks,
  type Ref,
  type SignaturesOf,
  type Strategy,
  type SystemEvent,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { expectBalance } from "../actor/test-system";
import { runs } from "./runs";

const Any = defineProtocol("any", {
  act: { payload: Type.Number(), reply: Type.Number() },
  items: { payload: Type.Number(), stream: Type.Number() },
});
type Any = SignaturesOf<typeof Any>;
type Numbers = () => number;

/** Numbers from 0 up to 1, the same for the same seed (G. Marsaglia, "Xorshift RNGs", J. Stat. Softw. 8(14), 2003). */
function numbersOf(seed: number): Numbers {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const pick = <Item>(items: readonly [Item, ...Item[]], random: Numbers): Item =>
  items[Math.floor(random() * items.length)] ?? items[0];

const STRATEGIES = ["one-for-one", "one-for-all", "rest-for-one"] as const satisfies Strategy[];
const DIRECTIVES = [
  "restart",
  "restart",
  "restart",
  "restart",
  "resume",
  "resume",
  "stop",
  "escalate",
] as const satisfies Directive[];

function optionsOf(random: Numbers): ActorOptions {
  return {
    ...(random() < 0.4 ? { capacity: 1 + Math.floor(random() * 4), overflow: pick(OVERFLOWS, random) } : {}),
    ...(random() < 0.3 ? { priority: (_: string, payload: unknown) => Number(payload) % 3 } : {}),
    ...(random() < 0.3 ? { concurrency: 1 + Math.floor(random() * 3) } : {}),
    ...(random() < 0.3 ? { stashCapacity: 2 } : {}),
    supervision: {
      strategy: pick(STRATEGIES, random),
      decide: () => pick(DIRECTIVES, random),
      limit: Math.floor(random() * 10),
      within: 50,
      ...(random() < 0.3 ? { backoff: { initial: 5, jitter: 0.5 } } : {}),
    },
  };
}

/** A system whose actors do what they like, until it is shut down. */
async function run(seed: number): Promise<void> {
  const random = numbersOf(seed * 2_654_435_761);
  const clock = createManualClock();
  const system = createSystem({
    clock,
    random,
    logger: { warn() {}, error() {} },
    hookTimeout: 30,
    askTimeout: 40,
    ...(random() < 0.3 ? { slowHandler: 5 } : {}),
    supervision: { decide: () => pick(DIRECTIVES, random), limit: 10 },
  });
  const wrong: unknown[] = [];
  const check = (): void => {
    try {
      expectBalance(system.router.audit());
    } catch (error) {
      wrong.push(error);
    }
  };
  const life = new Map<string, number>();
  const see = (event: SystemEvent): void => {
    check();
    if (event.kind === "started") life.set(event.address, (life.get(event.address) ?? 0) + 1);
    if (event.kind === "stopped") life.set(event.address, (life.get(event.address) ?? 0) - 1);
    const alive = life.get(event.address) ?? 0;
    if (alive < 0 || alive > 1) wrong.push(`${event.address} is there ${alive} times`);
  };
  system.events.subscribe(see);
  system.router.deadLetters.subscribe(check);
  const refs: Ref<Any>[] = [];
  const one = (): Ref<Any> | undefined => refs[refs.length - 1 - Math.floor(random() * Math.min(refs.length, 12))];
  let unsettled = 0;
  const ask = (ref: Ref<Any>, ctx?: Context<Any>): Promise<AskResult<number>> => {
    unsettled++;
    const timeout = random() < 0.5 ? 5 : 60;
    const asked =
      ctx === undefined ? ref.ask("act", random(), { timeout }) : ctx.ask(ref, "act", random(), { timeout });
    return asked.finally(() => unsettled--);
  };
  const sleep = (): Promise<void> => new Promise((resolve) => clock.setTimer(resolve, 1 + random() * 20));
  const send = (ctx?: Context<Any>): void => {
    const ref = one();
    if (ref === undefined) return;
    const chance = random();
    if (chance < 0.3) ref.tell("act", random());
    else if (chance < 0.7) void ask(ref, random() < 0.5 ? ctx : undefined);
    else if (chance < 0.85) void ref.offer("act", random(), { timeout: 20 });
    else {
      unsettled++;
      void (async () => {
        for await (const _ of ref.stream("items", random(), { credit: 2, timeout: 30 })) if (random() < 0.2) break;
      })()
        .catch(() => undefined)
        .finally(() => unsettled--);
    }
  };
  let names = 0;
  const factory = (depth: number) => (ctx: Context<Any>) => {
    if (random() < 0.03) throw new Error("factory");
    const act = async (): Promise<void> => {
      check();
      const chance = random();
      if (chance < 0.06) throw new Error("broken");
      if (chance < 0.1 && depth < 3 && names < 90) spawn(ctx, depth + 1);
      if (chance < 0.12) ctx.stop();
      else if (chance < 0.35) send(ctx);
      else if (chance < 0.45) await sleep();
      else if (chance < 0.48) {
        const found = one();
        if (found !== undefined && found !== ctx.self) {
          const end = ctx.watch(found, () => {
            check();
            if (random() < 0.2) throw new Error("terminated");
          });
          if (random() < 0.3) end();
        }
      } else if (chance < 0.6) {
        const tick = (): unknown => {
          check();
          if (random() < 0.1) throw new Error("tick");
          return random() < 0.2 ? sleep() : undefined;
        };
        const key = pick(["a", "b"], random);
        const kind = random();
        if (kind < 0.3) ctx.timers.once(key, 1 + random() * 10, tick);
        else if (kind < 0.65) ctx.timers.fixedDelay(key, 5, tick);
        else if (kind < 0.83) ctx.timers.fixedRate(key, 5, tick);
        else if (kind < 0.92) ctx.timers.receiveTimeout(7, tick);
        else ctx.timers.cancel(key);
      } else if (chance < 0.62) ctx.unstash();
      else if (chance < 0.64) ctx.become(handlers());
      else if (chance < 0.66) ctx.unbecome();
      if (random() < 0.05) await sleep();
      if (random() < 0.002) await new Promise(() => {});
    };
    const handlers = () => ({
      act(n: number) {
        if (random() < 0.3) {
          check();
          if (random() < 0.15) throw new Error("broken");
          if (random() < 0.3) return ctx.stash();
          const other = one();
          if (random() < 0.3 && other !== undefined) return ctx.forward(other);
          return n;
        }
        return (async () => {
          await act();
          if (random() < 0.1) return ctx.stash();
          await act();
          return n;
        })() as Promise<number>;
      },
      async *items() {
        for (let i = 0; i < 5; i++) {
          yield i;
          await act();
        }
      },
    });
    const hook = (): unknown => {
      check();
      if (random() < 0.1) throw new Error("hook");
      return random() < 0.3 ? act() : undefined;
    };
    const hooks: Hooks = {
      ...(random() < 0.4 ? { onStart: hook } : {}),
      ...(random() < 0.4 ? { onRestart: hook } : {}),
      ...(random() < 0.4 ? { onStop: hook } : {}),
    };
    if (random() < 0.3 && depth < 3 && names < 90) spawn(ctx, depth + 1);
    return { ...handlers(), ...hooks };
  };
  const spawn = (ctx: Context<Any> | null, depth: number): void => {
    const name = `x${names++ % 40}`;
    try {
      const options = optionsOf(random);
      refs.push(
        ctx === null ? system.spawn(name, Any, factory(depth), options) : ctx.spawn(name, Any, factory(depth), options),
      );
    } catch {
      // Its factory threw, its name is in use, or its parent is stopping.
    }
  };
  for (let i = 0; i < 5; i++) spawn(null, 0);
  for (let step = 0; step < 150; step++) {
    const chance = random();
    if (chance < 0.7) send();
    else if (chance < 0.78) spawn(null, 0);
    else if (chance < 0.8) {
      const ref = one();
      if (ref !== undefined) void system.stop(ref, { drain: random() < 0.5 });
    } else await clock.advance(Math.floor(random() * 20));
    check();
    system.inspect();
  }
  const shutdown = system.shutdown({ timeout: 200, drain: random() < 0.5 });
  await clock.advance(400);
  await shutdown;
  await clock.settle();
  await clock.advance(2_000);
  expect(wrong).toEqual([]);
  expect(system.inspect()).toEqual([]);
  expect({ unsettled, timers: clock.timers }).toEqual({ unsettled: 0, timers: 0 });
  expect(system.router.audit()).toMatchObject({ queued: 0, running: 0 });
  expectBalance(system.router.audit());
  expect([...life].filter(([, alive]) => alive !== 0)).toEqual([]);
}

test("P1, P6, P9, P13: actors that do what they like lose no message, leave no ask open, and end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => run(seed)),
    { ...runs(80, 4_000), endOnFailure: true },
  );
}, 120_000);
