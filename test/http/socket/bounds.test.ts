import { expect, test } from "bun:test";
import { Client, frameOf, openRaw } from "./client";
import { startService } from "./service";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("P18: what is no text of frames closes the socket with a code and a reason, and no other socket", async () => {
  await using service = startService();
  const other = await new Client(service.url).welcome();
  const ask = { kind: "ask", id: "1", to: "desk", type: "wait" };
  const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
  const cases: [string | Uint8Array, number, string][] = [
    [new Uint8Array([1, 2]), 1003, "Frames are texts of JSON: send no bytes."],
    ["", 1007, "A text is an array of frames."],
    ["{", 1007, "This is no valid JSON: check it with a JSON parser."],
    ["{}", 1007, "A text is an array of frames."],
    [deep, 1007, "The JSON is nested more than 64 levels deep: send it flatter."],
    [
      '[{"kind":"tell","to":"desk","type":"add","__proto__":{}}]',
      1007,
      'The JSON has a key "__proto__": leave it out.',
    ],
    ["[null]", 1007, "A frame is an object with a kind."],
    ['[["ask"]]', 1007, "A frame has an id: a text of 1 to 128 characters."],
    ['[{"kind":"toString","id":"1"}]', 1007, "There is no frame of that kind."],
    [JSON.stringify([{ ...ask, id: 1 }]), 1007, "A frame has an id: a text of 1 to 128 characters."],
    [JSON.stringify([{ ...ask, id: "x".repeat(129) }]), 1007, "A frame has an id: a text of 1 to 128 characters."],
    [JSON.stringify([{ ...ask, to: null }]), 1007, "A message has to and type, which are texts."],
    [JSON.stringify([{ ...ask, timeLeft: 0 }]), 1007, "timeLeft is a number of milliseconds above 0."],
    [JSON.stringify([{ ...ask, wantsProgress: 1 }]), 1007, "wantsProgress is true or false."],
    [JSON.stringify([{ ...ask, traceparent: {} }]), 1007, "traceparent is a text."],
    [JSON.stringify([{ ...ask, tracestate: 1 }]), 1007, "tracestate is a text."],
    [
      JSON.stringify([{ ...ask, kind: "stream", credit: -1 }]),
      1007,
      "The credit of a stream is a whole number from 0.",
    ],
    ['[{"kind":"credit","id":"1","count":1e999}]', 1007, "The count of a credit is a whole number from 1."],
    ['[{"kind":"subscribe","id":"1","topic":7}]', 1007, "A subscription names its topic."],
    ['[{"kind":"pong"}]', 1007, "A frame has an id: a text of 1 to 128 characters."],
    ['[{"kind":"authenticate","token":7}]', 1007, "A token is a text."],
    [JSON.stringify([ask, ask]), 1007, "The id of a message is in use: give each its own."],
    [JSON.stringify(new Array(1_001).fill(0)), 1008, "A text has at most 1000 frames: send several texts."],
    [`["${"x".repeat(1_050_000)}"]`, 1009, "A text has at most 1048576 bytes: send less."],
    [`["${"€".repeat(350_000)}"]`, 1009, "A text has at most 1048576 bytes: send less."],
  ];
  for (const [text, code, reason] of cases) {
    const client = await new Client(service.url).welcome();
    client.socket.send(text);
    expect(await client.closed).toEqual({ code, reason });
  }
  await service.untilRunning(0);
  const huge = await new Client(service.url).welcome();
  huge.socket.send("x".repeat(2_000_000));
  expect((await huge.closed).code).toBeOneOf([1006, 1009]); // Bun cuts it off before all of it has come.
  expect((await other.ask("1", "desk", "total")).payload).toBe(0);
});

