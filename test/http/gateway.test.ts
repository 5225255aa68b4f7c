import { describe, expect, test } from "bun:test";
import { type Authenticate, createGateway, type GatewayOptions, type Problem } from "../../src/http/index";
import { defineProtocol, Type } from "../../src/index";
import { testSystems } from "../actor/test-system";
import { Counter, createCounter, expectProblem, get, post, send } from "./counter";

const { createTestSystem } = testSystems();
type More = Partial<Omit<GatewayOptions, "expose">>;

function createService(options: More = {}) {
  const test = createTestSystem();
  const ref = test.system.spawn("counter", Counter, createCounter);
  const operations = ["add", "total", "echo", "told", "fail", "never", "reset", "ticks"] as const;
  const gateway = createGateway(test.system, { expose: { counter: { ref, operations } }, ...options });
  return { ...test, ref, gateway };
}

describe("an ask by HTTP", () => {
  test("has its payload as JSON, and its reply too", async () => {
    const { gateway } = createService();
    const response = await post(gateway, "/actors/counter/add", 2);
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "application/json;charset=utf-8",
      "2",
    ]);
  });

  test("of an operation without a payload has no body, and one without a reply answers 204", async () => {
    const { gateway } = createService();
    await post(gateway, "/actors/counter/add", 2);
    const reset = await gateway.fetch(new Request("http://service/actors/counter/reset", { method: "POST" }));
    expect([reset.status, await reset.text()]).toEqual([204, ""]);
    expect(await (await get(gateway, "/actors/counter/total")).json()).toBe(0);
  });

  test("of an operation that only reads may be a GET, with its payload in the query", async () => {
    const { gateway } = createService();
    const input = encodeURIComponent(JSON.stringify({ name: "Zoë & Ada+Bob" }));
    const response = await get(gateway, `/actors/counter/echo?a=1&input=${input}`);
    expect(await response.json()).toEqual({ name: "Zoë & Ada+Bob" });
    expect(await (await get(gateway, "/actors/counter/echo?input=%22a+b%22")).json()).toBe("a b");
  });

  test.each([
    ["two", "input=1&input=2", /more than one input/],
    ["a broken encoding", "input=%E0%A4", /not well encoded/],
    ["a bad escape", "input=%", /not well encoded/],
    ["no JSON", "input=%7Ba", /no valid JSON/],
    ["an empty text in place of JSON", "input=%20", /no valid JSON/],
    ["a byte order mark", `input=%EF%BB%BF1`, /no valid JSON/],
    ["deep nesting", `input=${"[".repeat(100)}${"]".repeat(100)}`, /more than 64 levels/],
  ])("by GET with a malformed input (%s) is refused", async (_, query, sentence) => {
    const { gateway } = createService();
    expect(await expectProblem(await get(gateway, `/actors/counter/echo?${query}`), 400, "bad-request")).toMatch(
      sentence,
    );
  });

  test("by GET is refused for an operation that may change something", async () => {
    const { gateway } = createService();
    const response = await get(gateway, "/actors/counter/add?input=2");
    expect(response.headers.get("allow")).toBe("POST, OPTIONS");
    expect(await expectProblem(response, 405, "method-not-allowed")).toMatch(/takes POST, OPTIONS, and not GET/);
  });

  test("P18: with a payload that does not fit tells its faults by path, eight at most", async () => {
    const Form = defineProtocol("form", { fill: { payload: Type.Object({ n: Type.Array(Type.Number()) }) } });
    const { system } = createTestSystem();
    const ref = system.spawn("form", Form, () => ({ fill() {} }));
    const gateway = createGateway(system, { expose: { form: { ref, operations: ["fill"] } } });
    const response = await post(gateway, "/actors/form/fill", { n: Array.from({ length: 20 }, () => "a") });
    const { issues } = (await response.clone().json()) as Problem;
    await expectProblem(response, 400, "invalid-payload");
    expect(issues).toHaveLength(8);
    expect(issues?.[0]).toEqual({ path: "/n/0", message: "must be a number" });
  });

  test("P18: that fails inside is 500, and only the log knows why", async () => {
    const { gateway, takeLog, takeFailures } = createService();
    await expectProblem(await post(gateway, "/actors/counter/fail", null), 500, "handler-failed");
    const [line] = takeLog();
    expect(line?.message).toMatch(/fail of "counter" failed for a request/);
    expect(line?.details).toMatchObject({ address: "@(counter)", operation: "fail", kind: "handler-failed" });
    expect(String(Reflect.get(line?.details ?? {}, "cause"))).toContain("the secret");
    takeFailures();
  });

  test("whose reply JSON cannot carry is 500, and is logged", async () => {
    const Odd = defineProtocol("odd", {
      big: { reply: Type.Unknown() },
      code: { reply: Type.Unknown() },
      circle: { reply: Type.Unknown() },
    });
    const { system, takeLog } = createTestSystem();
    const circle: unknown[] = [];
    circle.push(circle);
    const ref = system.spawn("odd", Odd, () => ({ big: () => 1n, code: () => () => 1, circle: () => circle }));
    const gateway = createGateway(system, { expose: { odd: { ref, operations: ["big", "code", "circle"] } } });
    for (const name of ["big", "code", "circle"]) {
      const detail = await expectProblem(await post(gateway, `/actors/odd/${name}`, null), 500, "handler-failed");
      expect(detail).toBe(`The reply of ${name} cannot be written as JSON.`);
      expect(takeLog().map(({ message }) => message)).toEqual([
        expect.stringContaining(`The reply of ${name} of "odd" cannot be written as JSON: mend its handler.`),
      ]);
    }
  });

  test("P6: takes as long as the gateway lets it, or as the client wants to wait", async () => {
    const { gateway, advance, expectUnfinished, ref } = createService({ limits: { time: 10_000 } });
    const both = [
      post(gateway, "/actors/counter/never", null),
      post(gateway, "/actors/counter/never", null, { prefer: "wait=2" }),
    ];
    await advance(2_100);
    const [late, early] = both;
    const response = await early;
    expect(response?.headers.get("preference-applied")).toBe("wait=2");
    if (response !== undefined) await expectProblem(response, 504, "timeout");
    await advance(8_000);
    const last = await late;
    if (last !== undefined) await expectProblem(last, 504, "timeout");
    await expectUnfinished(ref);
  });

  test("is told and answered at once with 202 where the client does not want to wait", async () => {
    const { gateway, settle } = createService();
    const response = await post(gateway, "/actors/counter/add", 5, { prefer: 'foo="a, b"; c, respond-async, wait=9' });
    expect([response.status, response.headers.get("preference-applied"), await response.text()]).toEqual([
      202,
      "respond-async",
      "",
    ]);
    await settle();
    expect(await (await get(gateway, "/actors/counter/total")).json()).toBe(5);
    await expectProblem(
      await post(gateway, "/actors/counter/add", "5", { prefer: "respond-async" }),
      400,
      "invalid-payload",
    );
  });

  test("a preference that is not well written is passed over", async () => {
    const { gateway } = createService();
    const response = await post(gateway, "/actors/counter/add", 5, { prefer: "wait=soon, respond-asynchronously" });
    expect([response.status, response.headers.get("preference-applied")]).toEqual([200, null]);
  });

  test("P13: to an actor that has stopped is 503, to be tried again", async () => {
    const { gateway, system, ref } = createService();
    await system.stop(ref);
    const response = await post(gateway, "/actors/counter/add", 5);
    expect(response.headers.get("retry-after")).toBe("1");
    await expectProblem(response, 503, "stopped");
  });
});

