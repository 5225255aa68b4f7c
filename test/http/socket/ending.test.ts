import { expect, test } from "bun:test";
import { createManualClock } from "../../../src/testing/index";
import { Client } from "./client";
import { startService } from "./service";

test("at the end of the service, sockets that are idle close with 1012 at once, and running asks may end", async () => {
  await using service = startService();
  const idle = await new Client(service.url).welcome();
  const subscriber = await new Client(service.url).welcome();
  const busy = await new Client(service.url).welcome();
  subscriber.send({ kind: "subscribe", id: "1", topic: "changes" });
  await subscriber.find(({ kind }) => kind === "subscribed");
  busy.send({ kind: "ask", id: "1", to: "desk", type: "wait" });
  await service.untilRunning(1);
  const drained = service.serving.gateway.drain(60_000);
  const again = { code: 1012, reason: "The service ends: connect again." };
  expect(await idle.closed).toEqual(again);
  expect(await subscriber.closed).toEqual(again);
  await busy.find(({ kind }) => kind === "goodbye");
  busy.send({ kind: "ask", id: "2", to: "desk", type: "total" });
  expect((await busy.outcome("2")).problem).toMatchObject({ status: 503, kind: "unavailable", retryable: true });
  expect((await new Client(service.url).closed).code).toBeOneOf([1002, 1006]); // It is refused.
  service.release();
  expect((await busy.outcome("1")).kind).toBe("reply");
  expect(await busy.closed).toEqual(again);
  await drained;
});

test("P15: a socket that is still busy when the time of the drain is up closes with 1012", async () => {
  const clock = createManualClock();
  await using service = startService({}, { clock });
  const busy = await new Client(service.url).welcome();
  busy.send({ kind: "stream", id: "1", to: "desk", type: "pages", payload: { size: 1, count: 1e9 }, credit: 1 });
  await service.untilRunning(1);
  const drained = service.serving.gateway.drain(5_000);
  await busy.find(({ kind }) => kind === "goodbye");
  await clock.advance(4_999);
  expect(busy.socket.readyState).toBe(WebSocket.OPEN);
  await clock.advance(1);
  expect((await busy.closed).code).toBe(1012);
  await drained;
  await service.untilRunning(0);
});

test("P7: what runs for a socket ends with it", async () => {
  await using service = startService({ limits: { streams: 1 } });
  const client = await new Client(service.url).welcome();
  client.send({ kind: "ask", id: "1", to: "desk", type: "wait" });
  client.send({ kind: "stream", id: "2", to: "desk", type: "pages", payload: { size: 1, count: 1e9 }, credit: 1 });
  client.send({ kind: "stream", id: "3", to: "desk", type: "ticks", payload: 1, credit: 1 });
  expect((await client.outcome("3")).problem).toMatchObject({ status: 429 }); // One stream of a caller at a time.
  await service.untilRunning(2);
  client.socket.close();
  await service.untilRunning(0);
  const next = await new Client(service.url).welcome();
  next.send({ kind: "stream", id: "1", to: "desk", type: "ticks", payload: 1, credit: 2 });
  expect((await next.outcome("1")).kind).toBe("end"); // Its place was given back.
  next.send({ kind: "stream", id: "2", to: "desk", type: "ticks", payload: 1 });
  next.send({ kind: "cancel", id: "2" }, { kind: "stream", id: "4", to: "desk", type: "ticks", payload: 1, credit: 9 });
  expect((await next.outcome("4")).kind).toBe("end");
});
