import { describe, expect, test } from "bun:test";
import {
  type ActorOptions,
  address,
  defineProtocol,
  type Factory,
  type RefTo,
  type SignaturesOf,
  Type,
} from "../../src/index";
import { type Faults, type SimulatedProgram, type Simulation, simulate } from "../../src/testing/index";
import { runs } from "../property/runs";
import { expectBalanced } from "./balanced";

const Worker = defineProtocol("worker", { work: { payload: Type.Number(), reply: Type.Number() } });

/** What became of the asks. */
interface Seen {
  drained: number;
  refused: number;
  stops: number;
}

const ROOTS = 3;
const DEPTH = 2;

/** Actors with children, who note when each has begun to end. */
class Team {
  readonly running = new Map<string, number>();
  readonly gone = new Set<string>();
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  factory(depth: number, after: readonly string[]): Factory<SignaturesOf<typeof Worker>> {
    const { random, advance } = this.#simulation;
    return (ctx) => {
      const at = ctx.self.address;
      const children = Array.from({ length: depth === 0 ? 0 : random.below(3) }, (_, child) =>
        ctx.spawn(`${child}`, Worker, this.factory(depth - 1, after), this.draw()),
      );
      return {
        work: async (number) => {
          this.running.set(at, (this.running.get(at) ?? 0) + 1);
          if (random.chance(0.5)) await advance(random.below(5));
          if (children.length > 0 && random.chance(0.3)) await ctx.ask(random.pick(children), "work", number);
          this.running.set(at, (this.running.get(at) ?? 0) - 1);
          return number;
        },
        onStop: async () => {
          if (random.chance(0.3)) await advance(random.below(5));
          expect(this.running.get(at) ?? 0).toBe(0); // P13: the running message is finished first,
          for (const child of children) expect(this.gone).toContain(child.address); // the children have stopped,
          for (const other of after) expect(this.gone).toContain(other); // and those of the phases before, in a shutdown.
          this.gone.add(at);
        },
      };
    };
  }

  draw(): ActorOptions {
    const { random } = this.#simulation;
    return random.pick<ActorOptions>([{}, {}, { concurrency: 3 }, { capacity: 3, overflow: "wait" }]);
  }
}

const NEVER = { timeout: Number.POSITIVE_INFINITY };

/** Asks actors, and stops them meanwhile; what was asked before a draining stop gets its reply. */
const stopping =
  (seen: Seen, isFaultFree: boolean): SimulatedProgram =>
  async (simulation) => {
    const { system, random, always, advance } = simulation;
    always(() => expectBalanced(system));
    const team = new Team(simulation);
    const roots = Array.from({ length: ROOTS }, (_, root) =>
      system.spawn(`root-${root}`, Worker, team.factory(DEPTH, []), team.draw()),
    );
    const hasBegunToStop = new Map<RefTo<typeof Worker>, "draining" | "at once">();
    const asks = Promise.all(
      Array.from({ length: 40 }, async (_, number) => {
        await advance(random.below(25));
        const to = random.pick(roots);
        const before = hasBegunToStop.get(to);
        const reply = await to.ask("work", number, NEVER);
        if (reply.isOk()) {
          expect(before).toBeUndefined(); // It takes nothing more once it stops.
          if (hasBegunToStop.get(to) === "draining") seen.drained++;
          return;
        }
        expect(["stopped", "handler-failed"]).toContain(reply.error.kind);
        if (reply.error.kind === "stopped") seen.refused++;
        if (isFaultFree && before === undefined) expect(hasBegunToStop.get(to)).not.toBe("draining");
      }),
    );
    const stops = Promise.all(
      roots.map(async (root) => {
        await advance(5 + random.below(20));
        const drain = random.chance(0.5);
        hasBegunToStop.set(root, drain ? "draining" : "at once");
        const again = random.chance(0.3) ? system.stop(root) : null;
        if (again !== null) hasBegunToStop.set(root, "at once");
        await system.stop(root, { drain });
        await again;
        seen.stops++;
        expect(system.router.has(root.address)).toBe(false);
        const below = root.address.slice(0, -1);
        expect(system.inspect().map((report) => report.address)).not.toContain(root.address);
        for (const [at, running] of team.running) if (at.startsWith(below)) expect(running).toBe(0);
      }),
    );
    await Promise.all([asks, stops]);
    system.spawn("root-0", Worker, team.factory(0, [])); // P14: its name can be used again.
  };

/** A shutdown in the middle of work: phase after phase, and whoever is asked gets an answer. */
const shuttingDown =
  (seen: Seen, isFaultFree: boolean): SimulatedProgram =>
  async (simulation) => {
    const { system, random, always, advance } = simulation;
    always(() => expectBalanced(system));
    const team = new Team(simulation);
    const names = Array.from({ length: ROOTS }, (_, root) => `root-${root}`);
    const roots = random.shuffle(names.map((_, root) => root)).map((root) =>
      system.spawn(
        names[root] ?? "",
        Worker,
        team.factory(
          DEPTH,
          isFaultFree ? names.slice(0, root).map((name) => address(name)) : [], // Faults end some before.
        ),
        {
          ...team.draw(),
          phase: root,
        },
      ),
    );
    const asks = Promise.all(
      Array.from({ length: 30 }, async (_, number) => {
        await advance(random.below(15));
        const reply = await random.pick(roots).ask("work", number, NEVER);
        if (reply.isOk()) seen.drained++;
        else {
          expect(["stopped", "handler-failed"]).toContain(reply.error.kind);
          seen.refused++;
        }
      }),
    );
    await advance(random.below(15));
    const options = { drain: random.chance(0.5), timeout: Number.POSITIVE_INFINITY };
    const [{ unfinished }, again] = await Promise.all([system.shutdown(options), system.shutdown()]);
    expect({ unfinished, again: again.unfinished }).toEqual({ unfinished: [], again: [] });
    expect(system.inspect()).toEqual([]);
    seen.stops++;
    await asks;
  };

const rows: [name: string, faults: Faults][] = [
  ["without faults", {}],
  ["with turns that come late", { delay: 0.1 }],
  ["with all faults", { throw: 0.03, stop: 0.01, delay: 0.05, expire: 0.02 }],
];

for (const [what, program] of [
  ["P13, P14: an actor that is stopped ends its work and its children first, and answers whoever waits:", stopping],
  ["P13: a shutdown ends phase after phase, once, and answers whoever waits:", shuttingDown],
] as const) {
  describe(what, () => {
    for (const [name, faults] of rows) {
      test(name, async () => {
        const seen: Seen = { drained: 0, refused: 0, stops: 0 };
        await simulate(program(seen, faults.throw === undefined), {
          seeds: runs(80, 4_000).numRuns,
          faults,
          expected: () => false,
          system: { hookTimeout: Number.POSITIVE_INFINITY },
        });
        for (const count of Object.values(seen)) expect(count).toBeGreaterThan(60);
      });
    }
  });
}
