import { describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import { address } from "../../src/message/address";
import { isErrorKind } from "../../src/message/create-error";
import { type DeliveryError, deliveryError, isDeliveryError } from "../../src/message/delivery-error";
import { createMessage, type Message } from "../../src/message/message";
import { sentenceOf } from "../../src/message/sentence-of";

class Source {
  readonly to = address("workers/3");
  readonly type = "resize";
  made = 0;
  message: Message | undefined;

  toMessage(): Message {
    this.made++;
    this.message ??= createMessage(this.to, this.type, { secret: "payload" });
    return this.message;
  }
}

const issues = [
  { path: "", message: "must be an object" },
  { path: "/width", message: "must be a number" },
];
const source = new Source();
const CASES: readonly (readonly [DeliveryError["kind"], DeliveryError, sentence: string, retryable: boolean])[] = [
  [
    "timeout",
    deliveryError("timeout", source, 500),
    "got no reply within 500 ms; ask with a longer timeout, or look why the handler is slow.",
    true,
  ],
  [
    "cancelled",
    deliveryError("cancelled", source, new DOMException("The user left", "AbortError")),
    "was cancelled by its signal: AbortError: The user left",
    false,
  ],
  [
    "no-recipient",
    deliveryError("no-recipient", source),
    "reached nobody; spawn or register an actor there first, or check the address.",
    false,
  ],
  [
    "stopped",
    deliveryError("stopped", source),
    "was not handled: the actor has stopped, and this reference stays dead; spawn it again, and send by the new reference.",
    false,
  ],
  [
    "mailbox-full",
    deliveryError("mailbox-full", source, 100),
    "found a full mailbox (capacity 100); send again later.",
    true,
  ],
  [
    "mailbox-full",
    deliveryError("mailbox-full", source, { unread: 100 }),
    "found 100 messages that the other side has not read yet, which is the most; send again later.",
    true,
  ],
  [
    "unknown-operation",
    deliveryError("unknown-operation", source),
    "asks for an operation that the actor does not have in this pattern; check the name against its protocol.",
    false,
  ],
  [
    "invalid-payload",
    deliveryError("invalid-payload", source, () => issues),
    "has a payload that its schema refuses: the payload must be an object; /width must be a number",
    false,
  ],
  [
    "handler-failed",
    deliveryError("handler-failed", source, new RangeError("too wide")),
    "failed in its handler: RangeError: too wide",
    false,
  ],
  [
    "ask-cycle",
    deliveryError("ask-cycle", source, [address("a"), address("b"), address("a")]),
    "would wait for itself: @(a) → @(b) → @(a); use tell for one of these.",
    false,
  ],
  [
    "unreachable",
    deliveryError("unreachable", source, "connection reset"),
    "could not leave: connection reset; send again once the connection is back.",
    true,
  ],
  [
    "unreachable",
    deliveryError("unreachable", source, "The connection is closed."),
    "could not leave: The connection is closed; send again once the connection is back.",
    true,
  ],
  [
    "unreachable",
    deliveryError("unreachable", source, Object.assign(new Error("The process has ended."), { hadLeft: true })),
    "had left when the other side ended (The process has ended): its handler may have begun; send it again only if it may be handled twice.",
    true,
  ],
  [
    "unreachable",
    deliveryError("unreachable", source, Object.assign(new Error("its actor is away."), { hasArrived: true })),
    "was not handled: its actor is away; send it again later.",
    true,
  ],
  [
    "payload-too-large",
    deliveryError("payload-too-large", source, 1_024),
    "has a payload over 1024 bytes; send it in parts, or as a stream.",
    false,
  ],
];

describe("a delivery error", () => {
  test.each([...CASES])("of the kind %s says what happened, to which address, and what to do", (kind, error, end) => {
    expect(error.kind).toBe(kind);
    expect(error.message).toBe(`"resize" to @(workers/3) ${end}`);
    expect(String(error)).toBe(`${kind}: ${error.message}`);
    expect(inspect(error)).toBe(String(error));
  });

  test.each([...CASES])("of the kind %s tells whether to try again", (_kind, error, _sentence, retryable) => {
    expect(error.retryable).toBe(retryable);
  });

  test.each([...CASES])("of the kind %s names where it was sent and what it asked for", (_, error) => {
    expect(error.address).toBe(address("workers/3"));
    expect(error.operation).toBe("resize");
  });

  test.each([...CASES])("of the kind %s is written as JSON without the payload, the cause or a stack", (_, error) => {
    const { kind, message, retryable, address, operation } = error;
    expect(JSON.parse(JSON.stringify(error))).toEqual({ kind, message, retryable, address, operation });
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  test("has the detail of its own kind", () => {
    const cause = new Error("boom");
    expect(deliveryError("timeout", source, 500).timeout).toBe(500);
    expect(deliveryError("cancelled", source, cause).reason).toBe(cause);
    expect(deliveryError("mailbox-full", source, 100).capacity).toBe(100);
    expect(deliveryError("mailbox-full", source, { unread: 100 }).capacity).toBe(100);
    expect(deliveryError("invalid-payload", source, () => issues).issues).toBe(issues);
    expect(deliveryError("handler-failed", source, cause).cause).toBe(cause);
    expect(deliveryError("ask-cycle", source, [address("a")]).path).toEqual([address("a")]);
    expect(deliveryError("unreachable", source, cause).cause).toBe(cause);
    expect(deliveryError("payload-too-large", source, 9).limit).toBe(9);
  });

  test("has no detail of another kind", () => {
    const details = ["timeout", "reason", "capacity", "issues", "cause", "path", "limit"] as const;
    const had = CASES.map(([kind, error]) => {
      const all = error as unknown as Record<(typeof details)[number], unknown>;
      return [kind, details.filter((detail) => all[detail] !== undefined)] as const;
    });
    expect(Object.fromEntries(had)).toEqual({
      timeout: ["timeout"],
      cancelled: ["reason"],
      "no-recipient": [],
      stopped: [],
      "mailbox-full": ["capacity"],
      "unknown-operation": [],
      "invalid-payload": ["issues"],
      "handler-failed": ["cause"],
      "ask-cycle": ["path"],
      unreachable: ["cause"],
      "payload-too-large": ["limit"],
    });
  });

  test("makes the message that it is about only when it is read, and hands that one back", () => {
    const own = new Source();
    const error = deliveryError("stopped", own);
    void [error.kind, error.message, error.retryable, JSON.stringify(error), String(error)];
    expect(own.made).toBe(0);
    expect(error.undelivered).toBe(own.toMessage());
  });

  test("finds the issues of a payload only when they are read", () => {
    let found = 0;
    const error = deliveryError("invalid-payload", source, () => {
      found++;
      return issues;
    });
    void [error.kind, error.retryable, error.address];
    expect(found).toBe(0);
    expect(error.issues).toEqual(issues);
    expect(found).toBe(1);
  });
});

describe("isDeliveryError()", () => {
  test.each([...CASES])("knows an error of the kind %s", (_, error) => {
    expect(isDeliveryError(error)).toBe(true);
  });

  test.each([
    ["its JSON", JSON.parse(JSON.stringify(CASES[0]?.[1]))],
    ["an Error", new Error("timeout")],
    ["a text", "timeout"],
    ["null", null],
    ["undefined", undefined],
    ["an object with its prototype alone", Object.create(Object.getPrototypeOf(CASES[0]?.[1]))],
  ])("is false for %s", (_, value) => {
    expect(isDeliveryError(value)).toBe(false);
  });

  test("is false for a revoked proxy, and does not throw", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(isDeliveryError(proxy)).toBe(false);
  });
});

describe("what was thrown, as the end of a sentence", () => {
  test.each([
    ["an Error", new RangeError("too wide"), "RangeError: too wide"],
    ["an Error without a message", new RangeError(), "RangeError"],
    ["a text", "boom", "boom"],
    ["a number", 7, "7"],
    ["undefined", undefined, "undefined"],
    ["a symbol", Symbol("boom"), "Symbol(boom)"],
  ])("names %s", (_, thrown, sentence) => {
    expect(sentenceOf(thrown)).toBe(sentence);
  });

  test.each([
    ["an object without a prototype", Object.create(null)],
    [
      "an object whose toString throws",
      {
        toString() {
          throw new Error("hostile");
        },
      },
    ],
    ["an Error whose message is a symbol", Object.assign(new Error(), { message: Symbol("hostile") })],
    ["an Error without a message whose name is a symbol", Object.assign(new Error(), { name: Symbol("hostile") })],
    [
      "a proxy with traps that throw",
      new Proxy(
        {},
        {
          get() {
            throw new Error("hostile");
          },
          getPrototypeOf() {
            throw new Error("hostile");
          },
        },
      ),
    ],
  ])("survives %s", (_, thrown) => {
    expect(sentenceOf(thrown)).toBe("a value that cannot be shown");
    expect(deliveryError("handler-failed", source, thrown).message).toEndWith("a value that cannot be shown");
  });
});

test("P18: the stream that a message waited behind, and the keys of its payload, are shown on one line", () => {
  const behind = {
    ...source,
    to: source.to,
    type: "a",
    behind: `b\n${"x".repeat(1_000)}`,
    toMessage: () => source.toMessage(),
  };
  const waited = deliveryError("timeout", behind, 5).message;
  const refused = deliveryError("invalid-payload", source, () => [{ path: "/a\n\u202e", message: "is \u2028 odd" }]);
  expect(waited.length).toBeLessThan(400);
  expect(waited).toContain('the stream "b\\nxxx');
  expect(refused.message).toEndWith("/a\\u000a\\u202e is \\u2028 odd");
});

test("isErrorKind knows the kinds of errors, and no name that every object has", () => {
  expect(CASES.map(([kind]) => kind).filter((kind) => !isErrorKind(kind))).toEqual([]);
  expect(["toString", "constructor", "__proto__", "", "late", 1, null, undefined].filter(isErrorKind)).toEqual([]);
});
