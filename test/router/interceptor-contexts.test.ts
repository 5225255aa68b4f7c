import { afterEach, describe, expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import { ok } from "neverthrow";
import { createMessage, defineProtocol, type Passage, Type } from "../../src/index";
import { testSystems } from "../actor/test-system";

// Interceptors run in the context of whoever sent the message, and so does all that they hand back (P16).

const { createTestSystem } = testSystems();

/** Who a request is of. */
const user = new AsyncLocalStorage<string>();
const who = (): string => user.getStore() ?? "nobody";
afterEach(() => user.enterWith(undefined as unknown as string));

const USERS = ["alice", "bob", "carol"];

const Echo = defineProtocol("echo", {
  who: { reply: Type.String() },
  items: { stream: Type.String() },
});

/** A system that was made while "owner" was served, and an actor that tells in which context it runs. */
function createEcho(asyncContext: "system" | "sender") {
  const systems = user.run("owner", () => createTestSystem({ asyncContext }));
  const ref = systems.system.spawn("echo", Echo, () => ({
    who,
    *items() {
      yield who();
    },
  }));
  const message = () => createMessage(ref.address, "who", undefined);
  const askAs = (name: string) => user.run(name, () => systems.router.ask(message()));
  return { ...systems, ref, message, askAs };
}

for (const asyncContext of ["system", "sender"] as const) {
  const wanted = asyncContext === "sender" ? USERS : USERS.map(() => "owner");

  describe(`asyncContext: "${asyncContext}"`, () => {
    test("P16: what waits behind an interceptor keeps its context where the last interceptor has gone meanwhile", async () => {
      const { router, askAs } = createEcho(asyncContext);
      const off = router.use(async (_, next) => {
        await null;
        return next();
      });
      const asks = USERS.map(askAs);
      off();
      expect((await Promise.all(asks)).map((reply) => reply.unwrapOr("failed"))).toEqual(wanted);
    });

    test("P16: an interceptor that enters another context leaves its sender in the one that it was in", () => {
      const { router, ref, message, askAs, settle } = createEcho(asyncContext);
      router.use((_, next) => {
        user.enterWith("mallory");
        return next();
      });
      return user.run("alice", async () => {
        router.tell(message());
        expect(who()).toBe("alice");
        void askAs("bob");
        expect(who()).toBe("alice");
        void router.stream(createMessage(ref.address, "items", undefined)).next();
        expect(who()).toBe("alice");
        await settle();
      });
    });

    test("P16: an interceptor that is let go on by another request hands its message on in that of its own", async () => {
      const { router, askAs } = createEcho(asyncContext);
      const held: (() => void)[] = [];
      router.use((_, next) => new Promise<Passage>((resolve) => held.push(() => resolve(next()))));
      for (const [index, name] of USERS.entries()) {
        const ask = askAs(name);
        user.run("mallory", () => held.pop()?.());
        expect((await ask).unwrapOr("failed")).toBe(wanted[index] as string); // As long as USERS.
      }
    });

    test("P16: an interceptor that calls next at once, in the context of another request, hands on in that of its own", async () => {
      const { router, askAs } = createEcho(asyncContext);
      const seen: string[] = [];
      const asMallory = user.run("mallory", () => AsyncLocalStorage.snapshot());
      router.use((_, next) => asMallory(() => next()));
      router.use((_, next) => {
        seen.push(who());
        return next();
      });
      const replies = await Promise.all(USERS.map(askAs));
      expect(replies.map((reply) => reply.unwrapOr("failed"))).toEqual(wanted);
      expect(seen).toEqual(USERS);
    });

    test("P16: a thenable that an interceptor returns is awaited in the context of who sent", async () => {
      const { router, askAs } = createEcho(asyncContext);
      const seen: string[] = [];
      let isFirst = true;
      router.use((_, next) => {
        const isLate = isFirst;
        isFirst = false; // The others wait behind the first one.
        const passage = {
          // As queries of some libraries are: they begin when they are awaited.
          // biome-ignore lint/suspicious/noThenProperty: that is what it is about.
          get then() {
            seen.push(who());
            return (resolve: (passage: Passage | PromiseLike<Passage>) => void) => {
              seen.push(who());
              if (isLate) queueMicrotask(() => resolve(next()));
              else resolve(next());
            };
          },
        };
        return passage as Promise<Passage>; // It has what is called of a promise.
      });
      const replies = await Promise.all(USERS.map(askAs));
      expect(replies.map((reply) => reply.unwrapOr("failed"))).toEqual(wanted);
      expect([...new Set(seen)]).toEqual(USERS);
    });

    test("P16: the items that an interceptor makes of a stream come in the context of who sent, whoever pulls", async () => {
      const { router, ref, settle } = createEcho(asyncContext);
      const seen: string[] = [];
      const query = {
        // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is about.
        then(resolve: (step: IteratorResult<string>) => void) {
          resolve({ value: who(), done: false });
        },
      } as Promise<IteratorResult<string>>; // It has what is called of a promise.
      const made: (() => AsyncIterable<string> | Iterable<string>)[] = [
        async function* () {
          try {
            for (;;) yield who();
          } finally {
            seen.push(who());
          }
        },
        function* () {
          try {
            for (;;) yield who();
          } finally {
            seen.push(who());
          }
        },
        () => ({
          [Symbol.asyncIterator]: () => ({
            next: () => query,
            async return() {
              seen.push(who());
              return { value: undefined, done: true };
            },
          }),
        }),
      ];
      for (const make of made) {
        const off = router.use(() => ok(make()));
        const items = router.stream(createMessage(ref.address, "items", undefined));
        const read: unknown[] = [];
        for (const name of USERS) read.push((await user.run(name, () => items.next())).value);
        expect(read).toEqual(["alice", "alice", "alice"]); // The first read sends it.
        await user.run("mallory", () => items.return());
        await settle();
        expect(seen.splice(0)).toEqual(["alice"]);
        off();
      }
    });
  });
}
