import { describe, expect, test } from "bun:test";
import { type Address, address } from "../../src/message/address";
import { createMessage, type Pattern, wallTime } from "../../src/message/message";

const echo = address("echo");

describe("a message", () => {
  test("is plain data with the same fields in the same order, with options or without", () => {
    const fields = ["id", "pattern", "to", "from", "type", "payload", "correlationId", "timestamp", "metadata"];
    expect(Object.keys(createMessage(echo, "say", "hi"))).toEqual(fields);
    expect(Object.keys(createMessage(echo, "say", "hi", {}))).toEqual(fields);
    expect(Object.keys(createMessage(echo, "say", "hi", { pattern: "ask", metadata: { trace: 1 } }))).toEqual(fields);
    expect(Object.getPrototypeOf(createMessage(echo, "say", "hi"))).toBe(Object.prototype);
  });

  test("is a tell, without a sender, a correlation id or metadata, unless its options say so", () => {
    expect(createMessage(echo, "say", "hi")).toMatchObject({
      pattern: "tell",
      to: echo,
      from: undefined,
      type: "say",
      payload: "hi",
      correlationId: undefined,
      metadata: undefined,
    });
    expect(createMessage(echo, "say", "hi", {})).toMatchObject({ pattern: "tell", correlationId: undefined });
  });

  test("keeps its id when it is spread, cloned or written as JSON", () => {
    const message = createMessage(echo, "say", { text: "hi" });
    expect({ ...message }.id).toBe(message.id);
    expect(structuredClone(message)).toEqual(message);
    expect(JSON.parse(JSON.stringify(message)).id).toBe(message.id);
  });

  test("has an id of its own", () => {
    expect(createMessage(echo, "say", 1).id).not.toBe(createMessage(echo, "say", 1).id);
    expect(createMessage(echo, "say", 1, {}).id).not.toBe(createMessage(echo, "say", 1, {}).id);
  });

  test("holds the very payload that it was given", () => {
    const payload = { deep: [1] };
    expect(createMessage(echo, "say", payload).payload).toBe(payload);
    expect(createMessage(echo, "say", payload, {}).payload).toBe(payload);
  });

  test("takes its sender and metadata from the options", () => {
    const metadata = { trace: "4bf92f35" };
    const message = createMessage(echo, "say", "hi", { from: address("me"), metadata });
    expect(message.from).toBe(address("me"));
    expect(message.metadata).toEqual(metadata);
  });

  test("copies its metadata at the call, also when it is frozen: a getter in it does not run again", () => {
    let readings = 0;
    const given = Object.freeze({
      get reading() {
        return ++readings;
      },
    });
    const { metadata } = createMessage(echo, "say", "hi", { metadata: given });
    expect([metadata?.["reading"], metadata?.["reading"], readings]).toEqual([1, 1, 1]);
    expect(Object.isFrozen(metadata)).toBe(true);
  });

  test.each<Pattern>(["ask", "stream"])("that is sent as %s has a correlation id of its own", (pattern) => {
    const [one, two] = [createMessage(echo, "say", 1, { pattern }), createMessage(echo, "say", 1, { pattern })];
    expect(one.pattern).toBe(pattern);
    expect(one.correlationId).toStartWith("c-");
    expect(one.correlationId).not.toBe(two.correlationId);
  });

  test("keeps the correlation id that it is given, in every pattern", () => {
    for (const pattern of ["tell", "ask", "stream"] as const) {
      expect(createMessage(echo, "say", 1, { pattern, correlationId: "mine" }).correlationId).toBe("mine");
    }
  });

  test("is stamped with the wall time of its making", () => {
    const before = wallTime();
    const stamps = [createMessage(echo, "say", 1).timestamp, createMessage(echo, "say", 1, {}).timestamp];
    const after = wallTime();
    for (const stamp of stamps) {
      expect(stamp).toBeGreaterThanOrEqual(before);
      expect(stamp).toBeLessThanOrEqual(after);
    }
  });

  test.each([0, 1_700_000_000_000, -1])("P15: takes the timestamp %d from its options", (timestamp) => {
    expect(createMessage(echo, "say", 1, { timestamp }).timestamp).toBe(timestamp);
  });
});

describe("createMessage() refuses at once", () => {
  test.each([
    ["an id that is no address yet", "echo"],
    ["an empty text", ""],
    ["half an address", "@echo"],
  ])("%s, and says how to make an address of it", (_, to) => {
    expect(() => createMessage(to as Address, "say", 1)).toThrow(TypeError);
    expect(() => createMessage(to as Address, "say", 1)).toThrow(`make one with address("${to}")`);
  });

  test.each([[undefined], [null], [7], [{}], [["@(echo)"]], [Symbol("echo")]])("%p for an address", (to) => {
    expect(() => createMessage(to as unknown as Address, "say", 1)).toThrow(TypeError);
    expect(() => createMessage(to as unknown as Address, "say", 1)).toThrow('make one with address("id")');
  });

  test.each([[""], [undefined], [null], [7], [{}], [Symbol("say")]])("%p for a type", (type) => {
    expect(() => createMessage(echo, type as string, 1)).toThrow(TypeError);
    expect(() => createMessage(echo, type as string, 1)).toThrow("A message to @(echo) needs a type");
  });
});

test("a pattern or a sender that is none is refused at once", () => {
  const to = address("echo");
  expect(() => createMessage(to, "say", 1, { pattern: "shout" as never })).toThrow('"tell", "ask" or "stream"');
  expect(() => createMessage(to, "say", 1, { from: "me" as never })).toThrow("not an address to be from");
});
