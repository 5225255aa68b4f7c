import { defineProtocol, type RefTo, type System, Type } from "../../src/index";

const Link = defineProtocol("link", { pass: { payload: Type.Number() } });

/**
 * Actors in a ring hand on a token that counts down; the answer is the number of the one that gets it at zero, from 1.
 * It is `hops` modulo `actors`, plus 1: with 503 actors and 1,000 hops 498, as in the Computer Language Benchmarks
 * Game.
 */
export async function threadRing(
  system: System,
  { actors = 503, hops = 500_000 }: { readonly actors?: number; readonly hops?: number } = {},
): Promise<number> {
  const done = Promise.withResolvers<number>();

  const spawnLink = (number: number, next: () => RefTo<typeof Link>): RefTo<typeof Link> =>
    system.spawn(`link-${number}`, Link, (ctx) => ({
      pass(left) {
        if (left === 0) done.resolve(number);
        else ctx.tell(next(), "pass", left - 1);
      },
    }));

  // From the last to the first, so that each knows the next; the last looks up the first when it has the token.
  let first: RefTo<typeof Link> = spawnLink(actors, () => first);
  for (let number = actors - 1; number > 0; number--) {
    const next = first;
    first = spawnLink(number, () => next);
  }

  first.tell("pass", hops);
  return done.promise;
}
