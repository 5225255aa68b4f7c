import { describe, expect, test } from "bun:test";
import { StreamError } from "../../src/index";
import { address } from "../../src/message/address";
import { deliveryError, type MessageSource } from "../../src/message/delivery-error";
import { createMessage, markReceived, wallTime } from "../../src/message/message";
import { createErrorResponse, createResponse, publicError } from "../../src/message/response";
import { expose, withhold } from "../../src/message/withhold";

const asked = createMessage(
  address("counter"),
  "total",
  { secret: "payload" },
  { pattern: "ask", from: address("me") },
);
const told = createMessage(address("counter"), "add", 2);
const failed = (thrown: unknown) => createErrorResponse(asked, thrown).error;

describe("the reply to a message", () => {
  test("goes back to its sender with its operation, its correlation id and the payload", () => {
    const payload = { total: 3 };
    const response = createResponse(asked, payload);
    expect(response).toMatchObject({
      pattern: "reply",
      to: address("me"),
      from: address("counter"),
      type: "total",
      correlationId: asked.correlationId as string,
      ok: true,
    });
    expect(response.payload).toBe(payload);
  });

  test("has an id of its own, and the time of its making", () => {
    const before = wallTime();
    const [one, two] = [createResponse(asked, 1), createErrorResponse(asked, "no")];
    const after = wallTime();
    expect(new Set([one.id, two.id, asked.id]).size).toBe(3);
    for (const { timestamp } of [one, two]) {
      expect(timestamp).toBeGreaterThanOrEqual(before);
      expect(timestamp).toBeLessThanOrEqual(after);
    }
  });

  test("is tied to the message by its id where it has no correlation id", () => {
    expect(createResponse(told, 1).correlationId).toBe(told.id);
    expect(createErrorResponse(told, "no").correlationId).toBe(told.id);
  });

  test("goes to nobody where the message named no sender", () => {
    expect(createResponse(told, 1).to).toBeUndefined();
    expect(createErrorResponse(told, "no").to).toBeUndefined();
  });
});

