import { expect, test } from "bun:test";
import { Client } from "./client";
import { startService } from "./service";

test("one socket carries many asks, and answers each by its id", async () => {
  await using service = startService();
  const client = await new Client(service.url).welcome();
  expect(client.socket.protocol).toBe("envoi.v1");
  expect(client.frames[0]).toEqual({
    kind: "welcome",
    limits: { text: 1_048_576, depth: 64, frames: 1_000, messages: 1_000, subscriptions: 100 },
  });
  expect(await client.ask("1", "desk", "add", 2)).toEqual({ kind: "reply", id: "1", payload: 2 });
  const both = [client.ask("2", "desk", "add", 3), client.ask("3", "desk", "total")];
  expect(await Promise.all(both)).toEqual([
    { kind: "reply", id: "2", payload: 5 },
    { kind: "reply", id: "3", payload: 5 },
  ]);
});

test("P2: messages of one text are handled in order, and their answers leave together", async () => {
  await using service = startService();
  const client = await new Client(service.url).welcome();
  client.send(
    { kind: "tell", to: "desk", type: "add", payload: 1 },
    { kind: "offer", id: "a", to: "desk", type: "add", payload: 2 },
    { kind: "ask", id: "b", to: "desk", type: "add", payload: 3 },
    ...Array.from({ length: 50 }, (_, index) => ({ kind: "ask", id: `c${index}`, to: "desk", type: "total" })),
  );
  await client.outcome("c49");
  expect(await client.outcome("a")).toEqual({ kind: "reply", id: "a" });
  expect((await client.outcome("b")).payload).toBe(6);
  expect(client.texts).toBeLessThan(26); // One for each turn: a busy machine cuts them into more. One by one they are 53.
});

test("P12: a stream has as many items as its client has granted", async () => {
  await using service = startService();
  const client = await new Client(service.url).welcome();
  client.send({ kind: "stream", id: "s", to: "desk", type: "ticks", payload: 5 });
  await client.ask("1", "desk", "total");
  expect(client.items("s")).toEqual([]);
  client.send({ kind: "credit", id: "s", count: 2 });
  await client.find(() => client.items("s").length === 2);
  await client.ask("2", "desk", "total");
  expect(client.items("s")).toEqual([1, 2]);
  client.send({ kind: "credit", id: "s", count: 10 });
  expect(await client.outcome("s")).toEqual({ kind: "end", id: "s" });
  expect(client.items("s")).toEqual([1, 2, 3, 4, 5]);
});

test("P7: a cancelled ask and a cancelled stream end on the other side", async () => {
  await using service = startService();
  const client = await new Client(service.url).welcome();
  client.send({ kind: "ask", id: "1", to: "desk", type: "wait" });
  client.send({ kind: "stream", id: "2", to: "desk", type: "pages", payload: { size: 1, count: 1e9 }, credit: 1 });
  await service.untilRunning(2);
  client.send({ kind: "cancel", id: "1" }, { kind: "cancel", id: "2" }, { kind: "cancel", id: "nobody" });
  await service.untilRunning(0);
  client.send({ kind: "ask", id: "1", to: "desk", type: "total" }); // Its id is free again.
  expect((await client.outcome("1")).kind).toBe("reply");
});

test("progress is told to a client that wants it", async () => {
  await using service = startService();
  const client = await new Client(service.url).welcome();
  client.send({ kind: "ask", id: "1", to: "desk", type: "work", wantsProgress: true });
  const told = await client.find(({ kind }) => kind === "progress");
  expect(told).toEqual({ kind: "progress", id: "1", done: 1, total: 4, note: "begun" });
  service.release();
  expect((await client.outcome("1")).kind).toBe("reply");
});

test("a failure has the problem that HTTP has for the same request", async () => {
  await using service = startService();
  const client = await new Client(service.url).welcome();
  for (const [index, [type, payload]] of (
    [
      ["add", "two"],
      ["fail", undefined],
      ["secret", undefined],
      ["__proto__", undefined],
    ] as const
  ).entries()) {
    const { problem } = await client.ask(String(index), "desk", type, payload);
    const response = await fetch(new URL(`/actors/desk/${type}`, service.url), {
      method: "POST",
      ...(payload !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(payload),
      }),
    });
    expect<unknown>(problem).toEqual(await response.json());
  }
  const { problem } = await client.ask("timeout", "desk", "wait", undefined, { timeLeft: 5 });
  expect(problem).toMatchObject({ status: 504, kind: "timeout", detail: '"wait" got no reply within 5 ms.' });
  expect((await client.ask("n", "nobody", "add")).problem?.["kind"]).toBe("not-found");
  expect((await client.ask("p", "__proto__", "add")).problem?.["kind"]).toBe("not-found");
  client.send({ kind: "stream", id: "s", to: "desk", type: "add", payload: 1, credit: 1 });
  expect((await client.outcome("s")).problem?.["kind"]).toBe("unknown-operation");
  expect((await client.ask("t", "desk", "ticks", 2)).problem?.["kind"]).toBe("unknown-operation");
  expect(JSON.stringify(client.frames)).not.toMatch(/inner|secret of/);
  expect(service.logged.join("\n")).toContain("a secret of the inside");
});

