import { expect, test } from "bun:test";
import fc from "fast-check";
import { type AskResult, createSystem, defineProtocol, type RefTo, Type } from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { runs } from "./runs";

const Node = defineProtocol("node", { run: { payload: Type.Unknown(), reply: Type.Unknown() } });
type NodeRef = RefTo<typeof Node>;

/** What a handler does: asks, one after the other or all at once, with a pause before. */
interface Plan {
  readonly pause: number;
  readonly isParallel: boolean;
  readonly steps: readonly { readonly to: number; readonly plan: Plan }[];
}

const NODES = 5;

const planOf = (depth: number): fc.Arbitrary<Plan> =>
  fc.record({
    pause: fc.nat(3),
    isParallel: fc.boolean(),
    steps:
      depth === 0
        ? fc.constant([])
        : fc.array(fc.record({ to: fc.nat(NODES - 1), plan: planOf(depth - 1) }), { maxLength: 2 }),
  });

const roots = fc.array(fc.record({ to: fc.nat(NODES - 1), plan: planOf(4) }), { minLength: 1, maxLength: 5 });
const widths = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: NODES, maxLength: NODES });

/** Runs plans on actors that wait for ever for what they ask; tells what became of the asks, and of the circles. */
async function play(
  plans: readonly { readonly to: number; readonly plan: Plan }[],
  concurrency: readonly number[],
  target: (from: number, wanted: number) => number | null,
) {
  const clock = createManualClock();
  const system = createSystem({
    clock,
    askTimeout: Number.POSITIVE_INFINITY,
    logger: { warn: () => undefined, error: () => undefined },
  });
  const kinds = new Map<string, number>();
  const note = (result: AskResult): void => {
    const kind = result.isOk() ? "ok" : result.error.kind;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  };
  /** By actor, for each running handler: whom it waits for, and how often. */
  const running = Array.from({ length: NODES }, () => new Set<Map<number, number>>());
  /** Each actor of a path waits for the next one. */
  const isTrue = (path: readonly string[]): boolean => {
    const way = path.map((name) => Number(String(name).slice(3, -1)));
    const isWaiting = (from: number, to: number): boolean =>
      [...(running[from] ?? [])].some((handler) => handler.has(to));
    return way[0] === way.at(-1) && way.slice(0, -1).every((from, i) => isWaiting(from, way[i + 1] ?? -1));
  };
  const falseAlarms: string[] = [];
  const nodes: NodeRef[] = [];
  for (let i = 0; i < NODES; i++) {
    const node = system.spawn(
      `n${i}`,
      Node,
      (ctx) => ({
        async run(payload) {
          const { pause, isParallel, steps } = payload as Plan; // What is sent below.
          const own = new Map<number, number>();
          running[i]?.add(own);
          const ask = async (wanted: number, plan: Plan): Promise<void> => {
            const to = target(i, wanted);
            if (to === null) return;
            own.set(to, (own.get(to) ?? 0) + 1);
            const result = await ctx.ask(nodes[to] as NodeRef, "run", plan); // There are that many.
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
            return "done";
          } finally {
            running[i]?.delete(own);
          }
        },
      }),
      { concurrency: concurrency[i] ?? 1 },
    );
    nodes.push(node);
  }
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