describe("what is not there", () => {
  test.each([
    "/",
    "/actors",
    "/actors/",
    "/actors/counter",
    "/actors/counter/",
    "/actors//add",
    "/actors/counter/add/",
    "//actors/counter/add",
    "/actors/counter/add/more",
    "/actors/constructor/add",
    "/actors/__proto__/add",
    "/actors/counter/__proto__",
    "/actors/counter/constructor",
    "/actors/counter/onStop",
    "/actors/counter%2Fadd",
    "/Actors/counter/add",
    "/actors/%00/add",
  ])("P18: %s is 404", async (path) => {
    const { gateway } = createService();
    await expectProblem(await post(gateway, path, 1), 404, "not-found");
  });

  test("P18: an operation that its owner did not list is 404, as if there were none", async () => {
    const { system } = createTestSystem();
    const ref = system.spawn("counter", Counter, createCounter);
    const gateway = createGateway(system, { expose: { counter: { ref, operations: ["total"] } } });
    const refusals = await Promise.all(
      ["add", "nothing"].map(async (name) => (await post(gateway, `/actors/counter/${name}`, 1)).text()),
    );
    expect(refusals[0]).toBe(refusals[1]);
    await expectProblem(await post(gateway, "/actors/counter/add", 1), 404, "not-found");
  });

  test("a path may be percent-encoded, and is refused if it is not well encoded", async () => {
    const { gateway } = createService();
    expect(await (await post(gateway, "/%61ctors/co%75nter/%61dd", 1)).json()).toBe(1);
    for (const path of ["/actors/%E0%A4/add", "/actors/counter/%zz", "/%"]) {
      expect(await expectProblem(await post(gateway, path, 1), 400, "bad-request")).toMatch(/not well encoded/);
    }
  });

  test("P18: another method is refused, with those that there are", async () => {
    const { gateway } = createService();
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      const response = await gateway.fetch(new Request("http://service/actors/counter/add", { method }));
      expect(response.headers.get("allow")).toBe("POST, OPTIONS");
      expect(await expectProblem(response, 405, "method-not-allowed")).toContain(`not ${method}`);
    }
  });

  test("an answer in a form that the client does not take is refused before anything is done", async () => {
    const { gateway } = createService();
    const of = (accept: string) => post(gateway, "/actors/counter/add", 1, { accept });
    for (const accept of [
      "text/html",
      "application/json;q=0, */*",
      "text/*",
      "application/xml, application/json; q=0.0",
    ]) {
      await expectProblem(await of(accept), 406, "not-acceptable");
    }
    const taken = [
      "*/*",
      "application/json",
      "application/*;q=0.1, text/html",
      "text/html, */*;q=0.8",
      "APPLICATION/JSON",
    ];
    for (const accept of taken) expect((await of(accept)).status).toBe(200);
    expect(await (await get(gateway, "/actors/counter/total")).json()).toBe(taken.length);
    await expectProblem(
      await post(gateway, "/actors/counter/ticks", 1, { accept: "application/json" }),
      406,
      "not-acceptable",
    );
  });
});

