import { createSystem, defineProtocol, type Factory, type RefTo, type SignaturesOf, Type } from "envoi";
import type { Prepared } from "../harness/suite";

const CHILDREN = 10;

const Parent = defineProtocol("parent", { sum: { payload: Type.Number() } });
const Node = defineProtocol("node", {
  start: { payload: Type.Object({ first: Type.Number(), leaves: Type.Number() }) },
  sum: { payload: Type.Number() },
});

/**
 * A tree of actors, ten children each, down to the leaves, whose numbers are added up on the way back; each actor stops
 * when it has told its parent. An operation is a leaf, from before its ancestors were spawned until the sum, which must
 * be right.
 */
export function skynet(leaves: number, expected: number): Prepared {
  const system = createSystem();
  let completed = 0;
  let finish = (_sum: number): void => {};
  const top = system.spawn("top", Parent, () => ({ sum: (sum) => finish(sum) }));
  const run = async () => {
    const done = new Promise<number>((resolve) => {
      finish = resolve;
    });
    system.spawn("skynet", Node, nodeOf(top)).tell("start", { first: 0, leaves });
    if ((await done) === expected) completed += leaves;
  };
  return { run, completed: () => completed, teardown: () => system.shutdown() };
}

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
        const share = leaves / CHILDREN;
        if (leaves === 1) report(first);
        else
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
