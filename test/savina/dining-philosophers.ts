import { defineProtocol, type RefTo, refSchema, type System, Type } from "../../src/index";
import { answered } from "./answered";

const Philosopher = defineProtocol("philosopher", { think: {}, eat: {}, getUp: {}, meals: { reply: Type.Number() } });
const Arbitrator = defineProtocol("arbitrator", {
  hungry: { payload: Type.Object({ seat: Type.Number(), philosopher: refSchema(Philosopher) }) },
  leave: { payload: Type.Number() },
});

export interface DiningAnswer {
  /** Of each philosopher. */
  readonly meals: readonly number[];
  /** How often somebody ate beside somebody who did. */
  readonly conflicts: number;
}

/**
 * Philosophers share one fork with each neighbour, and an arbitrator hands out both forks or neither. Each eats as
 * often as was asked for, and never two neighbours at once.
 */
export async function diningPhilosophers(
  system: System,
  { philosophers = 20, rounds = 2_000 }: { readonly philosophers?: number; readonly rounds?: number } = {},
): Promise<DiningAnswer> {
  const done = Promise.withResolvers<void>();
  const leftOf = (seat: number): number => (seat + philosophers - 1) % philosophers;
  const rightOf = (seat: number): number => (seat + 1) % philosophers;

  const arbitrator = system.spawn("arbitrator", Arbitrator, (ctx) => {
    const hungry = new Map<number, RefTo<typeof Philosopher>>();
    const taken = new Set<number>(); // Forks: each lies to the left of its seat, and to the right of the seat before.
    let left = philosophers * rounds;
    const serve = (seat: number): void => {
      const philosopher = hungry.get(seat);
      if (philosopher === undefined || taken.has(seat) || taken.has(rightOf(seat))) return;
      hungry.delete(seat);
      taken.add(seat).add(rightOf(seat));
      ctx.tell(philosopher, "eat");
    };
    return {
      hungry({ seat, philosopher }) {
        hungry.set(seat, philosopher);
        serve(seat);
      },
      leave(seat) {
        taken.delete(seat);
        taken.delete(rightOf(seat));
        serve(leftOf(seat));
        serve(rightOf(seat));
        if (--left === 0) done.resolve();
      },
    };
  });

  const eating = new Set<number>(); // What a bystander sees, who knows nothing of forks.
  let conflicts = 0;
  const guests = Array.from({ length: philosophers }, (_, seat) =>
    system.spawn(`philosopher-${seat}`, Philosopher, (ctx) => {
      let meals = 0;
      return {
        think: () => ctx.tell(arbitrator, "hungry", { seat, philosopher: ctx.self }),
        eat() {
          if (eating.has(leftOf(seat)) || eating.has(rightOf(seat))) conflicts++;
          eating.add(seat);
          meals++;
          ctx.tell(ctx.self, "getUp"); // A meal lasts until then: others may have their turns meanwhile.
        },
        getUp() {
          eating.delete(seat);
          ctx.tell(arbitrator, "leave", seat);
          if (meals < rounds) ctx.tell(ctx.self, "think");
        },
        meals: () => meals,
      };
    }),
  );

  for (const guest of guests) guest.tell("think");
  await done.promise;
  const meals = (await Promise.all(guests.map((guest) => guest.ask("meals")))).map(answered);
  return { meals, conflicts };
}
