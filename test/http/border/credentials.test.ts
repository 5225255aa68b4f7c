import { describe, expect, test } from "bun:test";
import { type Authenticate, anyOf, apiKeys, bearerTokens, type Caller } from "../../../src/http/index";
import { testSystems } from "../../actor/test-system";
import { expectProblem, post } from "../counter";
import { createService } from "./service";

const { createTestSystem } = testSystems();

const told = async (authenticate: Authenticate, headers: Record<string, string>, system = createTestSystem()) => {
  const gateway = createService(system, { authenticate });
  return post(gateway, "/actors/counter/told", null, headers);
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("bearer tokens of a list", () => {
  const tokens = bearerTokens({ s3cr3t: "ada", t0ken: { id: "bob", metadata: { role: "guest" } } });

  test("P18: let in their callers, whose metadata handlers read", async () => {
    expect(await (await told(tokens, bearer("s3cr3t"))).json()).toEqual({ caller: "ada" });
    expect(await (await told(tokens, { authorization: "bEARER   t0ken" })).json()).toEqual({
      caller: "bob",
      role: "guest",
    });
  });

  test.each([
    ["none", {}, "Bearer"],
    ["an empty one", { authorization: "" }, "Bearer"],
    ["another scheme", { authorization: "Basic czNjcjN0" }, "Bearer"],
    ["the scheme alone", { authorization: "Bearer" }, "Bearer"],
    ["an unknown one", bearer("s3cr3T"), 'Bearer error="invalid_token"'],
    ["a part of one", bearer("s3cr3"), 'Bearer error="invalid_token"'],
    ["more than one", bearer("s3cr3t, Bearer s3cr3t"), 'Bearer error="invalid_token"'],
    ["a name that each object has", bearer("constructor"), 'Bearer error="invalid_token"'],
    ["the prototype", bearer("__proto__"), 'Bearer error="invalid_token"'],
    ["one of 10,000 characters", bearer("a".repeat(10_000)), 'Bearer error="invalid_token"'],
    ["one that is nothing but padding", bearer("=".repeat(50)), 'Bearer error="invalid_token"'],
  ])("P18: refuse a request with %s, and say how to ask (RFC 6750)", async (_, headers, challenge) => {
    const response = await told(tokens, headers as Record<string, string>);
    expect(response.headers.get("www-authenticate")).toBe(challenge);
    await expectProblem(response, 401, "unauthenticated");
  });

  test("are replaced while requests come", async () => {
    const list = bearerTokens(new Map([["old", "ada"]]));
    list.replace({ new: "ada" });
    expect((await told(list, bearer("old"))).status).toBe(401);
    expect((await told(list, bearer("new"))).status).toBe(200);
    expect(() => list.replace({ "two words": "ada" })).toThrow('The token of "ada" cannot be sent in a header');
    expect(() => list.replace({ "": { id: "ada" } })).toThrow('The token of "ada" is empty: set it where');
    expect((await told(list, bearer("new"))).status).toBe(200); // The list that was refused took nobody's place.
  });

  test("P18: that cannot be sent or name nobody are refused at once, and no sentence has them", () => {
    for (const list of [{ "se cret": "ada" }, { secret: "" }, { secret: { id: 1 } }, { "": "ada" }, null, "secret"]) {
      let sentence = "";
      try {
        bearerTokens(list as never);
      } catch (thrown) {
        sentence = (thrown as Error).message;
      }
      expect(sentence).toMatch(/token/);
      if (typeof list === "object") expect(sentence).not.toMatch(/secret|se cret/);
    }
  });
});

describe("bearer tokens that a function verifies", () => {
  const verify = async (token: string): Promise<Caller | undefined> =>
    token.startsWith("user-") ? { id: token.slice(5) } : undefined;

  test("let in the caller that it gives, and refuse with the realm where it gives none", async () => {
    const authenticate = bearerTokens({ verify, realm: 'the "shop"' });
    expect(await (await told(authenticate, bearer("user-ada"))).json()).toEqual({ caller: "ada" });
    const refused = await told(authenticate, bearer("nobody"));
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="the \\"shop\\"", error="invalid_token"');
    expect((await told(authenticate, {})).headers.get("www-authenticate")).toBe('Bearer realm="the \\"shop\\""');
  });

  test("P18: refuse a token for which it throws; the log has one line a second", async () => {
    const system = createTestSystem();
    const gateway = createService(system, {
      authenticate: bearerTokens({
        verify: () => {
          throw new Error("the secret of /home/keys");
        },
      }),
    });
    for (let n = 0; n < 5; n++) {
      await expectProblem(await post(gateway, "/actors/counter/total", null, bearer("a")), 401, "unauthenticated");
    }
    expect(system.takeLog()).toHaveLength(1);
    await system.advance(1_000);
    await post(gateway, "/actors/counter/total", null, bearer("a"));
    expect(system.takeLog()).toHaveLength(1);
  });

  test("P18: answer 503 if it takes too long, and tell it by its signal", async () => {
    const system = createTestSystem();
    let signal: AbortSignal | undefined;
    const never = (_: string, given: AbortSignal): Promise<Caller> => {
      signal = given;
      return new Promise(() => {});
    };
    const asked = told(bearerTokens({ verify: never, timeout: 300 }), bearer("a"), system);
    await system.advance(299);
    expect(signal?.aborted).toBe(false);
    await system.advance(1);
    const response = await asked;
    expect([response.headers.get("retry-after"), signal?.aborted]).toEqual(["1", true]);
    await expectProblem(response, 503, "unavailable");
    await system.expectLogged("not verified within 300 ms");
  });

  test("are asked about each time, or once for a while; a crowd asks once", async () => {
    const system = createTestSystem();
    let count = 0;
    const counting = async (token: string): Promise<Caller | undefined> => {
      count++;
      return verify(token);
    };
    const asking = createService(system, { authenticate: bearerTokens({ verify: counting, cache: 1_000 }) });
    const ask = (token: string) => post(asking, "/actors/counter/told", null, bearer(token));
    const crowd = await Promise.all(Array.from({ length: 10 }, () => ask("user-ada")));
    expect([crowd.map(({ status }) => status).join(), count]).toEqual([Array(10).fill(200).join(), 1]);
    await system.advance(999);
    await ask("user-ada");
    expect(count).toBe(1);
    await system.advance(1);
    await ask("user-ada");
    expect(count).toBe(2);
    const strangers = await Promise.all([ask("nobody"), ask("nobody")]); // Each has a body of its own.
    for (const each of strangers) await expectProblem(each, 401, "unauthenticated");
    await ask("nobody");
    expect(count).toBe(4); // Only callers are kept.
  });

  test("P18: keep a bounded number of callers", async () => {
    const system = createTestSystem();
    let count = 0;
    const counting = async (token: string): Promise<Caller> => {
      count++;
      return { id: token };
    };
    const gateway = createService(system, {
      authenticate: bearerTokens({ verify: counting, cache: 60_000, cached: 3 }),
    });
    const ask = (token: string) => post(gateway, "/actors/counter/total", null, bearer(token));
    for (const token of ["a", "b", "c", "d", "b", "c", "d"]) await ask(token);
    expect(count).toBe(4);
    await ask("a");
    expect(count).toBe(5);
  });

  test("a function that gives something else is a mistake: 500, and the log says it", async () => {
    const system = createTestSystem();
    const response = await told(bearerTokens({ verify: () => "ada" as never }), bearer("a"), system);
    await expectProblem(response, 500, "internal-error");
    await system.expectLogged("The gateway failed");
  });

  test("options that cannot be are refused at once", () => {
    for (const options of [{ timeout: 0 }, { cache: -1 }, { cached: 0 }, { realm: "a\nb" }, { Realm: "a" }]) {
      expect(() => bearerTokens({ verify, ...options } as never)).toThrow();
    }
  });
});

describe("API keys", () => {
  const keys = apiKeys({ header: "X-Key", keys: { "k3y!:{}": "robot" } });

  test("P18: let in their callers, and refuse others with a challenge that names the header", async () => {
    expect(await (await told(keys, { "x-key": "k3y!:{}" })).json()).toEqual({ caller: "robot" });
    for (const headers of [
      {},
      { "x-key": "" },
      { "x-key": "k3y" },
      { "x-key": "k3y!:{}, k3y!:{}" },
      { "x-key": "a".repeat(5_000) },
    ]) {
      const response = await told(keys, headers as Record<string, string>);
      expect(response.headers.get("www-authenticate")).toBe('ApiKey header="x-key"');
      await expectProblem(response, 401, "unauthenticated");
    }
  });

  test("are replaced while requests come", async () => {
    const list = apiKeys({ keys: { old: "robot" } });
    list.replace({ new: "robot" });
    expect((await told(list, { "x-api-key": "old" })).status).toBe(401);
    expect((await told(list, { "x-api-key": "new" })).status).toBe(200);
  });

  test("options that cannot be are refused at once", () => {
    expect(() => apiKeys({ header: "two words", keys: {} })).toThrow(/name of a header/);
    expect(() => apiKeys({} as never)).toThrow(/The keys are an object/);
    expect(() => apiKeys({ keys: {}, head: "a" } as never)).toThrow(/no option "head"/);
  });
});

describe("several kinds of credentials", () => {
  test("let in whom any of them knows, and refuse with the challenges of all", async () => {
    const either = anyOf(bearerTokens({ s3cr3t: "ada" }), apiKeys({ keys: { k3y: "robot" } }));
    expect(await (await told(either, bearer("s3cr3t"))).json()).toEqual({ caller: "ada" });
    expect(await (await told(either, { "x-api-key": "k3y", ...bearer("other") })).json()).toEqual({ caller: "robot" });
    const refused = await told(either, {});
    expect(refused.headers.get("www-authenticate")).toBe('Bearer, ApiKey header="x-api-key"');
    await expectProblem(refused, 401, "unauthenticated");
    expect(() => anyOf(...([] as never as [Authenticate]))).toThrow(TypeError);
  });
});
