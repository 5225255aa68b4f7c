import { expect, test } from "bun:test";
import {
  address,
  createMessage,
  defineProtocol,
  type Message,
  type Pattern,
  parseMessage,
  serializeMessage,
  spawnPool,
  Type,
} from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

const Store = defineProtocol("store", {
  put: { payload: Type.Object({ city: Type.String() }), reply: Type.String() },
  items: { payload: Type.Object({ city: Type.String() }), stream: Type.String() },
});

const received = (type: string, payload: unknown, pattern: Pattern): Message =>
  parseMessage(
    serializeMessage(createMessage(address("front"), type, payload, { pattern }))._unsafeUnwrap(),
  )._unsafeUnwrap();

/** An actor without a schema that forwards everything to a pool, and the payloads that the pool's key was asked for. */
function createFront() {
  const systems = createTestSystem();
  const seen: unknown[] = [];
  const pool = spawnPool(
    systems.system,
    "pool",
    Store,
    () => ({
      put: ({ city }) => city,
      *items({ city }) {
        yield city;
      },
    }),
    {
      size: 3,
      routing: "consistent-hash",
      key(_, payload) {
        seen.push(payload);
        return (payload as { city: string }).city.toLowerCase(); // As the schema has it.
      },
    },
  );
  systems.router.register(address("front"), (_, ctx) => ctx.forward(pool));
  return { ...systems, seen };
}

test("P18: a pool's key sees no payload from outside that does not fit, also where an actor without a schema forwards it", async () => {
  const { router, seen, settle, deadLetters, takeLog } = createFront();
  for (const payload of [null, { city: 7 }, { city: { toLowerCase: 1 } }]) {
    const asked = await router.ask(received("put", payload, "ask"));
    expect(asked._unsafeUnwrapErr().kind).toBe("invalid-payload");
    router.tell(received("put", payload, "tell"));
    const items = router.stream(received("items", payload, "stream"));
    expect(await items.next().catch(({ error }) => error.kind)).toBe("invalid-payload");
    expect((await router.ask(received("drop", payload, "ask")))._unsafeUnwrapErr().kind).toBe("unknown-operation");
  }
  await settle();
  expect(seen).toEqual([]);
  expect(deadLetters.map(({ reason }) => reason)).not.toContain("handler-failed");
  expect(takeLog().filter(({ message }) => message.includes("key"))).toEqual([]);
});

test("P18: what fits reaches the worker of its key, by whatever way it came", async () => {
  const { router, seen } = createFront();
  const payload = { city: "Bern" };
  expect((await router.ask(received("put", payload, "ask")))._unsafeUnwrap()).toBe("Bern");
  expect((await router.stream(received("items", payload, "stream")).next()).value).toBe("Bern");
  expect((await router.offer(received("put", payload, "tell"))).isOk()).toBe(true);
  expect(seen).toEqual([payload, payload, payload]);
});
