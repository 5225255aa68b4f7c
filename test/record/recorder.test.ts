import { expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { createSystem, defineProtocol, type SystemEvent, Type } from "../../src/index";
import { recorder, redact } from "../../src/record/index";
import { testSystems } from "../actor/test-system";
import { folders, linesIn, record, story } from "./recorded";

const { createTestSystem } = testSystems();
const folder = folders();

const Any = defineProtocol("any", {
  say: { payload: Type.Unknown(), reply: Type.Unknown() },
  note: { payload: Type.Unknown() },
});
const echo = () => ({ say: (value: unknown) => value, note() {} });

test("off installs nothing and opens no file", async () => {
  const { system } = createTestSystem();
  const installed: string[] = [];
  const watched = {
    ...system,
    onSend: () => installed.push("onSend"),
    around: () => installed.push("around"),
    onShutdown: () => installed.push("onShutdown"),
    router: { ...system.router, deadLetters: { subscribe: () => installed.push("deadLetters") } },
  };
  const path = join(folder(), "run.ndjson");
  const recording = recorder(watched as never, { to: path, mode: "off", seed: 7 });
  const ref = recording.outside("echo", Any, () => system.spawn("echo", Any, echo));
  expect((await ref.ask("say", 1)).unwrapOr(0)).toBe(1);
  expect(recording.counts).toEqual({ messages: 0, open: 0, lines: 0, bytes: 0, dropped: { lines: 0, messages: 0 } });
  expect({ isStopped: recording.isStopped, installed, hasFile: existsSync(path) }).toEqual({
    isStopped: true,
    installed: [],
    hasFile: false,
  });
  await recording.close();
});

test("random() is the same for the same seed, in each mode, whatever is sampled", () => {
  const numbers = (mode: "off" | "record"): number[] => {
    const { system } = createTestSystem();
    const recording = recorder(system, { to: join(folder(), "run.ndjson"), mode, seed: 7, sample: 0.5 });
    const ref = system.spawn("echo", Any, echo);
    return [0, 1, 2].map(() => {
      ref.tell("note", 1);
      return recording.random();
    });
  };
  expect(numbers("off")).toEqual(numbers("record"));
  expect(new Set(numbers("off")).size).toBe(3);
});

test("the header says what was recorded, and by which envoi", async () => {
  const { system } = createTestSystem({ name: "shop" });
  const { lines } = record(system, folder(), {
    seed: 7,
    include: ["@(tools/*)"],
    transforms: [redact("payload.email")],
    keep: ["tokens"],
  });
  expect((await lines())[0]).toMatchObject({
    envoi: version,
    runtime: `bun ${Bun.version}`,
    system: "shop",
    seed: 7,
    include: ["@(tools/*)"],
    transforms: [expect.stringContaining("payload.email")],
  });
});

test("a shutdown closes the recording and waits for it; what was not handled has its end", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const { path, recording } = record(system, folder());
  const gate = Promise.withResolvers<unknown>();
  const ref = system.spawn("slow", Any, () => ({ say: () => gate.promise, note() {} }));
  const asks = [ref.ask("say", 1), ref.ask("say", 2)];
  await clock.settle();
  const report = system.shutdown();
  gate.resolve("late");
  await report;
  await Promise.all(asks);
  takeLog();
  expect(recording.isStopped).toBe(true);
  expect(story(linesIn(path))).toEqual(['1 ask @(slow) say 1: handled "late"', "2 ask @(slow) say 2: dead stopped"]);
  expect(linesIn(path).at(-1)).toMatchObject({ kind: "close", open: 0 });
});

