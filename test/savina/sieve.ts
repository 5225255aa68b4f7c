import { defineProtocol, type Factory, type RefTo, type SignaturesOf, type System, Type } from "../../src/index";

const Filter = defineProtocol("filter", { candidate: { payload: Type.Number() }, end: { payload: Type.Number() } });

/**
 * The sieve of Eratosthenes as a chain of actors: each keeps some primes, passes on what none of them divides, and
 * spawns the next one when it is full. The end of the numbers passes along the chain behind them, and the primes are
 * counted on its way. There are 1,229 primes below 10,000 and 9,592 below 100,000 (https://oeis.org/A006880).
 */
export async function sieve(
  system: System,
  { limit = 10_000, room = 100 }: { readonly limit?: number; readonly room?: number } = {},
): Promise<number> {
  const done = Promise.withResolvers<number>();

  const filter: Factory<SignaturesOf<typeof Filter>> = (ctx) => {
    const primes: number[] = [];
    let next: RefTo<typeof Filter> | null = null;
    return {
      candidate(number) {
        if (primes.some((prime) => number % prime === 0)) return;
        if (primes.length < room) primes.push(number);
        else {
          next ??= ctx.spawn("next", Filter, filter);
          ctx.tell(next, "candidate", number);
        }
      },
      end(before) {
        const count = before + primes.length;
        if (next === null) done.resolve(count);
        else ctx.tell(next, "end", count);
      },
    };
  };

  const first = system.spawn("filter", Filter, filter);
  for (let number = 2; number < limit; number++) first.tell("candidate", number);
  first.tell("end", 0);
  return done.promise;
}
