import { expect, test } from "bun:test";
import { testSystems } from "../actor/test-system";
import { serveDesk } from "./desk";
import { type Message, notice, request } from "./raw";

const { createTestSystem } = testSystems();

const shortened = ({ error, ...others }: Message): unknown =>
  error === undefined ? others : { ...others, error: { code: error.code } };
const sorted = (messages: readonly unknown[]): unknown[] => messages.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
const keyOf = (message: unknown): string => JSON.stringify((message as Message).id);

// The examples of the specification (https://www.jsonrpc.org/specification, section 7).
test("the examples of the standard are answered as it says", async () => {
  const test = createTestSystem();
  const { raw, log } = serveDesk(test);
  const cases: [string, unknown][] = [
    ['{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}', { jsonrpc: "2.0", result: 19, id: 1 }],
    ['{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}', { jsonrpc: "2.0", result: -19, id: 2 }],
    [
      '{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}',
      { jsonrpc: "2.0", result: 19, id: 3 },
    ],
    [
      '{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}',
      { jsonrpc: "2.0", result: 19, id: 4 },
    ],
    ['{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}', undefined],
    ['{"jsonrpc": "2.0", "method": "foobar"}', undefined],
    ['{"jsonrpc": "2.0", "method": "foobar", "id": "1"}', { jsonrpc: "2.0", error: { code: -32601 }, id: "1" }],
    [
      '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
      { jsonrpc: "2.0", error: { code: -32700 }, id: null },
    ],
    ['{"jsonrpc": "2.0", "method": 1, "params": "bar"}', { jsonrpc: "2.0", error: { code: -32600 }, id: null }],
    [
      '[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method"]',
      { jsonrpc: "2.0", error: { code: -32700 }, id: null },
    ],
    ["[]", { jsonrpc: "2.0", error: { code: -32600 }, id: null }],
    ["[1]", [{ jsonrpc: "2.0", error: { code: -32600 }, id: null }]],
    ["[1,2,3]", Array.from({ length: 3 }, () => ({ jsonrpc: "2.0", error: { code: -32600 }, id: null }))],
    [
      `[
        {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
        {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
        {"foo": "boo"},
        {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
        {"jsonrpc": "2.0", "method": "get_data", "id": "9"}
      ]`,
      [
        { jsonrpc: "2.0", result: 7, id: "1" },
        { jsonrpc: "2.0", result: 19, id: "2" },
        { jsonrpc: "2.0", error: { code: -32601 }, id: "5" },
        { jsonrpc: "2.0", result: ["hello", 5], id: "9" },
        { jsonrpc: "2.0", error: { code: -32600 }, id: null },
      ],
    ],
    [
      '[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]}, {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]',
      undefined,
    ],
  ];
  for (const [text, answer] of cases) {
    raw.say(text);
    await test.settle();
    const answers = raw.take();
    const [first] = answers;
    const told = Array.isArray(first) ? sorted(first.map(shortened)) : first && shortened(first);
    expect({ text, answers: answers.length, told }).toEqual({
      text,
      answers: answer === undefined ? 0 : 1,
      told: answer,
    });
  }
  expect(log.seen).toEqual([[1, 2, 3, 4, 5], [7], [7]]);
});

test("a request is answered under its id, of whatever kind, and what can be no id is refused", async () => {
  const test = createTestSystem();
  const { raw } = serveDesk(test);
  const ids = [0, -1, 9_007_199_254_740_991, "", "1", "\ud800", "a\n\u2028", null, 1e3];
  raw.say(...ids.map((id) => request(id, "sum", [1])));
  await test.settle();
  expect(raw.take()).toEqual(ids.map((id) => ({ jsonrpc: "2.0", id, result: 1 })));
  const odd = ["1.5", "9007199254740993", "1e400", "true", "{}", "[1]"];
  raw.say(...odd.map((id) => `{"jsonrpc":"2.0","id":${id},"method":"sum","params":[1]}`));
  await test.settle();
  expect(raw.take().map(shortened)).toEqual(odd.map(() => ({ jsonrpc: "2.0", id: null, error: { code: -32600 } })));
});

test('the id 1 and the id "1" are two, and a request whose id is under way is refused without being taken for the first', async () => {
  const test = createTestSystem();
  const { raw, log, peer } = serveDesk(test);
  raw.say(request(1, "wait", { name: "number" }), request("1", "wait", { name: "text" }));
  raw.say(request(1, "wait", { name: "again" }), request(null, "wait", { name: "null" }));
  raw.say(request(null, "wait", { name: "null, too" }));
  await test.settle();
  expect(raw.take().map(shortened)).toEqual([{ jsonrpc: "2.0", id: null, error: { code: -32600 } }]);
  expect(peer.serving).toBe(4);
  for (const name of ["number", "text", "null", "null, too"]) log.release(name);
  await test.settle();
  expect(raw.take().map(({ id, result }) => [id, result])).toEqual([
    [1, "number is done"],
    ["1", "text is done"],
    [null, "null is done"],
    [null, "null, too is done"],
  ]);
  raw.say(request(1, "sum", [2]));
  await test.settle();
  expect(raw.take()).toEqual([{ jsonrpc: "2.0", id: 1, result: 2 }]);
});

