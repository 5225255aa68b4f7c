import { afterEach, expect, test } from "bun:test";
import { type AnyRef, address, defineProtocol, type Terminated, Type } from "../../src/index";
import { createLink } from "../../src/link/index";
import { createPair, type Pair } from "./pair";

const Odd = defineProtocol("odd", {
  echo: { payload: Type.Unknown(), reply: Type.Unknown() },
  parse: { payload: Type.String(), reply: Type.Unknown() },
  note: { reply: Type.Null() },
  end: { payload: Type.String() },
});
const Other = defineProtocol("other", { echo: { payload: Type.Unknown(), reply: Type.Unknown() } });

let pair: Pair;
afterEach(() => pair?.end());

function odd(options: Parameters<typeof createPair>[0] = {}) {
  pair = createPair(options);
  const there = pair.there.spawn("odd", Odd, (ctx) => ({
    echo: (value) => value,
    parse: (text): unknown => JSON.parse(text),
    async note() {
      ctx.progress(1, 2, "x".repeat(5_000));
      await new Promise(setImmediate); // Progress is told before the reply.
      return null;
    },
    end(): never {
      throw Object.create(null);
    },
  }));
  return { there, ref: pair.reach(there, Odd) };
}

test("P18: an error of the other side with members that are no texts throws nothing", () => {
  odd();
  const detail = { name: 1, stack: "s", message: { toString: 1 } };
  expect(pair.link.take(JSON.stringify([[11, "1", "handler-failed", detail]]))).toBe(true);
  expect(pair.link.take(JSON.stringify([[14, 1, 0, detail]]))).toBe(true);
});

test("P9: a payload, reply or metadata with a key __proto__ fails alone, and the connection goes on", async () => {
  const { ref } = odd();
  const own: Record<string, unknown> = JSON.parse('{"a":{"__proto__":1}}');
  expect((await ref.ask("echo", own))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect((await ref.ask("echo", 1, { metadata: own }))._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect((await ref.ask("parse", JSON.stringify(own)))._unsafeUnwrapErr().kind).toBe("handler-failed");
  expect((await ref.ask("echo", 'the word "__proto__":'))._unsafeUnwrap()).toBe('the word "__proto__":');
  expect(pair.taken).not.toContain(false);
});

test("the note of a progress beyond the limit is lost, and its ask goes on", async () => {
  const { ref } = odd({ maxBytes: 2_000, far: { maxBytes: 2_000 } });
  expect((await ref.ask("note", { onProgress: () => undefined })).isOk()).toBe(true);
  for (const text of pair.sent.toHere) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
  expect(pair.taken).not.toContain(false);
});

test.each([
  ["a value without a text", Object.create(null)],
  ["an error whose text is larger than may be sent", new Error("x".repeat(5_000))],
])("a watcher is told the end of an actor that failed by %s", async (_, thrown) => {
  pair = createPair({ maxBytes: 2_000, far: { tellsErrors: true, maxBytes: 2_000 } });
  const made = Promise.withResolvers<AnyRef>();
  pair.there.spawn(
    "parent",
    Other,
    (ctx) => {
      made.resolve(
        ctx.spawn("child", Other, () => ({
          echo() {
            throw thrown;
          },
        })),
      );
      return { echo: (value) => value };
    },
    { supervision: { decide: () => "stop", outside: "restart" } },
  );
  const actor = await made.promise;
  const ref = pair.reach(actor, Other);
  const end = Promise.withResolvers<Terminated>();
  const Watching = defineProtocol("watching", { begin: { reply: Type.Null() } });
  const watching = pair.here.spawn("watching", Watching, (ctx) => ({
    begin() {
      ctx.watch(ref, end.resolve);
      return null;
    },
  }));
  await watching.ask("begin");
  await ref.ask("echo", 1);
  expect((await end.promise).address).toBe(ref.address);
  expect(pair.taken).not.toContain(false);
});

test("a further reference has an address of its own, also where another actor has such a name", async () => {
  const { ref } = odd();
  const named = pair.link.ref(address("odd~2"), Other);
  const further = pair.link.ref(address("odd"), Other);
  expect(new Set([ref.address, named.address, further.address]).size).toBe(3);
  expect((await further.ask("echo", 1))._unsafeUnwrap()).toBe(1);
});

test("P18: an address for which exposed throws is nobody's, and a number that is used again stands for one address", () => {
  pair = createPair();
  const asked: string[] = [];
  const link = createLink({
    system: pair.here,
    prefix: "stranger/",
    send: () => true,
    mostRefs: 1,
    exposed(at) {
      asked.push(at);
      throw new Error("not for you");
    },
  });
  expect(link.take('[[6,1,"a"],[6,1,"b"]]')).toBe(true);
  expect(asked).toEqual([address("a"), address("b")]);
  link.end(new Error("over"));
});
