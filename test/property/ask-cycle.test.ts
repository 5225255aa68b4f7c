import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type AskResult,
  type Context,
  createSystem,
  defineProtocol,
  type RefTo,
  type SignaturesOf,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { runs } from "./runs";

const Node = defineProtocol("node", { run: { payload: Type.Unknown(), reply: Type.Unknown() } });
type NodeRef = RefTo<typeof Node>;

/** What a handler does: asks, one after the other or all at once, with a pause before; some fail in the end. */
interface Plan {
  readonly pause: number;
  readonly isFailing: boolean;
  readonly isParallel: boolean;
  readonly steps: readonly { readonly to: number; readonly plan: Plan }[];
}

const NODES = 5;
/** All restart, whatever comes of it. */
const SUPERVISION = { limit: 1_000_000 };

const planOf = (depth: number, isFailing: fc.Arbitrary<boolean>): fc.Arbitrary<Plan> =>
  fc.record({
    pause: fc.nat(3),
    isFailing,
    isParallel: fc.boolean(),
    steps:
      depth === 0
        ? fc.constant([])
        : fc.array(fc.record({ to: fc.nat(NODES - 1), plan: planOf(depth - 1, isFailing) }), { maxLength: 2 }),
  });

const rootsOf = (isFailing: fc.Arbitrary<boolean>) =>
  fc.array(fc.record({ to: fc.nat(NODES - 1), plan: planOf(4, isFailing) }), { minLength: 1, maxLength: 5 });
const roots = rootsOf(fc.constant(false));
const failingRoots = rootsOf(fc.nat(3).map((n) => n === 0));
const widths = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: NODES, maxLength: NODES });
/** The parent of each actor: one before it, or none. */
const families = fc.tuple(
  ...Array.from({ length: NODES }, (_, i) => fc.integer({ min: 0, max: i }).map((n) => (n === i ? null : n))),
);
const NO_FAMILY: readonly (number | null)[] = new Array(NODES).fill(null);

/** Runs plans on actors that wait for ever for what they ask; tells what became of the asks, and of the circles. */
async function play(
  plans: readonly { readonly to: number; readonly plan: Plan }[],
  concurrency: readonly number[],
  target: (from: number, wanted: number) => number | null,
  parents = NO_FAMILY,
) {
  const clock = createManualClock();
  const system = createSystem({
    clock,
    askTimeout: Number.POSITIVE_INFINITY,
    hookTimeout: Number.POSITIVE_INFINITY,
    supervision: SUPERVISION,
    logger: { warn: () => undefined, error: () => undefined },
  });
  const kinds = new Map<string, number>();
  const note = (result: AskResult): void => {
    const kind = result.isOk() ? "ok" : result.error.kind;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  };
  /** By actor, for each running handler: whom it waits for, and how often. */
  const running = Array.from({ length: NODES }, () => new Set<Map<number, number>>());
  /** Whether a handler of an actor has failed, and its next instance was not made yet. */
  const isRestarting = new Array<boolean>(NODES).fill(false);
  const isEnding = (node: number): boolean => {
    const parent = parents[node] ?? null;
    return isRestarting[node] === true || (parent !== null && isEnding(parent));
  };
  /** Each actor of a path waits for the next one: by an ask, or to restart or stop, for the end of its child. */
  const isTrue = (path: readonly string[]): boolean => {
    const way = path.map((address) => Number(/n(\d)\)$/.exec(address)?.[1]));
    const isWaiting = (from: number, to: number): boolean =>
      [...(running[from] ?? [])].some((handler) => handler.has(to)) || (parents[to] === from && isEnding(from));
    return way[0] === way.at(-1) && way.slice(0, -1).every((from, i) => isWaiting(from, way[i + 1] ?? -1));
  };
  const falseAlarms: string[] = [];
  const nodes: NodeRef[] = [];
  const spawn = (spawner: Pick<typeof system, "spawn"> | Context<SignaturesOf<typeof Node>>, i: number): NodeRef =>
    spawner.spawn(
      `n${i}`,
      Node,
      (ctx) => {
        isRestarting[i] = false;
        spawnBelow(ctx, i);
        return { run: (payload) => run(ctx, i, payload as Plan) }; // What is sent below.
      },
      { concurrency: concurrency[i] ?? 1, supervision: SUPERVISION },
    );
  const spawnBelow = (spawner: Parameters<typeof spawn>[0], parent: number | null): void => {
    for (let i = 0; i < NODES; i++) if (parents[i] === parent) nodes[i] = spawn(spawner, i);
  };
  const run = async (ctx: Context<SignaturesOf<typeof Node>>, i: number, plan: Plan): Promise<string> => {
    const { pause, isParallel, isFailing, steps } = plan;
    const own = new Map<number, number>();
    running[i]?.add(own);
    const ask = async (wanted: number, next: Plan): Promise<void> => {
      const to = target(i, wanted);
      if (to === null) return;
      own.set(to, (own.get(to) ?? 0) + 1);
      const result = await ctx.ask(nodes[to] as NodeRef, "run", next); // There are that many.
      const circle = result.isErr() && result.error.kind === "ask-cycle" ? result.error : null;
      if (circle !== null && !isTrue(circle.path)) falseAlarms.push(circle.message);
      const left = (own.get(to) ?? 1) - 1;
      if (left === 0) own.delete(to);
      else own.set(to, left);
      note(result);
    };
    try {
      if (pause > 0) await new Promise<void>((resolve) => clock.setTimer(resolve, pause));
      if (isParallel) await Promise.all(steps.map(({ to, plan }) => ask(to, plan)));
      else for (const { to, plan } of steps) await ask(to, plan);
      if (!isFailing) return "done";
      isRestarting[i] = true;
      throw new Error("broken");
    } finally {
      running[i]?.delete(own);
    }
  };
  spawnBelow(system, null);
  let settled = 0;
  for (const { to, plan } of plans) {
    void (nodes[to] as NodeRef).ask("run", plan).then((result) => {
      note(result);
      settled++;
    });
  }
  await clock.advance(10_000);
  return { kinds, settled, falseAlarms, audit: system.router.audit(), timers: clock.timers };
}

