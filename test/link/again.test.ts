import { afterEach, expect, test } from "bun:test";
import { defineProtocol, refSchema, Type } from "../../src/index";
import { createPair, type Pair } from "./pair";

const Clerk = defineProtocol("clerk", { number: { reply: Type.Number() } });
const Desk = defineProtocol("desk", {
  call: { payload: Type.Object({ clerk: refSchema(Clerk) }), reply: Type.Unknown() },
  ended: { reply: Type.Array(Type.String()) },
});

let pair: Pair;
afterEach(() => pair?.end());

function desk() {
  pair = createPair();
  const ended: string[] = [];
  const ref = pair.there.spawn("desk", Desk, (ctx) => ({
    async call({ clerk }) {
      ctx.watch(clerk, ({ address, reason }) => ended.push(`${address} ${reason}`));
      return (await clerk.ask("number")).match<unknown>(
        (number) => number,
        ({ kind }) => kind,
      );
    },
    ended: () => ended,
  }));
  return pair.reach(ref, Desk);
}

test("P14: a reference to an actor by the name of one that has just stopped leads to the new one, and the end of the old one is told", async () => {
  const ref = desk();
  for (const number of [1, 2, 3]) {
    const clerk = pair.here.spawn("clerk", Clerk, () => ({ number: () => number }));
    expect((await ref.ask("call", { clerk }))._unsafeUnwrap()).toBe(number);
    await pair.here.stop(clerk); // The next one takes its name and leaves in the same macrotask.
  }
  await new Promise(setImmediate); // The last end is told in a macrotask, before what is asked then.
  const ended = (await ref.ask("ended"))._unsafeUnwrap();
  expect(ended).toHaveLength(3);
  for (const each of ended) expect(each).toEndWith(" stopped");
});

test("a reference to an actor that has just stopped, and was lent before, is told as stopped", async () => {
  const ref = desk();
  const clerk = pair.here.spawn("clerk", Clerk, () => ({ number: () => 1 }));
  expect((await ref.ask("call", { clerk }))._unsafeUnwrap()).toBe(1);
  await pair.here.stop(clerk);
  expect((await ref.ask("call", { clerk }))._unsafeUnwrap()).toBe("stopped");
  expect(pair.taken).not.toContain(false);
});
