import { describe, expect, test } from "bun:test";
import { address } from "../../src/message/address";
import { deliveryError } from "../../src/message/delivery-error";
import { createMessage } from "../../src/message/message";
import { createErrorResponse, createResponse } from "../../src/message/response";
import { wallTime } from "../../src/message/wall-time";

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

  test("keeps the kind, the sentence and the retryability of a delivery error", () => {
    const source = { to: asked.to, type: asked.type, toMessage: () => asked };
    const timeout = deliveryError("timeout", source, 500);
    expect(failed(timeout)).toEqual({ kind: "timeout", message: timeout.message, retryable: true });
    expect(failed(deliveryError("stopped", source))).toMatchObject({ kind: "stopped", retryable: false });
  });

  test.each([
    ["an Error", new RangeError("too wide"), "RangeError: too wide"],
    ["a text", "no", "no"],
    ["undefined", undefined, "undefined"],
    ["an object that looks like an error", { kind: "timeout", retryable: true }, "[object Object]"],
  ])("is handler-failed for %s", (_, thrown, message) => {
    expect(failed(thrown)).toEqual({ kind: "handler-failed", message, retryable: false });
  });

  test("leaks neither a stack, nor a cause, nor the payload, nor other fields of what was thrown", () => {
    const thrown = Object.assign(new Error("boom", { cause: new Error("inner cause") }), { password: "hunter2" });
    const source = { to: asked.to, type: asked.type, toMessage: () => asked };
    for (const error of [thrown, deliveryError("handler-failed", source, thrown)]) {
      const wire = JSON.stringify(createErrorResponse(asked, error));
      expect(wire).toContain("boom");
      for (const secret of ["inner cause", "hunter2", "secret", "response.test", "    at "]) {
        expect(wire).not.toContain(secret);
      }
    }
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
        message: "a value that cannot be shown",
        retryable: false,
      });
    }
  });
});
