import { expect, test } from "bun:test";
import {
  address,
  createMessage,
  defineProtocol,
  parseMessage,
  refSchema,
  serializeMessage,
  Type,
} from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Guest = defineProtocol("guest", { seat: { payload: Type.Number() } });
const Host = defineProtocol("host", {
  welcome: { payload: Type.Object({ guest: refSchema(Guest) }), reply: refSchema(Guest) },
  call: { payload: refSchema<{ answer: (text: string) => void }>() },
});

test("a reference travels in a payload and in a reply, and is checked where payloads are", async () => {
  const { system, clock } = createTestSystem({ validate: "always" });
  const seats: number[] = [];
  const guest = system.spawn("guest", Guest, () => ({ seat: (number) => void seats.push(number) }));
  const host = system.spawn("host", Host, () => ({
    welcome({ guest: one }) {
      one.tell("seat", 7);
      return one;
    },
    call() {},
  }));
  expect((await host.ask("welcome", { guest }))._unsafeUnwrap()).toBe(guest);
  await clock.settle();
  expect(seats).toEqual([7]);
  // @ts-expect-error: an address is no reference.
  const refused = await host.ask("welcome", { guest: { address: guest.address } });
  expect(refused._unsafeUnwrapErr().message).toEndWith(
    '/guest must be a reference to an actor that has the operations of "guest"',
  );
  // @ts-expect-error: a host has not the operations of a guest.
  const other = await host.ask("welcome", { guest: host });
  expect(other._unsafeUnwrapErr().kind).toBe("invalid-payload");
  expect((await host.ask("call", guest as never)).isOk()).toBe(true); // Without a protocol, any reference will do.
});

test("a reference does not come from outside", async () => {
  const { system } = createTestSystem();
  const guest = system.spawn("guest", Guest, () => ({ seat() {} }));
  system.spawn("host", Host, () => ({ welcome: ({ guest: one }) => one, call() {} }));
  const text = serializeMessage(createMessage(address("host"), "welcome", { guest }, { pattern: "ask" }));
  const message = parseMessage(text._unsafeUnwrap())._unsafeUnwrap();
  expect((await system.router.ask(message))._unsafeUnwrapErr().kind).toBe("invalid-payload");
});

test("what is no protocol is refused at once", () => {
  expect(() => refSchema({} as never)).toThrow("is what defineProtocol() returned");
});