test("the last line says how many messages were still being handled", async () => {
  const { system } = createTestSystem();
  const { lines, recording } = record(system, folder());
  const gate = Promise.withResolvers<unknown>();
  const ref = system.spawn("slow", Any, () => ({ say: () => gate.promise, note() {} }));
  const asked = ref.ask("say", 1);
  await Promise.resolve();
  expect(recording.counts).toMatchObject({ messages: 1, open: 1, lines: 1 });
  const all = await lines();
  expect(story(all)).toEqual(["1 ask @(slow) say 1: -"]);
  expect(all.at(-1)).toMatchObject({ kind: "close", open: 1 });
  gate.resolve(7);
  expect((await asked).unwrapOr(0)).toBe(7);
});

test("a value that cannot be written fails nothing: getters that throw, proxies, circles, great depth", async () => {
  const { system } = createTestSystem();
  const { lines } = record(system, folder());
  const ref = system.spawn("echo", Any, echo);
  const circle: { own?: unknown } = {};
  circle.own = circle;
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = { deep };
  const fail = (): never => {
    throw new Error("no");
  };
  const hostile: unknown[] = [
    {
      get secret() {
        return fail();
      },
    },
    new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail, has: fail, getOwnPropertyDescriptor: fail }),
    circle,
    deep,
    { toJSON: fail },
    () => 1,
    Symbol("s"),
    1n,
    Number.NaN,
    Object.create(null),
    "\u2028\n\ud800",
  ];
  const other = createTestSystem().system.spawn("echo", Any, echo);
  for (const [index, value] of hostile.entries()) {
    const [reply, unrecorded] = [await ref.ask("say", value), await other.ask("say", value)];
    expect({ index, isOk: reply.isOk() }).toEqual({ index, isOk: unrecorded.isOk() });
    if (reply.isOk()) expect(Object.is(reply.value, value)).toBe(true);
  }
  const all = await lines();
  expect(all.filter(({ kind }) => kind === "message")).toHaveLength(hostile.length);
  expect(all.filter(({ kind, outcome }) => kind === "end" && outcome !== undefined)).toHaveLength(hostile.length);
});

test("metadata of a stranger that throws fails nothing", async () => {
  const { system, takeLog } = createTestSystem();
  const { recording } = record(system, folder());
  const ref = system.spawn("echo", Any, echo);
  const metadata = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("no");
      },
    },
  );
  const message = { ...{ id: "1", pattern: "ask", to: ref.address, type: "say", payload: 1, timestamp: 0 }, metadata };
  const reply = await system.router.ask(message as never);
  await recording.close();
  takeLog();
  const unrecorded = await system.router.ask(message as never);
  takeLog();
  expect(reply.isOk()).toBe(unrecorded.isOk());
});

/** Bytes of the heap that are in use. */
function heap(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
}

test("a flood of 200,000 messages is bounded in memory, and what is written and dropped is what was sent", async () => {
  const system = createSystem();
  const events: SystemEvent[] = [];
  system.events.subscribe((event) => events.push(event));
  const { path, recording } = record(system, folder(), { maxBuffer: 1_000_000 });
  let handled = 0;
  const ref = system.spawn("sink", Any, () => ({ say: (value) => value, note: () => void handled++ }));
  const heapBefore = heap();
  for (let sent = 0; sent < 200_000; sent++) ref.tell("note", { sent, text: "some text that takes its room" });
  const { counts } = recording;
  expect(counts.messages + counts.dropped.messages).toBe(200_000);
  expect(counts.dropped.messages).toBeGreaterThan(150_000);
  expect(counts.bytes).toBeLessThan(1_100_000);
  await ref.ask("say", "done");
  expect(handled).toBe(200_000);
  expect(heap() - heapBefore).toBeLessThan(16_000_000); // The lines alone are 30 MB.
  await recording.close();
  const all = linesIn(path);
  const sum = (member: "lines" | "messages"): number =>
    all.filter(({ kind }) => kind === "dropped").reduce((total, line) => total + Number(line[member]), 0);
  const messages = all.filter(({ kind }) => kind === "message").length;
  expect(messages + sum("messages")).toBe(200_001);
  expect(recording.counts.dropped).toEqual({ lines: sum("lines"), messages: sum("messages") });
  expect(recording.counts.messages).toBe(messages);
  await system.shutdown();
  const told = events.filter(({ kind }) => kind === "record:dropped");
  expect(told.length).toBeGreaterThan(0);
});

