import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../property/runs";
import { Client, frameOf, openRaw } from "./client";
import { startService } from "./service";

const service = startService();
afterAll(() => service[Symbol.asyncDispose]());

const kinds = ["ask", "tell", "offer", "stream", "cancel", "credit", "subscribe", "authenticate", "welcome", "reply"];
const name = fc.oneof(
  fc.constantFrom("desk", "changes", "add", "ticks", "who", "__proto__", "toString", ""),
  fc.string(),
);
const odd = fc.oneof(fc.jsonValue(), fc.constantFrom(0, -1, 1e308, 2 ** 53, "", null, [], {}));
const field = (good: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: odd });
/** Frames that are nearly right. */
const frame = fc.record(
  {
    kind: field(fc.constantFrom(...kinds)),
    id: field(fc.constantFrom("1", "2", "3")),
    to: field(name),
    type: field(name),
    payload: odd,
    timeLeft: field(fc.integer({ min: 1, max: 1_000 })),
    credit: field(fc.nat(100)),
    count: field(fc.integer({ min: 1, max: 100 })),
    wantsProgress: field(fc.boolean()),
    traceparent: field(fc.string()),
    tracestate: field(fc.string()),
    topic: field(name),
    token: field(fc.string()),
    metadata: odd,
  },
  { requiredKeys: ["kind", "id"] },
);
const text = fc.oneof(
  { weight: 6, arbitrary: fc.array(frame, { maxLength: 8 }).map((frames) => JSON.stringify(frames)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
);

test("P18: no text of whatever shape does more than close its own socket, with a code and a reason", async () => {
  const other = await new Client(service.url).welcome();
  let asked = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 6 }), async (texts) => {
      const client = await new Client(service.url).welcome();
      for (const each of texts) client.socket.send(each);
      client.send({ kind: "ask", id: "last", to: "desk", type: "total" });
      const outcome = await Promise.race([client.outcome("last").catch(() => undefined), client.closed]);
      if (outcome !== undefined && "code" in outcome) {
        expect(outcome.code).toBeOneOf([1007, 1008]);
        expect(outcome.reason).toMatch(/^[A-Z].*\.$|^timeLeft|^wantsProgress|^trace(parent|state)/);
      } else client.socket.close();
      const told = JSON.stringify(client.frames);
      expect(told).not.toContain("inner/");
      expect(told).not.toMatch(/\.ts:\d+/);
      expect((await other.ask(`${asked++}`, "desk", "total")).kind).toBe("reply");
    }),
    runs(150),
  );
  await service.untilRunning(0);
  expect(service.logged.filter((line) => line.includes("A socket failed"))).toEqual([]);
});

test("P18: no bytes of whatever shape do more than end their own connection", async () => {
  const other = await new Client(service.url).welcome();
  let asked = 0;
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 200 }),
    fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(15), fc.boolean()).map((parts) => frameOf(...parts)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 5 }), async (chunks) => {
      const raw = await openRaw(service.url);
      raw.on("error", () => undefined);
      raw.resume();
      for (const chunk of chunks) raw.write(chunk);
      expect((await other.ask(`${asked++}`, "desk", "total")).kind).toBe("reply");
      raw.destroy();
    }),
    runs(100),
  );
});
