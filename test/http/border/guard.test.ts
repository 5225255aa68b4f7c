import { describe, expect, test } from "bun:test";
import { bearerTokens, type Guarded, type GuardOptions, guard } from "../../../src/http/index";
import { testSystems } from "../../actor/test-system";
import { expectProblem } from "../counter";
import { byName, peers } from "./service";

const { createTestSystem } = testSystems();

/** A handler that says what it got, behind a guard on a clock that the test moves. */
function createGuarded(
  options: GuardOptions = {},
  answer?: (request: Request, guarded: Guarded) => Response | Promise<Response>,
) {
  const test = createTestSystem();
  const got: Request[] = [];
  const fetch = guard(
    async (request, guarded) => {
      got.push(request);
      if (answer !== undefined) return answer(request, guarded);
      return Response.json({ body: await request.text(), caller: guarded.caller?.id, owner: guarded.owner });
    },
    { system: test.system, ...options },
  );
  const send = (
    body?: RequestInit["body"],
    headers: Record<string, string> = {},
    method = body === undefined ? "GET" : "POST",
  ) => fetch(new Request("http://service/upload?a=1", { method, headers, ...(body !== undefined && { body }) }), peers);
  return { ...test, got, fetch, send };
}

const json = { "content-type": "application/json" };

describe("a guard", () => {
  test("hands on a request with its whole body, and who sent it", async () => {
    const { send, got } = createGuarded({ authenticate: bearerTokens({ s3cr3t: "ada" }) });
    const response = await send("hello", { authorization: "Bearer s3cr3t", "x-more": "1" });
    expect(await response.json()).toEqual({ body: "hello", caller: "ada", owner: "ada" });
    const [request] = got;
    expect([request?.method, request?.url, request?.headers.get("x-more")]).toEqual([
      "POST",
      "http://service/upload?a=1",
      "1",
    ]);
    expect(got[0]?.signal).toBeInstanceOf(AbortSignal);
  });

  test("hands on a request without a body as it is, with the address of its peer", async () => {
    const { fetch, got } = createGuarded();
    const request = new Request("http://service/upload");
    expect(await (await fetch(request, peers)).json()).toEqual({ body: "", owner: "10.0.0.1" });
    expect(got[0]).toBe(request);
  });

  test("P18: refuses who is not known, and who may not, before a body is read", async () => {
    const { fetch, got } = createGuarded({ authenticate: byName, authorize: async (caller) => caller?.id === "ada" });
    const body = () =>
      new ReadableStream({ pull: () => Promise.reject(new Error("it was read")) }, { highWaterMark: 0 });
    const send = (headers: Record<string, string>) =>
      fetch(new Request("http://service/upload", { method: "POST", body: body(), headers }));
    await expectProblem(await send({}), 401, "unauthenticated");
    await expectProblem(await send({ "x-user": "bob" }), 403, "forbidden");
    expect(got).toEqual([]);
  });

  test("P18: refuses a body that is too large: by its header, by chunks, by chunks without end", async () => {
    const { send, got } = createGuarded({ limits: { body: 10 } });
    await expectProblem(await send("a".repeat(11)), 413, "payload-too-large");
    await expectProblem(await send("a", { "content-length": "11" }), 413, "payload-too-large");
    let pulled = 0;
    let isCancelled = false;
    const endless = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(4));
      },
      cancel() {
        isCancelled = true;
      },
    });
    const refused = await send(endless);
    expect(refused.headers.get("connection")).toBe("close"); // Else Bun takes all that comes: 5 GB in a second and a half.
    await expectProblem(refused, 413, "payload-too-large");
    const giant = await send("a", { "content-length": "161" });
    expect(giant.headers.get("connection")).toBe("close");
    await expectProblem(giant, 413, "payload-too-large");
    expect(pulled).toBeLessThan(8);
    expect([isCancelled, got]).toEqual([true, []]);
    expect((await send("a".repeat(10))).status).toBe(200);
  });

  test.each(["authenticate", "authorize"])("P18: refuses in time where %s never answers", async (name) => {
    const { send, advance, got } = createGuarded({
      [name]: () => new Promise<never>(() => {}),
      limits: { time: 1_000 },
    });
    const answer = send("a");
    await advance(1_000);
    await expectProblem(await answer, 503, "unavailable");
    expect(got).toEqual([]);
  });

  test("P18: refuses a slow body by the clock, and one that is cut short", async () => {
    const { send, advance, got } = createGuarded({ limits: { bodyTime: 1_000 } });
    const slow = send(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }));
    await advance(1_000);
    const response = await slow;
    expect(response.headers.get("connection")).toBe("close");
    await expectProblem(response, 408, "slow-request");
    const cut = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    await expectProblem(await send(cut), 400, "bad-request");
    expect(got).toEqual([]);
  });

  test("P18: refuses JSON that is malformed, deep, compressed or pollutes; other bodies are not looked at", async () => {
    const { send, got } = createGuarded({ limits: { depth: 3 } });
    for (const body of ["{", "[[[[1]]]]", '{"__proto__":1}']) {
      await expectProblem(await send(body, json), 400, "bad-request");
    }
    await expectProblem(await send("[]", { ...json, "content-encoding": "gzip" }), 415, "unsupported-media-type");
    expect(got).toEqual([]);
    expect(await (await send("[[[1]]]", json)).json()).toMatchObject({ body: "[[[1]]]" });
    expect(await (await send("[[[[1", { "content-type": "text/plain" })).json()).toMatchObject({ body: "[[[[1" });
  });

  test("limits how often a caller may ask, and says it, also on an answer whose headers cannot be changed", async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response("from elsewhere") });
    try {
      const { send } = createGuarded({ rateLimit: "2/min", authenticate: byName }, () => fetch(server.url));
      const first = await send(undefined, { "x-user": "ada" });
      expect([first.headers.get("ratelimit"), await first.text()]).toEqual(['"2/min";r=1;t=30', "from elsewhere"]);
      await send(undefined, { "x-user": "ada" });
      const refused = await send(undefined, { "x-user": "ada" });
      expect([refused.headers.get("retry-after"), refused.headers.get("ratelimit-policy")]).toEqual([
        "30",
        '"2/min";q=2;w=60',
      ]);
      await expectProblem(refused, 429, "too-many-requests");
      expect((await send(undefined, { "x-user": "bob" })).status).toBe(200);
    } finally {
      await server.stop(true);
    }
  });

  test("limits how many requests of one caller wait at one time", async () => {
    const gate = Promise.withResolvers<void>();
    const { send } = createGuarded({ limits: { requests: 1 } }, async () => {
      await gate.promise;
      return new Response("done");
    });
    const first = send();
    await expectProblem(await send(), 429, "too-many-requests");
    gate.resolve();
    expect((await first).status).toBe(200);
    expect((await send()).status).toBe(200);
  });

  test("answers 504 for a handler that takes too long, and lets go of its late answer", async () => {
    const gate = Promise.withResolvers<void>();
    let isCancelled = false;
    const { send, advance, settle } = createGuarded({ limits: { time: 500 } }, async () => {
      await gate.promise;
      return new Response(
        new ReadableStream({
          cancel() {
            isCancelled = true;
          },
        }),
      );
    });
    const late = send();
    await advance(500);
    await expectProblem(await late, 504, "timeout");
    gate.resolve();
    await settle();
    expect(isCancelled).toBe(true);
  });

  test("P18: answers 500 for a handler that throws, and only the log knows why", async () => {
    const { send, takeLog } = createGuarded({}, () => {
      throw new Error("the secret of /home/handler");
    });
    await expectProblem(await send(), 500, "internal-error");
    expect(takeLog()).toMatchObject([{ level: "error", message: 'envoi: A guarded handler failed at "GET /upload".' }]);
  });

  test.each([
    [{ rate: "1/s" }, /no option "rate"/],
    [{ limits: { body: 0 } }, /The body of the limits of a guard/],
    [{ limits: { streams: 1 } }, /no option "streams"/],
    [{ authenticate: "ada" }, /is a function/],
    [{ rateLimit: "often" }, /such as/],
    [{ system: {} }, /with a clock and a log/],
  ])("refuses options that cannot be at once: %p", (options, sentence) => {
    expect(() => guard(() => new Response(), options as never)).toThrow(sentence);
  });

  test("stands before a function alone", () => {
    expect(() => guard(undefined as never)).toThrow(/stands before a handler/);
  });
});