test("trouble with the file stops the recording with one line in the log and an event, and nothing else", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const events: SystemEvent[] = [];
  system.events.subscribe((event) => events.push(event));
  const at = folder();
  const { recording, path } = record(system, at, { rotate: { bytes: 500 } });
  mkdirSync(join(at, "run.2.ndjson")); // The next part cannot be made.
  const ref = system.spawn("echo", Any, echo);
  for (let n = 0; !recording.isStopped; n++) {
    expect((await ref.ask("say", n)).unwrapOr(-1)).toBe(n);
    await clock.advance(5);
    await Bun.sleep(0);
  }
  expect((await ref.ask("say", "goes on")).unwrapOr("")).toBe("goes on");
  await clock.settle();
  const told = takeLog().map(({ level, message }) => `${level} ${message}`);
  expect(told).toEqual([expect.stringMatching(/^error envoi: The recording .* stopped, and nothing else did/)]);
  const stops = events.filter(({ kind }) => kind === "record:stopped");
  expect(stops).toEqual([
    { kind: "record:stopped", address: "@(recorder)", detail: expect.objectContaining({ path: expect.any(String) }) },
  ]);
  await recording.close();
  const kept = linesIn(path).filter(({ kind }) => kind !== "header").length;
  expect(recording.counts.lines).toBe(kept);
});

test("misspelt and invalid options are refused, before there is a file", () => {
  const { system } = createTestSystem();
  const to = join(folder(), "run.ndjson");
  const refused = (options: object): void => {
    expect(() => recorder(system, options as never)).toThrow();
    expect(existsSync(to)).toBe(false);
  };
  refused({});
  refused({ to: "" });
  refused({ to, mod: "off" });
  refused({ to, mode: "on" });
  refused({ to, include: ["tools/*"] });
  refused({ to, sample: 2 });
  refused({ to, seed: 0.5 });
  refused({ to, rotate: { size: 1 } });
  refused({ to, compress: "gzip" });
  refused({ to, maxBuffer: 0 });
  refused({ to, keep: ["nothing"] });
  refused({ to, key: "" });
  refused({ to, limits: { depth: 0 } });
});

test("an actor outside has a name, and is a reference", async () => {
  const { system } = createTestSystem();
  const { recording } = record(system, folder());
  expect(() => recording.outside("", Any, () => system.spawn("a", Any, echo))).toThrow("has a name");
  expect(() => recording.outside("model", Any, () => ({}) as never)).toThrow("gives a reference");
  expect(() => recording.outside("model", Any, 7 as never)).toThrow("takes the function");
  await recording.close();
});

test("a wrong keep or transform is named, with what to write", () => {
  const { system } = createTestSystem();
  const begin = (more: object) => () => recorder(system, { to: join(folder(), "run.ndjson"), ...more });
  expect(begin({ keep: ["cookies", "token"] })).toThrow('"token" is none: write "tokens".');
  expect(begin({ transforms: [redact("payload.a"), "payload.email"] })).toThrow(
    '"payload.email" is none: write redact("payload.email").',
  );
});

test("a recording says its path: that of its first part, as it is on disk", async () => {
  const { system } = createTestSystem();
  const to = join(folder(), "run.ndjson");
  const [first, second, third] = [
    recorder(system, { to }),
    recorder(system, { to }),
    recorder(system, { to: `${to.slice(0, -7)}.log`, compress: "zstd" }),
  ];
  expect([first.path, second.path]).toEqual([to, to.replace("run", "run-2")]);
  expect(existsSync(third.path ?? "")).toBe(true);
  expect(third.path).toEndWith(".log.zst");
  expect(recorder(system, { to, mode: "off" }).path).toBeUndefined();
  await Promise.all([first.close(), second.close(), third.close()]);
});