test("P8: whoever asks whom, with however many slots: all asks settle, and each circle that is refused is one", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(roots, widths, async (plans, concurrency) => {
      const { kinds, settled, falseAlarms, audit, timers } = await play(plans, concurrency, (_, wanted) => wanted);
      expect(settled).toBe(plans.length);
      expect(falseAlarms).toEqual([]);
      expect([...kinds.keys()].filter((kind) => kind !== "ok" && kind !== "ask-cycle")).toEqual([]);
      refused += kinds.get("ask-cycle") ?? 0;
      expect({ ...audit, timers }).toMatchObject({ queued: 0, running: 0, timers: 0 });
    }),
    runs(150),
  );
  expect(refused).toBeGreaterThan(50); // The property says something.
});

test("P8: where all ask upwards, nobody is refused", async () => {
  await fc.assert(
    fc.asyncProperty(roots, widths, async (plans, concurrency) => {
      const upwards = (from: number, wanted: number): number | null => (wanted > from ? wanted : null);
      const { kinds, settled } = await play(plans, concurrency, upwards);
      expect(settled).toBe(plans.length);
      expect([...kinds.keys()].filter((kind) => kind !== "ok")).toEqual([]);
    }),
    runs(100),
  );
});

/** How an ask may end where some handlers fail: those that wait are told to stop with their parent. */
const ENDS = ["ok", "ask-cycle", "stopped", "handler-failed"];

test("P8: a circle through a restart is refused, too: all asks settle, and each circle that is refused is one", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(failingRoots, widths, families, async (plans, concurrency, parents) => {
      const { kinds, settled, falseAlarms, audit, timers } = await play(plans, concurrency, (_, to) => to, parents);
      expect(settled).toBe(plans.length);
      expect(falseAlarms).toEqual([]);
      expect([...kinds.keys()].filter((kind) => !ENDS.includes(kind))).toEqual([]);
      refused += kinds.get("ask-cycle") ?? 0;
      expect({ ...audit, timers }).toMatchObject({ queued: 0, running: 0, timers: 0 });
    }),
    runs(150),
  );
  expect(refused).toBeGreaterThan(50);
});

test("P8: where all ask upwards, from parents to children, nobody is refused for a restart", async () => {
  await fc.assert(
    fc.asyncProperty(failingRoots, widths, families, async (plans, concurrency, parents) => {
      const upwards = (from: number, wanted: number): number | null => (wanted > from ? wanted : null);
      const { kinds, settled } = await play(plans, concurrency, upwards, parents);
      expect(settled).toBe(plans.length);
      expect([...kinds.keys()].filter((kind) => kind === "ask-cycle" || !ENDS.includes(kind))).toEqual([]);
    }),
    runs(100),
  );
});
