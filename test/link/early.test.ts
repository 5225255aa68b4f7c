import { afterEach, expect, test } from "bun:test";
import { type AnyRef, address, defineProtocol, Type } from "../../src/index";
import { createPair, type Pair } from "./pair";

const Clerk = defineProtocol("clerk", { work: { payload: Type.String(), reply: Type.String() } });
const createClerk = () => ({ work: (what: string) => what });

let pair: Pair;
afterEach(() => pair?.end());

/** A reference to an address that stands for nobody yet, and those who watch it. */
async function early() {
  const exposed = new Map<string, AnyRef>();
  pair = createPair({ far: { exposed: (at) => exposed.get(at) } });
  const ref = pair.link.ref(address("desk"), Clerk);
  const end = Promise.withResolvers<string>();
  pair.here.spawn("guard", defineProtocol("guard", {}), (ctx) => {
    ctx.watch(ref, ({ reason }) => end.resolve(String(reason)));
    return {};
  });
  while (pair.taken.length === 0) await new Promise(setImmediate);
  return { exposed, ref, end: end.promise };
}

test("P14: an actor that can be reached later is told when it stops, with no message to it before", async () => {
  const { exposed, ref, end } = await early();
  const clerk = pair.there.spawn("clerk", Clerk, createClerk);
  exposed.set(address("desk"), clerk);
  pair.far.lookAgain();
  await pair.there.stop(clerk);
  expect(await end).toBe("stopped");
  expect((await ref.ask("work", "late"))._unsafeUnwrapErr().kind).toBe("stopped");
});

test("P14: so is one that has stopped before anybody looked again, and one that is reached by its own address", async () => {
  const { exposed, end } = await early();
  const clerk = pair.there.spawn("clerk", Clerk, createClerk);
  exposed.set(address("desk"), clerk);
  await pair.there.stop(clerk);
  pair.far.lookAgain();
  expect(await end).toBe("stopped");
  await pair.end();

  const other = await early();
  const desk = pair.there.spawn("desk", Clerk, createClerk);
  other.exposed.set(address("desk"), desk);
  await pair.there.stop(desk);
  expect(await other.end).toBe("stopped");
});

test("an address that still stands for nobody waits on, and leads to the actor that comes", async () => {
  const { exposed, ref } = await early();
  pair.far.lookAgain();
  exposed.set(address("desk"), pair.there.spawn("clerk", Clerk, createClerk));
  expect((await ref.ask("work", "now"))._unsafeUnwrap()).toBe("now");
});
