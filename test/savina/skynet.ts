import { defineProtocol, type Factory, type RefTo, type SignaturesOf, type System, Type } from "../../src/index";

const CHILDREN = 10;

const Node = defineProtocol("node", {
  start: { payload: Type.Object({ first: Type.Number(), leaves: Type.Number() }) },
  sum: { payload: Type.Number() },
});
const Parent = defineProtocol("parent", { sum: { payload: Type.Number() } });

/** A node that tells its parent the sum of its leaves, and stops. */
const nodeOf =
  (parent: RefTo<typeof Parent>): Factory<SignaturesOf<typeof Node>> =>
  (ctx) => {
    let missing = CHILDREN;
    let total = 0;
    const report = (sum: number): void => {
      ctx.tell(parent, "sum", sum);
      ctx.stop();
    };
    return {
      start({ first, leaves }) {
        if (leaves === 1) {
          report(first);
          return;
        }
        const share = leaves / CHILDREN;
        for (let i = 0; i < CHILDREN; i++) {
          const child = ctx.spawn(`${i}`, Node, nodeOf(ctx.self));
          ctx.tell(child, "start", { first: first + i * share, leaves: share });
        }
      },
      sum(sum) {
        total += sum;
        if (--missing === 0) report(total);
      },
    };
  };

/**
 * A tree of actors with ten children a node (https://github.com/atemerev/skynet). Its leaves are numbered from 0 to n -
 * 1, for a power of ten; each node adds up what its children tell it, so the root tells n (n - 1) / 2: 4999950000 for
 * 100,000 leaves.
 */
export async function skynet(system: System, { leaves = 100_000 }: { readonly leaves?: number } = {}): Promise<number> {
  const done = Promise.withResolvers<number>();
  const top = system.spawn("top", Parent, () => ({ sum: (sum) => done.resolve(sum) }));
  const root = system.spawn("skynet", Node, nodeOf(top));
  root.tell("start", { first: 0, leaves });
  return done.promise;
}
