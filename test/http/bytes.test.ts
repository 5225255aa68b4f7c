import { expect, test } from "bun:test";
import { createGateway } from "../../src/http/index";
import { address, createMessage, defineProtocol, serializeMessage, Type } from "../../src/index";
import { testSystems } from "../actor/test-system";
import { expectProblem, post, send } from "./counter";
import { createChat, eventsOf as eventsOfSession, Room } from "./sessions/chat";
import { Client } from "./socket/client";
import { startService } from "./socket/service";
import { eventsOf } from "./streams/event-reader";

const { createTestSystem } = testSystems();
const Odd = defineProtocol("odd", { give: { reply: Type.Unknown() }, items: { stream: Type.Unknown() } });
const BYTES: [name: string, value: unknown][] = [
  ["an array of bytes", new Uint8Array([104, 105])],
  ["an array of numbers", new Float64Array(1)],
  ["a view", new DataView(new ArrayBuffer(2))],
  ["a buffer", new ArrayBuffer(2)],
  ["shared memory", new SharedArrayBuffer(2)],
];

function serveOdd(value: unknown) {
  const testSystem = createTestSystem();
  const ref = testSystem.system.spawn("odd", Odd, () => ({
    give: () => value,
    *items() {
      yield 1;
      yield value;
    },
  }));
  const gateway = createGateway(testSystem.system, { expose: { odd: { ref, operations: ["give", "items"] } } });
  return { ...testSystem, gateway };
}

test.each(BYTES)(
  "a reply or an item that is %s, which JSON would empty or number, is refused and logged",
  async (_, value) => {
    const { gateway, takeLog } = serveOdd(value);
    const detail = await expectProblem(await post(gateway, "/actors/odd/give", null), 500, "handler-failed");
    expect(detail).toBe("The reply of give cannot be written as JSON.");
    const message = createMessage(address("odd"), "give", null, { pattern: "ask" });
    await expectProblem(
      await send(gateway, "/messages", serializeMessage(message)._unsafeUnwrap()),
      500,
      "handler-failed",
    );
    const events = await Array.fromAsync(eventsOf(await post(gateway, "/actors/odd/items", null)));
    expect(events.map(({ event }) => event)).toEqual(["message", "error"]);
    const lines = takeLog();
    expect(lines).toHaveLength(3);
    for (const { details } of lines) expect(String(Reflect.get(details ?? {}, "cause"))).toContain("no binary data");
  },
);

test("a Buffer, which has a form in JSON, is answered in that form", async () => {
  const { gateway } = serveOdd(Buffer.from("hi"));
  const answer = await post(gateway, "/actors/odd/give", null);
  expect(await answer.json()).toEqual({ type: "Buffer", data: [104, 105] });
});

test.each(BYTES)("an ask of a session whose reply is %s fails, also where it is read later", async (_, value) => {
  await using room = new Room({
    factory: (ctx, session) => ({
      ...createChat(ctx, session),
      heard: () => value as string[], // As a handler may give what its protocol does not have.
      peek: () => value as number,
    }),
  });
  const at = await room.open();
  for (const operation of ["heard", "peek"]) expect((await room.send(at, operation)).status).toBe(500);
  const told = await room.send(at, "heard", undefined, { prefer: "respond-async" });
  const [event] = await Array.fromAsync(eventsOfSession(await room.fetch("GET", told.headers.get("location") ?? "")));
  expect(event?.event).toBe("error");
  expect(room.test.takeLog()).toHaveLength(3);
});

test.each(BYTES)(
  "an answer and an item over a socket that is %s fail alone, and an item of a topic is left out",
  async (_, value) => {
    await using service = startService({}, {}, value);
    const client = await new Client(service.url).welcome();
    const failed = { status: 500, kind: "handler-failed" };
    expect((await client.ask("1", "desk", "odd")).problem).toMatchObject(failed);
    client.send({ kind: "stream", id: "2", to: "desk", type: "odds", credit: 10 });
    expect((await client.outcome("2")).problem).toMatchObject(failed);
    expect(client.items("2")).toEqual([]);
    client.send({ kind: "subscribe", id: "3", topic: "changes" });
    await client.find(({ kind }) => kind === "subscribed");
    service.changes.publish(value);
    service.changes.publish("last");
    await client.find(() => client.items("3").length === 1);
    expect(client.items("3")).toEqual(["last"]);
  },
);
