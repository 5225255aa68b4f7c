import { describe, expect, test } from "bun:test";
import { createGateway, type Limits } from "../../src/http/index";
import { defineProtocol, Type } from "../../src/index";
import { testSystems } from "../actor/test-system";
import { Counter, createCounter, expectProblem, post, send } from "./counter";

const { createTestSystem } = testSystems();

function createService(limits: Partial<Limits> = {}) {
  const test = createTestSystem();
  const ref = test.system.spawn("counter", Counter, createCounter);
  const gateway = createGateway(test.system, {
    expose: { counter: { ref, operations: ["add", "echo", "reset"] } },
    limits,
  });
  return {
    ...test,
    gateway,
    echo: (body: string, headers?: Record<string, string>) => send(gateway, "/actors/counter/echo", body, headers),
  };
}

const encoder = new TextEncoder();

/** A body that comes in chunks, whose length nobody told. */
const chunked = (...chunks: readonly string[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });

describe("P18: a body", () => {
  test.each([
    ["text/plain", "text/plain"],
    ["a form", "application/x-www-form-urlencoded"],
    ["two types at once", "application/json, text/plain"],
    ["another charset", "application/json; charset=utf-16"],
    ["nothing that is a type", "json"],
  ])("of the media type of %s is refused", async (_, type) => {
    const { echo } = createService();
    expect(await expectProblem(await echo("1", { "content-type": type }), 415, "unsupported-media-type")).toMatch(
      /must be JSON/,
    );
  });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    'APPLICATION/JSON;charset="UTF-8"',
    "application/vnd.shop+json",
  ])("of the media type %s is read", async (type) => {
    const { echo } = createService();
    expect(await (await echo("[1]", { "content-type": type })).json()).toEqual([1]);
  });

  test("without a media type is refused, unless it is empty", async () => {
    const { gateway } = createService();
    const bare = (body?: string) => {
      const request = new Request("http://service/actors/counter/reset", {
        method: "POST",
        ...(body !== undefined && { body }),
      });
      request.headers.delete("content-type");
      return gateway.fetch(request);
    };
    await expectProblem(await bare("1"), 415, "unsupported-media-type");
    expect((await bare()).status).toBe(204);
  });

  test("that is compressed is refused as such", async () => {
    const { gateway } = createService();
    const response = await send(gateway, "/actors/counter/echo", Bun.gzipSync(encoder.encode("[1]")), {
      "content-encoding": "gzip",
    });
    expect(await expectProblem(response, 415, "unsupported-media-type")).toMatch(/must not be compressed/);
  });

  test.each(["{", '{"a":1,}', "{'a':1}", "undefined", "NaN", "[1] [2]", " ", "\u0000", '"\n"', "01", "<a/>"])(
    "that is no JSON is refused: %p",
    async (body) => {
      const { echo } = createService();
      expect(await expectProblem(await echo(body), 400, "bad-request")).toBe(
        "This is no valid JSON: check it with a JSON parser.",
      );
    },
  );

  test("may have a byte order mark, in one piece or in chunks, and lone surrogates, which come back as they were", async () => {
    const { gateway, echo } = createService();
    expect(await (await echo('\uFEFF{"a":1}')).json()).toEqual({ a: 1 });
    expect(await (await send(gateway, "/actors/counter/echo", chunked("\uFEFF[", "1]"))).json()).toEqual([1]);
    expect(await (await echo('"\\ud800"')).text()).toBe('"\\ud800"');
  });

  test("in chunks that cut through a character is read whole", async () => {
    const { gateway } = createService();
    const bytes = encoder.encode('"Zoë 🦊"');
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await (await send(gateway, "/actors/counter/echo", body)).json()).toBe("Zoë 🦊");
  });

  test.each([
    ["its length says that it is too large", () => "1", { "content-length": "1001" }],
    ["its length is no number", () => "1", { "content-length": "5, 5" }],
    ["its length is less than none", () => "1", { "content-length": "-1e99" }],
    ["its length lies", () => JSON.stringify("a".repeat(1_000)), { "content-length": "3" }],
    ["its chunks are too large", () => chunked('"', "a".repeat(500), "b".repeat(500), '"'), {}],
  ])("is refused when %s", async (why, body, headers: Record<string, string>) => {
    const { gateway } = createService({ body: 1_000 });
    const response = await send(gateway, "/actors/counter/echo", body(), headers);
    if (why === "its length is less than none") expect(response.status).toBe(200);
    else expect(await expectProblem(response, 413, "payload-too-large")).toContain("more than 1000 bytes");
  });

  test("of just the limit is taken", async () => {
    const { echo } = createService({ body: 1_000 });
    expect((await echo(JSON.stringify("a".repeat(998)))).status).toBe(200);
  });

  test("whose chunks never end is left once it is too large", async () => {
    const { gateway } = createService({ body: 1_000 });
    let left: string | undefined;
    let pulled = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(encoder.encode("1".repeat(100)));
      },
      cancel() {
        left = "left";
      },
    });
    await expectProblem(await send(gateway, "/actors/counter/echo", body), 413, "payload-too-large");
    expect(left).toBe("left");
    expect(pulled).toBeLessThan(20);
  });

  test("that is slow is refused with 408, by the clock, and read no more", async () => {
    const { gateway, advance, clock } = createService({ bodyTime: 2_000 });
    let left = false;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(encoder.encode("[1")),
      cancel() {
        left = true;
      },
    });
    let response: Response | undefined;
    void send(gateway, "/actors/counter/echo", body).then((answer) => {
      response = answer;
    });
    await advance(1_990);
    expect(response).toBeUndefined();
    await advance(60);
    if (response === undefined) throw new Error("The slow body was waited for.");
    expect(response.headers.get("connection")).toBe("close");
    expect(await expectProblem(response, 408, "slow-request")).toContain("within 2000 ms");
    expect(left).toBe(true);
    expect(clock.timers).toBe(0);
  });

  test("that comes in time leaves no timer", async () => {
    const { gateway, advance, clock } = createService({ bodyTime: 2_000 });
    let body!: ReadableStreamDefaultController<Uint8Array>; // Set by start, which the constructor calls.
    const response = send(
      gateway,
      "/actors/counter/echo",
      new ReadableStream({
        start: (controller) => {
          body = controller;
        },
      }),
    );
    await advance(1_000);
    body.enqueue(encoder.encode("[1]"));
    body.close();
    expect(await (await response).json()).toEqual([1]);
    await advance(100);
    expect(clock.timers).toBe(0);
  });

  test("that is cut short is refused", async () => {
    const { gateway } = createService();
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(encoder.encode("[1"));
        controller.error(new Error("the secret of /home/socket"));
      },
    });
    expect(await expectProblem(await send(gateway, "/actors/counter/echo", body), 400, "bad-request")).toMatch(
      /cut short/,
    );
  });

  test("that other code has read before is a mistake of the owner: 500, and logged", async () => {
    const { gateway, takeLog } = createService();
    const request = new Request("http://service/actors/counter/echo", {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": "1" },
      body: "1",
    });
    await request.text();
    await expectProblem(await gateway.fetch(request), 500, "internal-error");
    const [line] = takeLog();
    expect(String(Reflect.get(line?.details ?? {}, "cause"))).toContain(
      "The body was read before the gateway got the request",
    );
  });

  test("that is nested too deep is refused before it is parsed, and brackets in texts do not count", async () => {
    const { echo } = createService({ depth: 10 });
    const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect((await echo(nested(10))).status).toBe(200);
    expect(await expectProblem(await echo(nested(11)), 400, "bad-request")).toContain("more than 10 levels");
    await expectProblem(await echo("[".repeat(1_000_000)), 400, "bad-request");
    await expectProblem(await echo('{"a":'.repeat(100_000)), 400, "bad-request");
    const texts = ["[[[[[[[[[[[[[[[", '\\"[[[[[[[[[[[[[[[[[', "\\\\", "]]]]", '{{{{{{{"{{{{{{{{{{\\'];
    expect(await (await echo(JSON.stringify(texts))).json()).toEqual(texts);
    await expectProblem(await echo(`["\\\\",${nested(10)}]`), 400, "bad-request");
  });

  test.each([
    '{"__proto__":{"isAdmin":true}}',
    '[{"a":{"__proto__":1}}]',
    '{"\\u005f_proto__":1}',
    '{"__pr\\u006fto__":1}',
    '{"__pro\\u0074\\u006F__":1}',
  ])("with the key __proto__ is refused: %s", async (body) => {
    const { echo } = createService();
    expect(await expectProblem(await echo(body), 400, "bad-request")).toContain("__proto__");
  });

  test("may have the text __proto__, and keys such as constructor", async () => {
    const { echo } = createService();
    const value = { constructor: { prototype: { isAdmin: true } }, toString: "__proto__", a: ["\\u005f"] };
    expect(await (await echo(JSON.stringify(value))).json()).toEqual(value);
  });
});

test("P18: a body of 600 KB that does not fit is refused with eight issues at most", async () => {
  const Line = Type.Object({ item: Type.String(), count: Type.Integer() });
  const Order = defineProtocol("order", { place: { payload: Type.Object({ lines: Type.Array(Line) }) } });
  const { system } = createTestSystem();
  const ref = system.spawn("order", Order, () => ({ place() {} }));
  const gateway = createGateway(system, { expose: { order: { ref, operations: ["place"] } } });
  const lines = Array.from({ length: 15_000 }, (_, n) => ({ item: `item ${n}`, count: "many" }));
  const response = await post(gateway, "/actors/order/place", { lines });
  const text = await response.text();
  expect([response.status, JSON.parse(text).issues.length]).toEqual([400, 8]);
  expect(text.length).toBeLessThan(2_000);
});
