import { expect } from "bun:test";
import { type Context, defineProtocol, type Factory, type SignaturesOf, type Supervision, Type } from "../../src/index";
import type { Simulation } from "../../src/testing/index";
import { Life } from "./life";

export const Member = defineProtocol("member", { work: { payload: Type.Number(), reply: Type.Number() } });
type Signatures = SignaturesOf<typeof Member>;

/** What an actor throws by its own fault. */
export class Mishap extends Error {}

const CHILDREN = 3;

/** Whether a message comes through a door: by its number. */
export const isOutside = (number: number): boolean => number % 4 === 0;

/** A tree of actors that fail at random, in their handlers, their hooks and their factories; and what is known of each. */
export class Family {
  readonly lives = new Map<string, Life>();
  readonly #simulation: Simulation;
  #moment = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  lifeOf(at: string, parent: Life | null = null): Life {
    const life = this.lives.get(at) ?? new Life(parent);
    this.lives.set(at, life);
    return life;
  }

  /** Makes an actor with so many generations below it. */
  factory(depth: number, parent: Life | null, supervision: Supervision): Factory<Signatures> {
    return (ctx) => {
      const { random, advance } = this.#simulation;
      const at = ctx.self.address;
      const life = this.lifeOf(at, parent);
      life.made(++this.#moment, this.#simulation.now, supervision);
      this.#mishap(life, 0.03, () => life.unmade());
      if (depth > 0) this.#spawnChildren(ctx, depth - 1, life);
      let handled = 0; // P10: this state begins anew.
      return {
        onStart: async () => {
          life.starting();
          if (random.chance(0.3)) await advance(random.below(5));
          this.#mishap(life, 0.03, () => life.unmade());
          life.started();
        },
        onRestart: () => this.#mishap(life, 0.02),
        work: async (number) => {
          life.begin(number, handled++);
          try {
            if (random.chance(0.5)) await advance(random.below(4));
            if (!isOutside(number)) this.#mishap(life, 0.08);
            else if (random.chance(0.3)) throw new Mishap(); // P9: its actor is not made anew for that.
          } finally {
            life.end();
          }
          return number;
        },
        onStop: async () => {
          for (const child of life.children) expect(child.isAtRest).toBe(true); // P13: children first.
          life.stopped();
          if (random.chance(0.3)) await advance(random.below(5));
          if (random.chance(0.05)) throw new Mishap(); // Nobody decides on that: it ends anyway.
        },
      };
    };
  }

  #spawnChildren(ctx: Context<Signatures>, depth: number, life: Life): void {
    try {
      for (let child = 0; child < CHILDREN; child++) {
        const supervision = this.draw();
        ctx.spawn(`${child}`, Member, this.factory(depth, life, supervision), { supervision });
      }
    } catch (thrown) {
      life.failed(++this.#moment, this.#simulation.now);
      life.unmade();
      throw thrown;
    }
  }

  #mishap(life: Life, chance: number, before: () => void = () => undefined): void {
    if (!this.#simulation.random.chance(chance)) return;
    life.failed(++this.#moment, this.#simulation.now);
    before();
    throw new Mishap();
  }

  draw(): Supervision {
    const { random } = this.#simulation;
    const decide = random.pick([
      undefined,
      undefined,
      () => random.pick(["restart", "restart", "resume", "stop", "escalate"] as const),
    ]);
    return {
      strategy: random.pick(["one-for-one", "one-for-all", "rest-for-one"] as const),
      ...random.pick<Supervision>([
        { limit: Number.POSITIVE_INFINITY },
        { limit: 3, within: 40 },
        { limit: 1, within: 10 },
        { limit: 0, within: 20 },
      ]),
      ...random.pick<Supervision>([{}, {}, { beyondLimit: "hold" }, { beyondLimit: "stop" }]),
      ...random.pick<Supervision>([{}, { backoff: { initial: 5, max: 20, resetAfter: 100 } }]),
      ...(decide === undefined ? {} : { decide }),
    };
  }
}