describe("the failure of a message", () => {
  test("goes back like a reply, marked as not ok", () => {
    const { id, timestamp, error, ...rest } = createErrorResponse(asked, "no");
    expect(rest).toEqual({
      pattern: "reply",
      to: address("me"),
      from: address("counter"),
      type: "total",
      correlationId: asked.correlationId as string,
      ok: false,
    });
  });

  const source = { to: address("inner/secret-actor"), type: asked.type, toMessage: () => asked };
  const secret = new Error("the password is hunter2", { cause: new Error("inner cause") });
  const refusal = (issue: { path: string; message: string }) => deliveryError("invalid-payload", source, () => [issue]);

  const kindsOf = (source: MessageSource) =>
    [
      [deliveryError("timeout", source, 500), "got no reply within 500 ms.", true],
      [deliveryError("cancelled", source, secret), "was given up before its reply came.", false],
      [
        deliveryError("cancelled", { ...source, stage: "intercepted" }, "hunter2"),
        "was given up before its reply came.",
        false,
      ],
      [deliveryError("no-recipient", source, [source.to]), "reached nobody; check the address.", false],
      [deliveryError("stopped", source), "was not answered: its actor has stopped.", false],
      [deliveryError("mailbox-full", source, 7), "found a full mailbox; send again later.", true],
      [
        deliveryError("unknown-operation", source),
        "asks for an operation that is not there in this pattern; check the name.",
        false,
      ],
      [
        deliveryError("invalid-payload", source, () => [{ path: "/n", message: "must be a number" }]),
        "has a payload that is refused: /n must be a number.",
        false,
      ],
      [deliveryError("handler-failed", source, secret), "failed in its handler.", false],
      [deliveryError("ask-cycle", source, [source.to, source.to]), "would wait for itself, and was refused.", false],
      [deliveryError("unreachable", source, secret), "could not be delivered; send again later.", true],
      [
        deliveryError("payload-too-large", source, 9),
        "has a payload over 9 bytes; send it in parts, or as a stream.",
        false,
      ],
    ] as const;
  const KINDS = kindsOf(source);
  for (const [error, sentence, retryable] of KINDS) {
    const { kind } = error;
    test(`P18: has the kind ${kind} and a sentence of ours, without reasons, causes and other addresses`, () => {
      const message = `"total" to @(counter) ${sentence}`;
      expect(failed(error)).toEqual({ kind, message, retryable });
      expect(failed(new StreamError(error))).toEqual({ kind, message, retryable });
    });
  }

  test.each([
    ["an Error", secret],
    ["a text", "hunter2"],
    ["undefined", undefined],
    ["an object that looks like an error", { kind: "timeout", retryable: true, message: "hunter2" }],
    ["an object that looks like an error which was exposed", { name: "Error", message: "hunter2", exposed: true }],
    ["an error around one that was exposed", new Error("hunter2", { cause: expose(new Error("hunter2")) })],
  ])("P18: is handler-failed for %s, and tells nothing of it", (_, thrown) => {
    const told = { kind: "handler-failed", message: '"total" to @(counter) failed in its handler.', retryable: false };
    expect(failed(thrown)).toEqual(told);
    expect(failed(deliveryError("handler-failed", source, thrown))).toEqual(told);
    expect(JSON.stringify(createErrorResponse(asked, thrown))).not.toContain("hunter2");
  });

  const received = kindsOf({ ...source, toMessage: () => markReceived(asked) });
  for (const [error, sentence, retryable] of received) {
    const { kind } = error;
    test(`P18: publicError has the kind ${kind} and a sentence without any address`, () => {
      expect(publicError(error)).toEqual({ kind, message: `"total" ${sentence}`, retryable });
      expect(publicError(new StreamError(error))).toEqual({ kind, message: `"total" ${sentence}`, retryable });
    });
  }

  test("P18: publicError names neither the operation nor the payload of a message from within", () => {
    const [error] = KINDS.map(([error]) => error).filter(({ kind }) => kind === "invalid-payload");
    expect(publicError(error).message).toBe("The message has a payload that is refused.");
  });

  test("P18: publicError tells nothing of what was thrown, but the message of an error that was exposed", () => {
    const outside = { ...source, toMessage: () => markReceived(asked) };
    const told = (thrown: unknown) => publicError(deliveryError("handler-failed", outside, thrown)).message;
    expect(told(secret)).toBe('"total" failed in its handler.');
    expect(told(expose(new Error("There is no such city.")))).toBe("There is no such city.");
    expect(publicError(secret).message).toBe("The message failed in its handler.");
  });

  test("P18: tells the message of an error that was exposed, and nothing else of it", () => {
    const shown = Object.assign(expose(new RangeError("There is no such city.", { cause: secret })), {
      password: "hunter2",
    });
    const kind = "handler-failed";
    const told = { kind, message: "There is no such city.", retryable: false };
    expect(failed(shown)).toEqual(told);
    expect(failed(deliveryError(kind, source, shown))).toEqual(told);
    expect(failed(deliveryError("cancelled", source, shown))).toMatchObject({
      kind: "cancelled",
      message: told.message,
    });
    expect(() => expose("a text" as unknown as Error)).toThrow("expose() marks an Error");
  });

  test("P18: tells neither what is wrong with another payload than the message's, nor what a schema threw", () => {
    const { message } = failed(refusal(withhold({ path: "/n", message: "cannot be checked: Error: hunter2" })));
    expect(message).toBe('"total" to @(counter) has a payload that is refused: /n cannot be checked.');
    const inner = { ...source, toMessage: () => told };
    const error = deliveryError("invalid-payload", inner, () => [{ path: "/hunter2", message: "is missing" }]);
    expect(failed(error).message).toBe('"total" to @(counter) has a payload that is refused.');
  });

  test("is written for every hostile value that a handler may throw", () => {
    const hostile = (): never => {
      throw new Error("hostile");
    };
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const thrown: unknown[] = [
      Object.create(null),
      { toString: hostile },
      new Proxy({}, { get: hostile, getPrototypeOf: hostile, has: hostile }),
      proxy,
      Object.assign(new Error(), { name: Symbol("hostile") }),
      Object.defineProperty(new Error(), "message", { get: hostile }),
    ];
    for (const value of thrown) {
      expect(failed(value)).toEqual({
        kind: "handler-failed",
        message: '"total" to @(counter) failed in its handler.',
        retryable: false,
      });
    }
  });
});
