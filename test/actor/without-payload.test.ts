import { expect, test } from "bun:test";
import { type AnyRef, type AskResult, defineProtocol, refSchema, type StreamOptions, Type } from "../../src/index";
import { testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Meter = defineProtocol("meter", {
  read: { reply: Type.Unknown() },
  ticks: { stream: Type.Unknown() },
});

/** A reference as one has it who does not go by its types. */
interface Untyped {
  ask(operation: string, first?: unknown, second?: unknown): Promise<AskResult>;
  offer(operation: string, first?: unknown, second?: unknown): Promise<AskResult<void>>;
  stream(operation: string, first?: unknown, second?: StreamOptions): AsyncIterable<unknown>;
}

function spawnMeter(
  { system }: Pick<ReturnType<typeof createTestSystem>, "system">,
  read: (...payload: unknown[]) => unknown,
): Untyped {
  // Handlers of Meter take nothing; what is in that place all the same is to be seen.
  const ref = system.spawn("meter", Meter, () => ({ read, *ticks() {} }));
  return ref as AnyRef as AnyRef & Untyped;
}

test("P6: an operation without a payload takes its options from the last of two arguments, whatever the first one is", async () => {
  const test = createTestSystem();
  const got: unknown[] = [];
  const meter = spawnMeter(test, (...payload) => {
    got.push(payload[0]);
    return new Promise(() => undefined);
  });
  const asked = [
    meter.ask("read", { timeout: 10 }),
    meter.ask("read", undefined, { timeout: 10 }),
    meter.ask("read", null, { timeout: 10 }),
    meter.ask("read", { timeout: 1 }, { timeout: 10 }),
    meter.offer("read", { timeout: 1 }, { timeout: 10 }),
  ];
  await test.clock.advance(9);
  expect(await Promise.race([...asked.slice(0, 4), "waiting"])).toBe("waiting");
  await test.clock.advance(1);
  const kinds = (await Promise.all(asked)).map((result) => (result.isErr() ? result.error.kind : "ok"));
  expect(kinds).toEqual(["timeout", "timeout", "timeout", "timeout", "ok"]);
  expect(got[0]).toBeUndefined();
});

test("a payload where only options can be is refused at once, with what to write", () => {
  const meter = spawnMeter(createTestSystem(), () => 1);
  for (const payload of ["a", 5, true]) {
    const sentence =
      /an object, such as .*An operation without a payload takes its options in the place of the payload/;
    expect(() => meter.ask("read", payload)).toThrow(sentence);
    expect(() => meter.offer("read", payload)).toThrow(sentence);
    expect(() => meter.stream("ticks", payload)).toThrow(sentence);
  }
});

test("a reference in a payload is refused where it would be called in another way than it takes", async () => {
  const { system } = createTestSystem({ validate: "always" });
  const Loaded = defineProtocol("loaded", { read: { payload: Type.Optional(Type.String()), reply: Type.Unknown() } });
  const Plain = defineProtocol("plain", { read: { reply: Type.Unknown() } });
  const Streams = defineProtocol("streams", { read: { stream: Type.Unknown() } });
  const Host = defineProtocol("host", { plain: { payload: refSchema(Plain) }, loaded: { payload: refSchema(Loaded) } });
  const host = system.spawn("host", Host, () => ({ plain() {}, loaded() {} }));
  const plain = system.spawn("plain", Plain, () => ({ read: () => 1 }));
  const loaded = system.spawn("loaded", Loaded, () => ({ read: () => 1 }));
  const streams = system.spawn("streams", Streams, () => ({ *read() {} }));
  const kindOf = async (operation: "plain" | "loaded", ref: AnyRef): Promise<string> =>
    (await host.ask(operation, ref as never)).match(
      () => "ok",
      (error) => error.kind,
    );
  expect([await kindOf("plain", plain), await kindOf("loaded", loaded)]).toEqual(["ok", "ok"]);
  for (const [operation, ref] of [
    ["plain", loaded],
    ["loaded", plain],
    ["plain", streams],
  ] as const) {
    expect(await kindOf(operation, ref)).toBe("invalid-payload");
  }
});
