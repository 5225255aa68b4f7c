import { expect, test } from "bun:test";
import { Client } from "./client";
import { startService } from "./service";

test("a topic's items come to each socket that subscribed, until it cancels", async () => {
  await using service = startService();
  const [ada, ben] = [await new Client(service.url).welcome(), await new Client(service.url).welcome()];
  for (const client of [ada, ben]) {
    client.send({ kind: "subscribe", id: "1", topic: "changes" });
    await client.find(({ kind }) => kind === "subscribed");
  }
  expect(service.changes.size).toBe(1); // The gateway subscribes once, for all sockets.
  for (const item of [1, { two: 2 }, null]) service.changes.publish(item);
  service.changes.publish(4n); // JSON cannot write it.
  service.changes.publish("five");
  for (const client of [ada, ben]) {
    await client.find(() => client.items("1").length === 4);
    expect(client.items("1")).toEqual([1, { two: 2 }, null, "five"]);
  }
  expect(service.logged.join()).toContain("JSON cannot write it");
  ada.send({ kind: "cancel", id: "1" });
  await ada.ask("2", "desk", "total");
  service.changes.publish("last");
  await ben.find(() => ben.items("1").includes("last"));
  await ada.ask("3", "desk", "total");
  expect(ada.items("1")).not.toContain("last");
  ben.socket.close();
  await ben.closed;
  while (service.changes.size > 0) await new Promise((resolve) => setImmediate(resolve));
});

test("an item that is too long, or no JSON, is told as missed at once: no other one may follow", async () => {
  await using service = startService({ socket: { unsent: 1_000 } });
  const client = await new Client(service.url).welcome();
  client.send({ kind: "subscribe", id: "1", topic: "changes" });
  await client.find(({ kind }) => kind === "subscribed");
  const missed = () => client.frames.filter(({ kind }) => kind === "missed");
  service.changes.publish("x".repeat(2_000));
  await client.find(() => missed().length === 1);
  service.changes.publish(4n);
  await client.find(() => missed().length === 2);
  service.changes.publish("é".repeat(600));
  await client.find(() => missed().length === 3);
  service.changes.publish("last");
  await client.find(() => client.items("1").length === 1);
  const each = { kind: "missed", id: "1", count: 1 };
  expect([missed(), client.items("1")]).toEqual([[each, each, each], ["last"]]);
});

test("only exposed topics can be subscribed to, by those who may, and at most so many", async () => {
  const authorize = (caller: { id: string } | undefined, actor: string, operation: string) =>
    operation !== "subscribe" || (actor === "/topics/changes" && caller?.id === "ada");
  const authenticate = (request: Request) => ({ id: request.headers.get("authorization")?.slice(7) ?? "nobody" });
  await using service = startService({ authorize, authenticate, socket: { subscriptions: 2 } });
  const ada = await new Client(service.url, { protocols: ["envoi.v1", "bearer.ada"] }).welcome();
  const ben = await new Client(service.url, { protocols: ["envoi.v1", "bearer.ben"] }).welcome();
  ben.send({ kind: "subscribe", id: "1", topic: "changes" });
  expect((await ben.outcome("1")).problem).toMatchObject({ status: 403 });
  for (const topic of ["prices", "__proto__", "constructor", ""]) {
    ada.send({ kind: "subscribe", id: topic || "empty", topic });
    expect((await ada.outcome(topic || "empty")).problem).toMatchObject({ status: 404 });
  }
  for (const id of ["1", "2", "3"]) ada.send({ kind: "subscribe", id, topic: "changes" });
  expect((await ada.outcome("3")).problem).toMatchObject({ status: 429, kind: "too-many-requests" });
  ada.send({ kind: "cancel", id: "1" }, { kind: "subscribe", id: "4", topic: "changes" });
  await ada.find(({ id }) => id === "4");
  service.changes.publish("hello");
  await ada.find(() => ada.items("4").length === 1);
  expect([ada.items("1"), ada.items("2"), ada.items("3")]).toEqual([[], ["hello"], []]);
});
