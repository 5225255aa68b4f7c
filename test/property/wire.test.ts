import { expect, test } from "bun:test";
import fc from "fast-check";
import { address, type FormatError } from "../../src/message/address";
import { createMessage, type MessageOptions } from "../../src/message/message";
import { createErrorResponse, createResponse } from "../../src/message/response";
import { parseMessage, parseResponse, serializeMessage } from "../../src/message/wire";
import { runs } from "./runs";

// JSON.stringify writes -0 as 0.
const json = fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.parse(JSON.stringify(value)) as fc.JsonValue);
const options: fc.Arbitrary<MessageOptions> = fc.record(
  {
    pattern: fc.constantFrom("tell", "ask", "stream"),
    from: fc.constantFrom(address("me"), address("workers/3")),
    correlationId: fc.string({ minLength: 1 }),
    timestamp: fc.integer(),
    metadata: fc.dictionary(fc.string(), json, { noNullPrototype: true }),
  },
  { requiredKeys: [] },
);
const type = fc.string({ minLength: 1, unit: "grapheme" });
const messages = fc
  .tuple(type, json, options)
  .map(([operation, payload, rest]) => createMessage(address("echo"), operation, payload, rest));

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
});
const plain = (value: object): object => Object.fromEntries(Object.entries(value));

const isFormatError = (error: FormatError): void => {
  expect(["invalid-message", "invalid-address"]).toContain(error.kind);
  expect(error.message).not.toBe("");
  expect(error.retryable).toBe(false);
};

test("a message is the same after JSON.stringify and parseMessage", () => {
  fc.assert(
    fc.property(messages, (message) => {
      expect(plain(parseMessage(JSON.stringify(message))._unsafeUnwrap())).toEqual(plain(message));
    }),
    runs(500),
  );
});

test("serializeMessage writes what JSON.stringify does, for all that JSON has", () => {
  fc.assert(
    fc.property(messages, (message) => {
      expect(serializeMessage(message)._unsafeUnwrap()).toBe(JSON.stringify(message));
    }),
    runs(500),
  );
});

test("a response is the same after serializeMessage and parseResponse", () => {
  fc.assert(
    fc.property(messages, json, fc.string({ minLength: 1 }), (message, payload, thrown) => {
      for (const response of [createResponse(message, payload), createErrorResponse(message, thrown)]) {
        expect(parseResponse(serializeMessage(response)._unsafeUnwrap())._unsafeUnwrap()).toEqual(response);
      }
    }),
    runs(300),
  );
});

test("serializeMessage never throws, and what it writes holds each number, text and key of the payload", () => {
  fc.assert(
    fc.property(anything, (payload) => {
      const result = serializeMessage(createMessage(address("echo"), "say", payload));
      if (result.isErr()) {
        expect(result.error.kind).toBe("unserializable-payload");
        expect(result.error.path === "" || result.error.path.startsWith("/payload")).toBe(true);
        return;
      }
      expect(result.value).toBe(JSON.stringify(JSON.parse(result.value)));
      expect(countOf(JSON.parse(result.value).payload)).toBe(countOf(payload));
    }),
    runs(1_000),
  );
});

/** How many values other than null and undefined there are in a tree. */
function countOf(value: unknown): number {
  if (value === null || value === undefined) return 0;
  if (typeof value !== "object" || value instanceof Date) return 1;
  return 1 + Object.values(value).reduce((sum: number, inner) => sum + countOf(inner), 0);
}

test("parseMessage and parseResponse never throw, whatever comes", () => {
  fc.assert(
    fc.property(fc.oneof(anything, fc.string({ unit: "binary" }), fc.json()), (input) => {
      for (const parse of [parseMessage, parseResponse]) isFormatError(parse(input)._unsafeUnwrapErr());
    }),
    runs(1_000),
  );
});

test("a field that becomes anything else is named, or was allowed", () => {
  const message = createMessage(address("echo"), "say", 1, { pattern: "ask", from: address("me"), metadata: {} });
  const field = fc.constantFrom(...(Object.keys(message) as (keyof typeof message)[]));
  fc.assert(
    fc.property(field, anything, (name, value) => {
      parseMessage({ ...message, [name]: value }).match(
        (parsed) => expect(parsed[name]).toEqual((name === "payload" ? value : (value ?? undefined)) as never),
        (error) => {
          isFormatError(error);
          expect(error.path).toBe(`/${name}`);
        },
      );
    }),
    runs(1_000),
  );
});

test("a text that was cut off is refused", () => {
  fc.assert(
    fc.property(messages, fc.nat(), (message, at) => {
      const text = JSON.stringify(message);
      isFormatError(parseMessage(text.slice(0, at % text.length))._unsafeUnwrapErr());
    }),
    runs(300),
  );
});
