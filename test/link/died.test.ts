import { afterEach, beforeEach, expect, test } from "bun:test";
import { address, defineProtocol, type Outgoing, publicError, Type } from "../../src/index";
import { mayHaveBegun } from "../../src/link/index";
import { createPair, type Pair } from "./pair";

const Oven = defineProtocol("oven", { bake: { reply: Type.Null() } });
const NEVER = Number.POSITIVE_INFINITY;

let pair: Pair;
let baking: PromiseWithResolvers<null>;
beforeEach(() => {
  baking = Promise.withResolvers();
});
afterEach(() => {
  baking.resolve(null);
  return pair?.end();
});

test("P17: what had left for a side that died may have begun, and what had not left did not", async () => {
  pair = createPair();
  const oven = pair.reach(
    pair.there.spawn("oven", Oven, () => ({ bake: () => baking.promise })),
    Oven,
  );
  const left = oven.ask("bake", { timeout: NEVER });
  while (pair.far.underWay === 0) await new Promise(setImmediate);
  const waiting = oven.ask("bake", { timeout: NEVER });
  pair.link.lost(new Error("The worker is gone."), "died");
  const later = oven.ask("bake", { timeout: NEVER });
  const errors = (await Promise.all([left, waiting, later])).map((result) => result._unsafeUnwrapErr());
  expect(errors.map(({ kind }) => kind)).toEqual(["unreachable", "unreachable", "unreachable"]);
  expect(errors.map(mayHaveBegun)).toEqual([true, false, false]);
  expect(errors[0]?.message).toContain(
    "had left when the other side ended (The worker is gone): its handler may have begun;",
  );
  expect(publicError(errors[0]).message).toContain("nobody knows whether it was handled");
  expect(publicError(errors[1]).message).toContain("send again later");
});

test("P17: a message whose handler had begun when its actor stopped is a timeout here, since nobody knows what became of it", async () => {
  pair = createPair();
  const oven = pair.reach(
    pair.there.spawn("oven", Oven, () => ({ bake: () => baking.promise })),
    Oven,
  );
  const asked = oven.ask("bake", { timeout: NEVER });
  while (pair.far.underWay === 0) await new Promise(setImmediate);
  await pair.there.shutdown({ timeout: 1 });
  const error = (await asked)._unsafeUnwrapErr();
  expect([error.kind, mayHaveBegun(error)]).toEqual(["timeout", true]);
  expect(error.message).toContain("its actor stopped while it handled the message");
});

test("P17: a sender behind a further link is told so, too", async () => {
  pair = createPair();
  let cause: unknown;
  const nothing = (): void => undefined;
  const send = (out: Outgoing): void => out.fail("unreachable", cause);
  const worker = pair.there.attach(address("worker/oven"), Oven, {
    send,
    cancel: nothing,
    credit: nothing,
    close: nothing,
  });
  const oven = pair.reach(worker.ref, Oven);
  cause = Object.assign(new Error("The worker is gone."), { hadLeft: true });
  expect(mayHaveBegun((await oven.ask("bake"))._unsafeUnwrapErr())).toBe(true);
  cause = new Error("The worker is being started.");
  expect(mayHaveBegun((await oven.ask("bake"))._unsafeUnwrapErr())).toBe(false);
});

test.each([
  [{ hadLeft: 1 }],
  [{ hadLeft: { toString: 1 } }],
  [{ hadLeft: true }],
  [{ refused: 1 }],
  ["hadLeft"],
  [null],
])("P18: a detail of the other side that is none says nothing (%p)", async (detail) => {
  pair = createPair();
  const oven = pair.reach(
    pair.there.spawn("oven", Oven, () => ({ bake: () => baking.promise })),
    Oven,
  );
  const asked = oven.ask("bake", { timeout: NEVER });
  expect(pair.link.take(JSON.stringify([[11, "1", "unreachable", detail]]))).toBe(true);
  const error = (await asked)._unsafeUnwrapErr();
  expect([error.kind, mayHaveBegun(error)]).toEqual(["unreachable", false]);
  expect(error.message).toContain("could not leave");
});