test("P18: messages beyond those that may be under way are refused, and the others go on", async () => {
  await using service = startService({ socket: { messages: 10 } });
  const client = await new Client(service.url).welcome();
  client.send(
    ...Array.from({ length: 15 }, (_, index) => ({ kind: "ask", id: `w${index}`, to: "desk", type: "wait" })),
  );
  expect((await client.outcome("w14")).problem).toMatchObject({ status: 429, kind: "too-many-requests" });
  expect(client.frames.filter(({ kind }) => kind === "failure")).toHaveLength(5);
  await service.untilRunning(10);
  service.release();
  expect((await client.outcome("w9")).kind).toBe("reply");
  expect((await client.ask("later", "desk", "total")).kind).toBe("reply");
});

test("P5: a flood of frames leaves room for other sockets and timers, and all of it is handled in order", async () => {
  await using service = startService();
  const [flooder, other] = [await new Client(service.url).welcome(), await new Client(service.url).welcome()];
  const frames = Array.from({ length: 1_000 }, () => ({ kind: "tell", to: "desk", type: "add", payload: 1 }));
  for (let text = 0; text < 10; text++) flooder.send(...frames);
  const before = (await other.ask("1", "desk", "total")).payload;
  expect((await flooder.ask("1", "desk", "total")).payload).toBe(10_000);
  expect(before).toBeLessThan(10_000);
});

test("P18: a client that sends without end, faster than it is taken, is closed with 1008, and nobody else", async () => {
  await using service = startService();
  const other = await new Client(service.url).welcome();
  const raw = await openRaw(service.url);
  const ended = new Promise((resolve) => raw.once("close", resolve));
  raw.on("error", () => undefined);
  const flood = Buffer.concat(new Array(20_000).fill(frameOf('[{"kind":"cancel","id":"nobody"}]')));
  const write = (): void => void (raw.destroyed || raw.write(flood, () => setImmediate(write)));
  write();
  let told = "";
  raw.on("data", (bytes) => {
    told += bytes.toString("latin1");
  });
  raw.resume();
  await ended;
  expect(told).toContain("Too much was sent at once");
  expect((await other.ask("1", "desk", "total")).payload).toBe(0);
});

test("P18: streams of a client that does not read wait, its answers end the socket, and others are untouched", async () => {
  await using service = startService();
  const other = await new Client(service.url).welcome();
  const raw = await openRaw(service.url);
  const ended = new Promise((resolve) => raw.once("close", resolve));
  raw.on("error", () => undefined);
  const say = (...frames: object[]): void => void raw.write(frameOf(JSON.stringify(frames)));
  const pages = { size: 50_000, count: 1e9 };
  say({ kind: "stream", id: "s", to: "desk", type: "pages", payload: pages, credit: 1e9 });
  say({ kind: "subscribe", id: "t", topic: "changes" });
  await service.untilRunning(1);
  await untilStill(() => service.made, other);
  expect(service.made * 50_000).toBeLessThan(20_000_000); // The buffers of the kernel, and ours.
  for (let item = 0; item < 10_000; item++) service.changes.publish("y".repeat(1_000)); // Left out, and not kept.
  await other.ask("flush", "desk", "total");
  expect(service.serving.server.pendingWebSockets).toBe(2);
  for (let id = 0; id < 20; id++) say({ kind: "ask", id: `a${id}`, to: "desk", type: "big", payload: 200_000 });
  await service.untilRunning(0); // The socket has ended, and its stream.
  expect((await other.ask("last", "desk", "total")).kind).toBe("reply");
  raw.resume();
  await ended;
});

test("a client that reads again gets the rest of its stream, and is told how many items of a topic it missed", async () => {
  await using service = startService();
  const other = await new Client(service.url).welcome();
  const raw = await openRaw(service.url);
  const say = (...frames: object[]): void => void raw.write(frameOf(JSON.stringify(frames)));
  say({ kind: "subscribe", id: "t", topic: "changes" });
  say({ kind: "stream", id: "s", to: "desk", type: "pages", payload: { size: 50_000, count: 600 }, credit: 1e9 });
  await service.untilRunning(1);
  await untilStill(() => service.made, other);
  expect(service.made).toBeLessThan(500);
  for (let item = 0; item < 1_000; item++) service.changes.publish(item);
  await other.ask("flush", "desk", "total");
  let told = "";
  raw.on("data", (bytes) => {
    told += bytes.toString("latin1");
  });
  raw.resume();
  await service.untilRunning(0);
  while (!told.includes('"kind":"end"')) await turn();
  expect(told).toContain('{"kind":"missed","id":"t","count":1000}');
  expect(told.match(/x{50000}/g)).toHaveLength(600);
  raw.destroy();
});