describe("HEAD and OPTIONS", () => {
  test("HEAD answers as GET does, without a body", async () => {
    const { gateway } = createService();
    const head = (path: string) => gateway.fetch(new Request(`http://service${path}`, { method: "HEAD" }));
    const total = await head("/actors/counter/total");
    expect([total.status, total.headers.get("content-type"), await total.text()]).toEqual([
      200,
      "application/json;charset=utf-8",
      "",
    ]);
    const refused = await head("/actors/counter/add");
    expect([refused.status, await refused.text()]).toEqual([405, ""]);
  });

  test("HEAD does not begin a stream", async () => {
    const { gateway, router } = createService();
    const before = router.audit().accepted;
    const response = await gateway.fetch(
      new Request("http://service/actors/counter/ticks?input=3", { method: "HEAD" }),
    );
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "text/event-stream",
      "",
    ]);
    expect(router.audit().accepted).toBe(before);
  });

  test("OPTIONS tells the methods of a path, to anybody", async () => {
    const { gateway } = createService({ authenticate: () => undefined });
    const of = (path: string) => gateway.fetch(new Request(`http://service${path}`, { method: "OPTIONS" }));
    const response = await of("/messages");
    expect([response.status, response.headers.get("allow"), await response.text()]).toEqual([204, "POST, OPTIONS", ""]);
    await expectProblem(await of("/nothing"), 404, "not-found");
  });
});