test("an answer that JSON cannot write fails alone, and is logged", async () => {
  await using service = startService();
  const client = await new Client(service.url).welcome();
  expect((await client.ask("1", "desk", "bigint")).problem).toMatchObject({ status: 500, kind: "handler-failed" });
  expect(service.logged.join("\n")).toContain("JSON cannot write it");
  expect((await client.ask("2", "desk", "total")).kind).toBe("reply");
});

test("P18: an answer beyond the bound fails alone; so does an item, which ends its stream", async () => {
  await using service = startService();
  const client = await new Client(service.url).welcome();
  const refused = { status: 413, kind: "payload-too-large" };
  expect((await client.ask("1", "desk", "big", 1_048_600)).problem).toMatchObject(refused);
  expect((await client.ask("2", "desk", "big", 1_000_000)).kind).toBe("reply");
  const pages = { size: 1_100_000, count: 1e9 };
  client.send({ kind: "stream", id: "3", to: "desk", type: "pages", payload: pages, credit: 2 });
  expect((await client.outcome("3")).problem).toMatchObject(refused);
  await service.untilRunning(0);
});

test("a stream of large items comes whole, one by one as there is room", async () => {
  await using service = startService();
  const client = await new Client(service.url).welcome();
  const pages = { size: 300_000, count: 40 };
  client.send({ kind: "stream", id: "1", to: "desk", type: "pages", payload: pages, credit: 1_000 });
  expect((await client.outcome("1")).kind).toBe("end");
  expect(client.items("1").map((item) => (item as string).length)).toEqual(new Array(40).fill(300_000));
});

test("handlers read who the caller is, and the trace of the message alone", async () => {
  const authenticate = () => ({ id: "ada", metadata: { team: "blue" } });
  await using service = startService({ authenticate });
  const client = await new Client(service.url).welcome();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const metadata = { caller: "eve", team: "red" };
  expect((await client.ask("1", "desk", "who", undefined, { metadata })).payload).toEqual({
    caller: "ada",
    team: "blue",
  });
  expect((await client.ask("2", "desk", "who", undefined, { traceparent })).payload).toEqual({
    caller: "ada",
    team: "blue",
    traceparent,
  });
  expect((await client.ask("3", "desk", "who", undefined, { traceparent: "caller: eve" })).payload).toEqual({
    caller: "ada",
    team: "blue",
  });
});

test("P2: messages stay in order while an asynchronous authorize decides about each by itself", async () => {
  const decide: (() => void)[] = [];
  const authorize = (_: unknown, __: string, operation: string) =>
    operation === "total" || new Promise<boolean>((resolve) => void decide.push(() => resolve(operation !== "who")));
  await using service = startService({ authorize });
  const client = await new Client(service.url).welcome();
  client.send(
    { kind: "ask", id: "1", to: "desk", type: "add", payload: 1 },
    { kind: "ask", id: "2", to: "desk", type: "who" },
    { kind: "stream", id: "3", to: "desk", type: "ticks", payload: 2 },
    { kind: "credit", id: "3", count: 5 },
    { kind: "ask", id: "4", to: "desk", type: "add", payload: 1 },
    { kind: "cancel", id: "4" },
    { kind: "ask", id: "5", to: "desk", type: "total" },
  );
  while (decide.length < 4) await new Promise((resolve) => setImmediate(resolve));
  for (const each of decide.reverse()) each();
  expect(await client.outcome("5")).toEqual({ kind: "reply", id: "5", payload: 1 });
  expect((await client.outcome("2")).problem).toMatchObject({ status: 403, kind: "forbidden" });
  expect((await client.outcome("3")).kind).toBe("end");
  expect(client.items("3")).toEqual([1, 2]);
  expect(client.frames.some(({ id }) => id === "4")).toBe(false);
});

test("an authorize that throws refuses its message alone, and is logged", async () => {
  const authorize = (_: unknown, __: string, operation: string) => {
    if (operation === "add") throw new Error("no database");
    return operation === "who" ? Promise.reject(new Error("no database")) : true;
  };
  await using service = startService({ authorize });
  const client = await new Client(service.url).welcome();
  expect((await client.ask("1", "desk", "add", 1)).problem).toMatchObject({ status: 500 });
  expect((await client.ask("2", "desk", "who")).problem).toMatchObject({ status: 500 });
  expect((await client.ask("3", "desk", "total")).payload).toBe(0);
  expect(service.logged.length).toBeGreaterThan(1);
});
