import { defineProtocol, type Factory, type SignaturesOf, type System, Type } from "../../src/index";
import { answered } from "./answered";

const Fibonacci = defineProtocol("fibonacci", { compute: { payload: Type.Number(), reply: Type.Number() } });

/** Asks two children for the two numbers before, at once, and stops them when it has both. */
const fibonacciActor: Factory<SignaturesOf<typeof Fibonacci>> = (ctx) => ({
  async compute(n) {
    if (n <= 2) return 1;
    const left = ctx.spawn("left", Fibonacci, fibonacciActor);
    const right = ctx.spawn("right", Fibonacci, fibonacciActor);
    const [one, two] = await Promise.all([ctx.ask(left, "compute", n - 1), ctx.ask(right, "compute", n - 2)]);
    ctx.stop(left);
    ctx.stop(right);
    return answered(one) + answered(two);
  },
});

/**
 * The n-th Fibonacci number, the slow way: an actor for each call of the recursive function. Fibonacci(20) = 6,765
 * (https://oeis.org/A000045), by 13,529 actors.
 */
export async function fibonacci(system: System, { n = 20 }: { readonly n?: number } = {}): Promise<number> {
  const root = system.spawn("fibonacci", Fibonacci, fibonacciActor);
  const answer = answered(await root.ask("compute", n));
  await system.stop(root);
  return answer;
}
