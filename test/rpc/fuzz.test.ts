import { expect, test } from "bun:test";
import fc from "fast-check";
import { testSystems } from "../actor/test-system";
import { serveDesk } from "./desk";
import { type Message, request } from "./raw";

const { createTestSystem } = testSystems();

const id = fc.constantFrom<unknown>(1, "1", null, 1.5, true, {}, [], -0, 1e21, "x".repeat(3));
const method = fc.constantFrom<unknown>(
  "sum",
  "update",
  "get_data",
  "nothing",
  "__proto__",
  "$/cancel_request",
  "notifications/progress",
  1,
  null,
  {},
);
const params = fc.oneof(
  fc.constantFrom<unknown>(
    [1],
    ["x"],
    {},
    null,
    "text",
    7,
    [[[]]],
    { requestId: 1 },
    { progressToken: 1, progress: 2 },
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const message = fc.record(
  {
    jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "2.0", "1.0", 2, null),
    id,
    method,
    params,
    result: fc.constantFrom<unknown>(1, null),
    error: fc.constantFrom<unknown>({ code: 1, message: "no" }, null, "text"),
  },
  { requiredKeys: [] },
);
const text = fc.oneof(
  message.map((each) => JSON.stringify(each)),
  fc.array(message, { maxLength: 5 }).map((each) => JSON.stringify(each)),
  fc.json({ maxDepth: 3 }),
  fc.string(),
);

const isAnswer = (answer: Message): boolean =>
  answer.jsonrpc === "2.0" &&
  answer.id !== undefined &&
  (answer.result === undefined) !== (answer.error === undefined) &&
  (answer.error === undefined || (Number.isInteger(answer.error.code) && typeof answer.error.message === "string"));

test("P18: whatever comes, each text has one answer at most, each answer is one, and what is right afterwards is answered", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 20 }), async (texts) => {
      const test = createTestSystem();
      const { raw, peer } = serveDesk(test);
      raw.say(...texts);
      await test.settle();
      const answers = raw.take();
      expect(answers.length).toBeLessThanOrEqual(texts.length);
      expect(answers.flatMap((each) => each as Message | Message[]).filter((each) => !isAnswer(each))).toEqual([]);
      expect(peer.serving).toBe(0);
      raw.say(request("last", "sum", [1, 2]));
      await test.settle();
      expect(raw.take()).toEqual([{ jsonrpc: "2.0", id: "last", result: 3 }]);
      test.takeLog();
      test.takeFailures();
      await test.finish();
    }),
    { numRuns: 60 },
  );
});