test("P12: many streams of a client that reads slowly wait for it, and each comes whole", async () => {
  await using service = startService();
  const other = await new Client(service.url).welcome();
  const raw = await openRaw(service.url);
  let told = "";
  raw.on("data", (bytes) => {
    told += bytes.toString("latin1");
  });
  raw.pause();
  const pages = { size: 60_000, count: 6 };
  for (let id = 0; id < 60; id++) {
    const stream = { kind: "stream", id: `s${id}`, to: "desk", type: "pages", payload: pages, credit: 1_000 };
    raw.write(frameOf(JSON.stringify([stream])));
  }
  await untilStill(() => service.made, other);
  const ended = new Promise((resolve) => raw.once("close", resolve));
  raw.resume();
  const ends = () => told.split('"kind":"end"').length - 1;
  while (ends() < 60 && service.serving.server.pendingWebSockets === 2) await turn();
  expect(ends()).toBe(60);
  expect(told.match(/x{60000}/g)).toHaveLength(360);
  raw.destroy();
  await ended;
});

test("nothing more comes of a stream that was cancelled while its items waited, where its id is used again", async () => {
  await using service = startService();
  const other = await new Client(service.url).welcome();
  const raw = await openRaw(service.url);
  const say = (...frames: object[]): void => void raw.write(frameOf(JSON.stringify(frames)));
  say({ kind: "stream", id: "s", to: "desk", type: "pages", payload: { size: 600_000, count: 100 } });
  await service.untilRunning(1);
  await untilStill(() => service.made, other); // It is ahead now, so that several items go together.
  say({ kind: "credit", id: "s", count: 1e9 });
  await untilStill(() => service.made, other);
  say({ kind: "cancel", id: "s" }, { kind: "stream", id: "s", to: "desk", type: "ticks", payload: 3, credit: 10 });
  await service.untilRunning(0);
  await other.ask("flush", "desk", "total");
  let told = "";
  raw.on("data", (bytes) => {
    told += bytes.toString("latin1");
  });
  raw.resume();
  while (!told.includes('"kind":"end"')) await turn();
  await other.ask("flush again", "desk", "total");
  const [before = "", after] = told.split(/"items":\[1\b/);
  expect(before).toContain('"items":["xxx');
  expect(after).toBeString();
  expect(after).not.toContain("xxx");
  raw.destroy();
});

test("P18: ten thousand pings, empty frames and fragments cost nobody else, and leave the socket as it was", async () => {
  await using service = startService();
  const raw = await openRaw(service.url);
  let told = "";
  raw.on("data", (bytes) => {
    told += bytes.toString("latin1");
  });
  raw.resume();
  const ping = frameOf("are you there", 9);
  for (let each = 0; each < 100; each++) raw.write(Buffer.concat(new Array(100).fill(ping)));
  raw.write(frameOf("[]"));
  const text = '[{"kind":"ask","id":"1","to":"desk","type":"total"}]';
  raw.write(frameOf(text.slice(0, 5), 1, false));
  for (const letter of text.slice(5, -1)) raw.write(frameOf(letter, 0, false));
  raw.write(frameOf(text.slice(-1), 0, true));
  while (!told.includes('"kind":"reply"')) await turn();
  expect(told.split("are you there").length - 1).toBe(10_000);
  raw.destroy();
});

/** Resolves once a number has not changed for some turns of both sides. */
async function untilStill(read: () => number, client: Client): Promise<void> {
  let [before, same] = [-1, 0];
  for (let round = 0; same < 50; round++) {
    await client.ask(`still ${Math.random()} ${round}`, "desk", "total");
    same = read() === before ? same + 1 : 0;
    before = read();
  }
}