test("an invalid message is refused, with its id where it has one of a request", async () => {
  const test = createTestSystem();
  const { raw, peer } = serveDesk(test);
  const cases: [unknown, unknown][] = [
    [{ id: 1, method: "sum", params: [1] }, 1],
    [{ jsonrpc: "1.0", id: 2, method: "sum", params: [1] }, 2],
    [{ jsonrpc: 2, id: 3, method: "sum", params: [1] }, 3],
    [{ jsonrpc: "2.0", id: 4, method: null }, 4],
    [{ jsonrpc: "2.0", id: 5, method: {} }, 5],
    [{ jsonrpc: "2.0", id: 6, method: "sum", params: "bar" }, 6],
    [{ jsonrpc: "2.0", id: 7, method: "sum", params: 7 }, 7],
    [{ jsonrpc: "2.0", id: 8, method: "sum", params: [1], result: 1 }, 8],
    [{ jsonrpc: "2.0", id: 9, method: "sum", params: [1], error: { code: 1, message: "" } }, 9],
    [{ jsonrpc: "2.0", id: 10 }, null], // It may be a response to a request of this side.
    [{ jsonrpc: "2.0", method: "sum", params: false }, null],
    ["null", null],
    ["1", null],
    ['"text"', null],
    ["{}", null],
    ["[[]]", null],
    [[[request(1, "sum", [1])]], null],
  ];
  for (const [message, id] of cases) {
    raw.say(typeof message === "string" ? message : JSON.stringify(message));
    await test.settle();
    const [answer, ...more] = raw.take();
    const told = Array.isArray(answer) ? answer[0] : answer;
    expect({ message, more, told: told && shortened(told) }).toEqual({
      message,
      more: [],
      told: { jsonrpc: "2.0", id, error: { code: -32600 } },
    });
  }
  expect(peer.counts).toMatchObject({ received: cases.length, refused: cases.length });
});

test("no params, null and what is empty are the same for a method that takes nothing", async () => {
  const test = createTestSystem();
  const { raw } = serveDesk(test);
  raw.say(request(1, "get_data"), request(2, "get_data", {}), request(3, "get_data", []));
  raw.say('{"jsonrpc":"2.0","id":4,"method":"get_data","params":null}', request(5, "get_data", { more: 1 }));
  await test.settle();
  const answers = raw.take().toSorted((a, b) => Number(a.id) - Number(b.id));
  expect(answers.slice(0, 4).map(({ result }) => result)).toEqual(new Array(4).fill(["hello", 5]));
  expect(answers[4]?.error).toMatchObject({
    code: -32602,
    data: {
      kind: "invalid-payload",
      issues: [{ path: "", message: "must be left out: the operation takes no payload" }],
    },
  });
});

test("a notification is never answered, and a request gets null from an operation that replies nothing", async () => {
  const test = createTestSystem();
  const { raw, log } = serveDesk(test);
  raw.say(notice("update", [1]), notice("sum", [1]), notice("update", ["x"]), notice("no such method"));
  raw.say(request(1, "update", [2]));
  await test.settle();
  expect(raw.take()).toEqual([{ jsonrpc: "2.0", id: 1, result: null }]);
  expect(log.seen).toEqual([[1], [2]]);
  await test.expectLogged("dead letter (invalid-payload)");
});

test("P2: what comes is handled in the order in which it came, within batches, too", async () => {
  const test = createTestSystem();
  const { raw, log } = serveDesk(test);
  raw.say(notice("update", [1]), request(1, "update", [2]), [notice("update", [3]), request(2, "update", [4])]);
  raw.say(notice("update", [5]));
  await test.settle();
  expect(log.seen).toEqual([[1], [2], [3], [4], [5]]);
});

test("a batch is answered once all of its requests are, responses in it are taken, and a large one is refused as a whole", async () => {
  const test = createTestSystem();
  const { raw, log, peer } = serveDesk(test, { maxBatch: 3 });
  raw.say([request(1, "wait", { name: "one" }), request(2, "sum", [2]), { jsonrpc: "2.0", id: 77, result: 1 }]);
  await test.settle();
  expect(raw.take()).toEqual([]);
  log.release("one");
  await test.settle();
  const [answer] = raw.take();
  expect(sorted(answer as unknown as Message[])).toEqual([
    { jsonrpc: "2.0", id: 1, result: "one is done" },
    { jsonrpc: "2.0", id: 2, result: 2 },
  ]);
  expect(peer.counts.orphaned).toBe(1);
  await test.expectLogged("names no request that waits for one");
  raw.say(new Array(4).fill(notice("update", [1])));
  await test.settle();
  expect(raw.take().map(shortened)).toEqual([{ jsonrpc: "2.0", id: null, error: { code: -32600 } }]);
  expect(log.seen).toEqual([]);
});
