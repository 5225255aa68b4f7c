import { describe, expect, test } from "bun:test";
import { apiKeys, type CorsOptions, createGateway } from "../../../src/http/index";
import { testSystems } from "../../actor/test-system";
import { Counter, createCounter, expectProblem, post } from "../counter";

const { createTestSystem } = testSystems();
const SHOP = "https://shop.example";
const EVIL = "https://evil.example";

function createService(cors: CorsOptions) {
  const test = createTestSystem();
  const ref = test.system.spawn("counter", Counter, createCounter);
  const expose = { counter: { ref, operations: ["add", "total"] } } as const;
  const gateway = createGateway(test.system, {
    expose,
    cors,
    authenticate: ({ headers }) => (headers.has("x-no") ? undefined : { id: "ada" }),
  });
  const preflight = (origin: string, path = "/actors/counter/add"): Promise<Response> =>
    gateway.fetch(
      new Request(`http://service${path}`, {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type,x-own",
        },
      }),
    );
  return { ...test, gateway, preflight };
}

const marks = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-") || name === "vary"));

describe("P18: pages of other origins", () => {
  test("that are listed may send and read", async () => {
    const { gateway, preflight } = createService({
      origins: [SHOP],
      credentials: true,
      maxAge: 60,
      headers: ["x-own"],
    });
    const asked = await preflight(SHOP);
    expect(asked.status).toBe(204);
    expect(marks(asked)).toEqual({
      "access-control-allow-origin": SHOP,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "POST, GET",
      "access-control-allow-headers": expect.stringMatching(/content-type.*, x-own$/),
      "access-control-max-age": "60",
      vary: "Access-Control-Request-Method, Access-Control-Request-Headers, Origin",
    });
    const answer = await post(gateway, "/actors/counter/add", 1, { origin: SHOP });
    expect(marks(answer)).toEqual({
      "access-control-allow-origin": SHOP,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": expect.stringContaining("retry-after"),
      vary: "Origin",
    });
  });

  test("may send the header in which the service wants its keys", async () => {
    const { system } = createTestSystem();
    const ref = system.spawn("counter", Counter, createCounter);
    const gateway = createGateway(system, {
      expose: { counter: { ref, operations: ["add"] } },
      cors: { origins: [SHOP] },
      authenticate: apiKeys({ header: "X-Robot", keys: { k3y: "robot" } }),
    });
    const asked = await gateway.fetch(
      new Request("http://service/actors/counter/add", {
        method: "OPTIONS",
        headers: { origin: SHOP, "access-control-request-method": "POST" },
      }),
    );
    expect(asked.headers.get("access-control-allow-headers")?.split(", ")).toContain("x-robot");
  });

  test("that are not listed learn nothing, and caches keep answers apart", async () => {
    const { gateway, preflight } = createService({ origins: [SHOP] });
    expect(marks(await preflight(EVIL))).toEqual({
      vary: "Access-Control-Request-Method, Access-Control-Request-Headers, Origin",
    });
    for (const origin of [EVIL, "null", `${SHOP}.evil.example`, SHOP.toUpperCase(), ""]) {
      expect(marks(await post(gateway, "/actors/counter/add", 1, { origin }))).toEqual({ vary: "Origin" });
    }
  });

  test("may read each header that the gateway sends to them", async () => {
    const test = createTestSystem();
    const ref = test.system.spawn("counter", Counter, createCounter);
    const gateway = createGateway(test.system, {
      expose: { counter: { ref, operations: { add: true, ticks: { resume: {} } } } },
      authenticate: ({ headers }) => (headers.has("x-no") ? undefined : { id: "ada" }),
      cors: { origins: [SHOP] },
      rateLimit: "4/min",
      serverTiming: true,
    });
    const sent = new Set<string>();
    const ask = async (method: string, path: string, body?: string, more = {}): Promise<Response> => {
      const headers = { origin: SHOP, "content-type": "application/json", ...more };
      const answer = gateway.fetch(new Request(`http://service${path}`, { method, headers, body: body ?? null }));
      await test.settle();
      const response = await answer;
      const text = response.text();
      await test.settle();
      await text;
      for (const name of response.headers.keys()) sent.add(name);
      return response;
    };
    await ask("POST", "/actors/counter/add", "1", { prefer: "server-timing, wait=5" });
    await ask("PUT", "/actors/counter/add");
    await ask("POST", "/actors/counter/add", "1", { "x-no": "1" });
    const stream = (await ask("POST", "/actors/counter/ticks", "2")).headers.get("content-location");
    await ask("GET", `${stream}?offset=-1`);
    await ask("GET", `${stream}?offset=-1&live=long-poll`);
    const { status, headers } = await ask("POST", "/actors/counter/add", "1");
    expect(status).toBe(429);
    expect([...sent]).toEqual(expect.arrayContaining(["allow", "etag", "stream-cursor", "server-timing", "ratelimit"]));
    const exposed = headers.get("access-control-expose-headers")?.split(", ") ?? [];
    // Pages may read these two anyway; the others are for browsers, caches and proxies.
    const others =
      /^(?:content-type|cache-control|vary|access-control-.*|x-content-type-options|x-accel-buffering|cross-origin-resource-policy)$/;
    expect([...sent].filter((name) => !exposed.includes(name) && !others.test(name))).toEqual([]);
  });

  test("read refusals too", async () => {
    const { gateway } = createService({ origins: [SHOP] });
    const response = await post(gateway, "/nothing", 1, { origin: SHOP });
    expect(marks(response)).toMatchObject({ "access-control-allow-origin": SHOP });
    await expectProblem(response, 404, "not-found");
    expect(marks(await post(gateway, "/actors/counter/add", 1, { origin: SHOP, "x-no": "1" }))).toMatchObject({
      "access-control-allow-origin": SHOP,
    });
  });

  test("may all be let in, without credentials", async () => {
    const { gateway } = createService({ origins: "*" });
    const answer = await post(gateway, "/actors/counter/add", 1, { origin: EVIL });
    expect(marks(answer)).toMatchObject({ "access-control-allow-origin": "*" });
    expect(answer.headers.get("vary")).toBeNull();
  });

  test("may be known by a function, whose failure lets nobody in and is logged", async () => {
    const { gateway } = createService({ origins: (origin) => origin.endsWith(".shop.example") });
    expect(marks(await post(gateway, "/actors/counter/add", 1, { origin: "https://de.shop.example" }))).toMatchObject({
      "access-control-allow-origin": "https://de.shop.example",
    });
    const failing = createService({
      origins: () => {
        throw new Error("dns");
      },
    });
    expect(marks(await post(failing.gateway, "/actors/counter/add", 1, { origin: SHOP }))).toEqual({ vary: "Origin" });
    expect(failing.takeLog()).toHaveLength(1);
  });

  test.each([
    [{ origins: "*", credentials: true }, /Browsers refuse credentials/],
    [{}, /cors needs origins/],
    [{ origins: [], maxAg: 1 }, /no option "maxAg" for the cors of a gateway/],
    [{ origins: ["shop.example"] }, /such as "https:\/\/shop.example", without a path; got "shop.example"/],
    [{ origins: ["*"] }, /got "\*"/],
    [{ origins: SHOP }, /are "\*", a function, or an array/],
    [{ origins: [SHOP], credentials: "yes" }, /is true or false/],
    [{ origins: [SHOP], maxAge: -1 }, /whole number of seconds/],
    [{ origins: [SHOP], headers: ["a b"] }, /array of names/],
  ])("options that cannot be are refused: %p", (cors, sentence) => {
    // These are what the compiler refuses, and JavaScript does not.
    expect(() => createService(cors as unknown as CorsOptions)).toThrow(sentence);
  });
});