describe("who may", () => {
  const authenticate: Authenticate = ({ headers }) => {
    const id = headers.get("x-user");
    return id === null ? undefined : { id, metadata: { role: "guest" } };
  };

  test("a caller that authenticate does not know is refused before its body is read", async () => {
    const { gateway } = createService({ authenticate });
    const response = await send(gateway, "/actors/counter/add", new ReadableStream());
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    await expectProblem(response, 401, "unauthenticated");
  });

  test("handlers read the caller, and what authenticate says of it; nothing that it sends can be taken for that", async () => {
    const { gateway } = createService({ authenticate: async (...given) => authenticate(...given) });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const response = await post(gateway, "/actors/counter/told", null, { "x-user": "ada", traceparent, role: "admin" });
    expect(await response.json()).toEqual({ caller: "ada", role: "guest", traceparent });
  });

  test("authorize refuses a caller an operation", async () => {
    const asked: unknown[] = [];
    const { gateway } = createService({
      authenticate,
      authorize: async (caller, actor, operation) => {
        asked.push([caller?.id, actor, operation]);
        return operation === "total";
      },
    });
    await expectProblem(await post(gateway, "/actors/counter/add", 1, { "x-user": "ada" }), 403, "forbidden");
    expect((await get(gateway, "/actors/counter/total", { "x-user": "bob" })).status).toBe(200);
    expect(asked).toEqual([
      ["ada", "counter", "add"],
      ["bob", "counter", "total"],
    ]);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("the secret of /home/keys");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("the secret of /home/keys");
      },
    ],
    ["gives no id", () => ({ name: "ada" })],
    ["gives null", () => null],
    ["gives true", async () => true],
  ])("P18: an authenticate that %s is 500 without a word of it, and is logged", async (_, wrong) => {
    // Such values are what the compiler refuses, and JavaScript does not.
    const { gateway, takeLog } = createService({ authenticate: wrong as unknown as Authenticate });
    const detail = await expectProblem(await post(gateway, "/actors/counter/add", 1), 500, "internal-error");
    expect(detail).toBe("The service failed. Its log says why.");
    expect(takeLog()).toMatchObject([{ level: "error", message: expect.stringContaining("The gateway failed at") }]);
  });

  test.each(["authenticate", "authorize"])(
    "P18: an %s that never answers refuses, in the time of an ask",
    async (name) => {
      const { gateway, settle, advance, takeLog } = createService({ [name]: () => new Promise<never>(() => {}) });
      const answer = post(gateway, "/actors/counter/add", 1);
      await settle();
      await advance(30_050);
      await expectProblem(await answer, 503, "unavailable");
      expect(takeLog()).toMatchObject([
        { level: "error", message: expect.stringContaining(`${name} decided nothing`) },
      ]);
    },
  );

  test("P18: an authorize that gives anything but true refuses", async () => {
    const { gateway } = createService({ authorize: (() => "no") as unknown as () => boolean });
    await expectProblem(await post(gateway, "/actors/counter/add", 1), 403, "forbidden");
  });
});

describe("options", () => {
  const { system } = createTestSystem();
  const ref = system.spawn("counter", Counter, createCounter);
  const expose = { counter: { ref, operations: ["add"] } };

  test.each([
    [{ expose, authenticat: () => undefined }, 'no option "authenticat" for a gateway; write one of expose, name,'],
    [{}, "expose says what can be reached"],
    [{ expose: [ref] }, "expose says what can be reached"],
    [{ expose: { "a/b": { ref, operations: ["add"] } } }, 'No actor can be exposed as "a/b"'],
    [{ expose: { "": { ref, operations: ["add"] } } }, 'No actor can be exposed as ""'],
    [{ expose: { "..": { ref, operations: ["add"] } } }, 'No actor can be exposed as ".."'],
    [{ expose: { counter: ref } }, 'The exposed actor "counter" is written as { ref: counter, operations: ["add"] }'],
    [{ expose: { counter: { ref } } }, 'The operations of the exposed actor "counter" are an array of names'],
    [{ expose: { counter: { ref, operations: "add" } } }, 'The operations of the exposed actor "counter" are an array'],
    [{ expose: { counter: { ref, operations: ["add", "add"] } } }, '"counter" exposes "add" twice'],
    [
      { expose: { counter: { ref, operations: ["ad"] } } },
      '"counter" has no operation "ad" to expose; write some of add, total',
    ],
    [{ expose: { counter: { ref, operations: ["__proto__"] } } }, 'has no operation "__proto__"'],
    [{ expose: { counter: { ref, operations: { add: { format: "sse" } } } } }, "format is an option of streams"],
    [
      { expose: { counter: { ref, operations: { ticks: { fromat: "sse" } } } } },
      'no option "fromat" for the operation ticks of "counter"',
    ],
    [{ expose: { counter: { ref, operations: { ticks: { format: "csv" } } } } }, 'is "sse" or "ai-sdk"; got "csv"'],
    [
      { expose: { counter: { ref, operations: { ticks: { resume: { for: 0 } } } } } },
      "is a number of milliseconds above 0",
    ],
    [
      { expose: { counter: { ref: "counter", operations: ["add"] } } },
      'The ref of the exposed actor "counter" is no reference',
    ],
    [
      { expose: { counter: { ref, operations: ["add"], only: 1 } } },
      'no option "only" for the exposed actor "counter"',
    ],
    [{ expose, basePath: "api" }, 'begins with a slash and has none at its end, such as "/api"; got "api"'],
    [{ expose, basePath: "/api/" }, "begins with a slash"],
    [{ expose, name: "" }, "is a text that is not empty"],
    [{ expose, authenticate: "token" }, "is a function that gives the caller"],
    [{ expose, limits: 5 }, "The options of the limits of a gateway are an object"],
    [{ expose, limits: { boddy: 5 } }, 'no option "boddy" for the limits of a gateway; write one of body, depth'],
    [{ expose, limits: { body: 0 } }, "is a whole number from 1; got 0"],
    [{ expose, limits: { body: 1.5 } }, "is a whole number from 1"],
    [{ expose, limits: { depth: 10_000 } }, "from 1 to 512"],
    [{ expose, limits: { time: -1 } }, "is a number of milliseconds above 0, or Infinity; got -1"],
    [{ expose, limits: { bodyTime: Number.NaN } }, "is a number of milliseconds above 0"],
    [{ expose, parts: [{}] }, "are an array of functions that make parts"],
    [{ expose, cors: { origins: ["https://shop.example/"] } }, "without a path"],
    [null, "The options of a gateway are an object"],
  ])("that cannot be are refused at once, with what to write (%#)", (options, sentence) => {
    // All of these are what the compiler refuses, and JavaScript does not.
    expect(() => createGateway(system, options as never)).toThrow(sentence);
  });

  test("an actor of a router, which takes any message, is refused", () => {
    const any = createTestSystem().createProbe();
    const expose = { any: { ref: any.ref, operations: ["anything"] } };
    expect(() => createGateway(system, { expose })).toThrow(/exposed as "any", takes any message: only an actor with/);
    expect(() => createGateway(undefined as never, { expose: {} })).toThrow(/belongs to a system/);
  });

  test("two parts cannot have one path", () => {
    const part = () => ({ routes: [{ method: "POST" as const, path: "/messages", handle: () => new Response() }] });
    expect(() => createGateway(system, { expose: {}, parts: [part] })).toThrow("POST /messages has two routes.");
  });

  test("a limit that is undefined is the default", () => {
    const limits = { body: undefined } as unknown as { body: number };
    expect(createGateway(system, { expose: {}, limits }).limits.body).toBe(1_048_576);
  });
});

describe("draining", () => {
  test("P13: asks are answered until the streams have ended, and then refused; those that run are waited for", async () => {
    const streams = Promise.withResolvers<void>();
    const part = () => ({ routes: [], drain: () => streams.promise });
    const { gateway, advance, settle, expectUnfinished, ref } = createService({
      parts: [part],
      limits: { time: 3_000 },
    });
    const isOver: string[] = [];
    void gateway.drain(10_000).then(() => isOver.push("drained"));
    const during = await post(gateway, "/actors/counter/add", 1);
    expect([during.status, during.headers.get("connection")]).toEqual([200, "close"]);
    const running = post(gateway, "/actors/counter/never", null).then(() => isOver.push("answered"));
    await settle();
    streams.resolve();
    await settle();
    const after = await post(gateway, "/actors/counter/add", 1);
    await expectProblem(after, 503, "unavailable");
    expect(isOver).toEqual([]);
    await advance(3_100);
    await running;
    expect(isOver).toEqual(["answered", "drained"]);
    await expectUnfinished(ref);
  });

  test("P13: a part that does not end in time is told, and then left; one that fails is logged", async () => {
    const told: string[] = [];
    const stuck = () => ({
      routes: [],
      drain: (signal: AbortSignal) => {
        signal.addEventListener("abort", () => told.push("over"));
        return new Promise<void>(() => {});
      },
    });
    const { gateway, advance, takeLog } = createService({ parts: [stuck] });
    let isOver = false;
    void gateway.drain(500).then(() => {
      isOver = true;
    });
    await advance(500);
    expect([told, isOver]).toEqual([["over"], false]);
    await advance(1_000);
    expect(isOver).toBe(true);
    expect(takeLog()).toMatchObject([
      { level: "warn", message: expect.stringContaining("did not end its streams in time") },
    ]);

    const failing = createService({
      parts: [
        () => ({
          routes: [],
          drain: async () => {
            throw new Error("disk");
          },
          close: () => {
            throw new Error("disk");
          },
        }),
      ],
    });
    await failing.gateway.drain(500);
    await failing.gateway.close();
    expect(failing.takeLog()).toMatchObject([
      { message: expect.stringContaining("did not drain") },
      { message: expect.stringContaining("could not be closed") },
    ]);
  });
});
