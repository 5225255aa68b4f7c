import { describe, expect, test } from "bun:test";
import { networkOf } from "../../../src/http/border/rate-limit";
import { createGateway, type RateLimitStore, type RateTaken } from "../../../src/http/index";
import { testSystems } from "../../actor/test-system";
import { expectProblem, get, post } from "../counter";
import { byName, createService, peers } from "./service";

const { createTestSystem } = testSystems();

const told = ({ headers }: Response) => [
  headers.get("ratelimit-policy"),
  headers.get("ratelimit"),
  headers.get("retry-after"),
];

describe("a rate limit", () => {
  test("is off by default: no header tells one", async () => {
    const gateway = createService(createTestSystem());
    expect(told(await get(gateway, "/actors/counter/total"))).toEqual([null, null, null]);
  });

  test("tells what is left, and refuses what is too much with the time to wait", async () => {
    const system = createTestSystem();
    const gateway = createService(system, { rateLimit: "2/s;3/min", authenticate: byName });
    const ask = (user: string) => get(gateway, "/actors/counter/total", { "x-user": user });
    const policy = '"2/s";q=2;w=1, "3/min";q=3;w=60';
    expect(told(await ask("ada"))).toEqual([policy, '"2/s";r=1;t=1, "3/min";r=2;t=20', null]);
    expect(told(await ask("ada"))).toEqual([policy, '"2/s";r=0;t=1, "3/min";r=1;t=20', null]);
    const refused = await ask("ada");
    expect(told(refused)).toEqual([policy, '"2/s";r=0;t=1', "1"]);
    expect(await expectProblem(refused, 429, "too-many-requests")).toMatch(/2 are taken in 1 s\. Try again in 1 s\.$/);
    expect((await ask("bob")).status).toBe(200);
    await system.advance(1_000);
    expect((await ask("ada")).status).toBe(200);
    const later = await ask("ada");
    expect(told(later)).toEqual([policy, '"3/min";r=0;t=19', "19"]); // Those that refused alone: no Retry-After before the end of one.
    await system.advance(18_999);
    expect((await ask("ada")).status).toBe(429);
    await system.advance(1);
    expect((await ask("ada")).status).toBe(200);
  });

  test("P18: refuses before a body is read, and a handler hears of it", async () => {
    const system = createTestSystem();
    const gateway = createService(system, { rateLimit: "1/min" });
    expect((await post(gateway, "/actors/counter/add", 1)).status).toBe(200);
    const body = new ReadableStream({ pull: () => Promise.reject(new Error("it was read")) }, { highWaterMark: 0 });
    const request = new Request("http://service/actors/counter/add", { method: "POST", body });
    expect((await gateway.fetch(request)).status).toBe(429);
    expect(request.bodyUsed).toBe(false);
  });

  test("counts those who are not authenticated by address, and in IPv6 by the first half of it", async () => {
    const gateway = createService(createTestSystem(), { rateLimit: "1/min" });
    const ask = async (peer: string) => {
      const request = new Request("http://service/actors/counter/total", { headers: { "x-peer": peer } });
      return (await gateway.fetch(request, peers)).status;
    };
    expect([await ask("10.0.0.1"), await ask("10.0.0.1"), await ask("10.0.0.2")]).toEqual([200, 429, 200]);
    expect([await ask("2001:db8::1"), await ask("2001:db8:0:0:a::2"), await ask("2001:db8:0:1::1")]).toEqual([
      200, 429, 200,
    ]);
  });

  test.each([
    ["10.0.0.1", "10.0.0.1"],
    ["::ffff:10.0.0.1", "::ffff:10.0.0.1"],
    ["::1", "0:0:0:0::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["fe80::1:2:3:4", "fe80:0:0:0::/64"],
    ["", ""],
  ])("%p is counted as %p", (address, expected) => {
    expect(networkOf(address)).toBe(expected);
  });

  test("behind a proxy counts by the address that the proxy says", async () => {
    const addressOf = ({ headers }: Request) => headers.get("x-real-ip");
    const gateway = createService(createTestSystem(), { rateLimit: "1/min", addressOf });
    const ask = async (headers: Record<string, string>) => {
      const request = new Request("http://service/actors/counter/total", { headers });
      return (await gateway.fetch(request, peers)).status;
    };
    expect([
      await ask({ "x-real-ip": "1.2.3.4" }),
      await ask({ "x-real-ip": "1.2.3.4" }),
      await ask({ "x-real-ip": "1.2.3.5" }),
    ]).toEqual([200, 429, 200]);
    expect([await ask({}), await ask({})]).toEqual([200, 429]); // The address of the peer.
  });

  test("of an operation stands beside that of all", async () => {
    const system = createTestSystem();
    const rateLimit = { all: "10/s", operations: { "counter.add": "1/min" } };
    const gateway = createService(system, { rateLimit, authenticate: byName, authorize: async () => true });
    const headers = { "x-user": "ada" };
    expect(told(await post(gateway, "/actors/counter/add", 1, headers))).toEqual([
      '"10/s";q=10;w=1, "counter.add 1/min";q=1;w=60',
      '"10/s";r=9;t=1, "counter.add 1/min";r=0;t=60',
      null,
    ]);
    const refused = await post(gateway, "/actors/counter/add", 1, headers);
    expect(told(refused)[2]).toBe("60");
    await expectProblem(refused, 429, "too-many-requests");
    expect((await get(gateway, "/actors/counter/total", headers)).status).toBe(200);
    expect((await post(gateway, "/actors/counter/add", 1, { "x-user": "bob" })).status).toBe(200);
    expect(await (await get(gateway, "/actors/counter/total", headers)).json()).toBe(2); // What was refused did nothing.
  });

  test("takes nothing for what authorize refuses", async () => {
    const gateway = createService(createTestSystem(), {
      rateLimit: { operations: { "counter.add": "1/min" } },
      authenticate: byName,
      authorize: (caller) => caller?.id === "ada",
    });
    const add = async (user: string) => (await post(gateway, "/actors/counter/add", 1, { "x-user": user })).status;
    expect([await add("bob"), await add("bob"), await add("ada"), await add("ada")]).toEqual([403, 403, 200, 429]);
  });

  test("is said in the documents", async () => {
    const gateway = createService(createTestSystem(), { rateLimit: "100/s" });
    const text = await (await get(gateway, "/openapi.json")).text();
    const operation = JSON.parse(text).paths["/actors/counter/add"].post;
    expect(Object.keys(operation.responses)).toContain("429");
  });

  test.each([
    ["10", /such as "10\/s;100\/min"/],
    [{ all: "10/s;10/1s" }, /two windows/],
    [{ operations: { "counter.add": "often" } }, /counter.add in a gateway/],
    [{ operations: ["counter.add"] }, /are an object/],
    [{ operations: { "counter.add": "1/s" } }, /"counter.add", which is not exposed/],
    [{ store: {} }, /has a method take/],
    [{ callers: 0 }, /whole number/],
    [{ whenStoreFails: "shut" }, /"open" or "closed"/],
    [{ timeout: -1 }, /milliseconds/],
    [{ window: "10/s" }, /no option "window"/],
    [7, /are an object/],
  ])("that cannot be is refused at once: %p", (rateLimit, sentence) => {
    const { system } = createTestSystem();
    expect(() => createGateway(system, { expose: {}, rateLimit: rateLimit as never })).toThrow(sentence);
  });

  test("has windows for what is there: a misspelt name would hold nobody", async () => {
    const limited = (name: string, more = {}) =>
      createService(createTestSystem(), { rateLimit: { operations: { [name]: "1/s" } }, ...more });
    const refusal =
      'The rate limit of a gateway has windows for "counter.ad", which is not exposed; write some of counter.add';
    expect(() => limited("counter.ad")).toThrow(refusal);
    expect(() => limited("conter.add")).toThrow(/"conter.add", which is not exposed/);
    expect(() => limited("counter.ad", { parts: [] })).toThrow(refusal);
    for (const [name, more] of [["/openapi.json.read"], ["own.work", { parts: [] }], ["counter.add"]] as const) {
      await limited(name, more).close();
    }
  });
});

describe("a store that is handed in", () => {
  const rateLimit = (take: RateLimitStore["take"], more = {}) => ({ all: "5/s", store: { take }, ...more });
  const taken: RateTaken = { isAllowed: true, windows: [{ remaining: 4, wait: 1 }] };

  test("is asked with the key of the caller and the windows, and decides", async () => {
    const asked: unknown[] = [];
    const take: RateLimitStore["take"] = async (...given) => {
      asked.push(given);
      return asked.length === 1 ? taken : { isAllowed: false, windows: [{ remaining: 0, wait: 2_500 }] };
    };
    const gateway = createService(createTestSystem(), { rateLimit: rateLimit(take), authenticate: byName });
    const ask = () => get(gateway, "/actors/counter/total", { "x-user": "ada" });
    expect(told(await ask())).toEqual(['"5/s";q=5;w=1', '"5/s";r=4;t=1', null]);
    expect(told(await ask())).toEqual(['"5/s";q=5;w=1', '"5/s";r=0;t=3', "3"]);
    expect(asked[0]).toEqual([" ada", 1, [{ name: "5/s", quota: 5, seconds: 1 }]]);
  });

  const failures: readonly (readonly [string, RateLimitStore["take"]])[] = [
    [
      "throws",
      () => {
        throw new Error("the secret of /home/redis");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("the secret of /home/redis");
      },
    ],
    ["never answers", () => new Promise(() => {})],
    ["gives nothing", () => undefined as never],
    ["gives half an answer", () => ({ isAllowed: true, windows: [] })],
    ["gives what is no number", () => ({ isAllowed: true, windows: [{ remaining: Number.NaN, wait: 1 }] })],
  ];

  test.each(failures)("and %s lets requests in, with one line a second, or refuses them", async (_, take) => {
    const system = createTestSystem();
    const open = createService(system, { rateLimit: rateLimit(take) });
    const asks = [1, 2, 3].map(() => get(open, "/actors/counter/total"));
    await system.advance(200);
    for (const answer of await Promise.all(asks))
      expect([answer.status, ...told(answer)]).toEqual([200, '"5/s";q=5;w=1', null, null]);
    expect(system.takeLog().map(({ message }) => message)).toEqual([
      expect.stringMatching(/The store of the rate limit .* requests are let in meanwhile\.$/),
    ]);

    const other = createTestSystem();
    const closed = createService(other, { rateLimit: rateLimit(take, { whenStoreFails: "closed" }) });
    const refused = get(closed, "/actors/counter/total");
    await other.advance(200);
    await expectProblem(await refused, 503, "unavailable");
    expect(other.takeLog()).toHaveLength(1);
  });
});

describe("requests of one caller at one time", () => {
  test("P18: are bounded where the owner says so; others are not touched", async () => {
    const system = createTestSystem();
    const gateway = createService(system, { limits: { requests: 2 }, authenticate: byName });
    const ask = (user: string, operation = "never") =>
      post(gateway, `/actors/counter/${operation}`, null, { "x-user": user, prefer: "wait=1" });
    const waiting = [ask("ada"), ask("ada")];
    await system.settle();
    const refused = await ask("ada");
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await expectProblem(refused, 429, "too-many-requests")).toMatch(/2 requests of this caller/);
    const bob = ask("bob", "total");
    await system.advance(1_000);
    expect((await bob).status).toBe(504); // It waited behind the others, in the mailbox.
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([504, 504]);
    const next = ask("ada", "total");
    await system.advance(1_000);
    expect((await next).status).toBe(504);
  });
});

describe("P18: the addresses of one line of IPv6 are one caller, who has at one time no more than", () => {
  const limits = { requests: 2, streams: 2 };
  const begin = (gateway: ReturnType<typeof createService>, path: string, body: number | null, peer: string) =>
    gateway.fetch(
      new Request(`http://service/actors/counter/${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", "x-peer": peer },
      }),
      peers,
    );

  test("its requests", async () => {
    const system = createTestSystem();
    const gateway = createService(system, { limits });
    const waiting = ["2001:db8::1", "2001:db8::2"].map((peer) => begin(gateway, "never", null, peer));
    await system.settle();
    await expectProblem(await begin(gateway, "total", null, "2001:db8::3"), 429, "too-many-requests");
    const other = begin(gateway, "total", null, "2001:db8:0:1::1");
    await system.advance(30_000);
    expect((await Promise.all([...waiting, other])).map(({ status }) => status)).toEqual([504, 504, 504]);
  });

  test("its streams", async () => {
    const system = createTestSystem();
    const gateway = createService(system, { limits });
    const open = async (peer: string) => {
      const opened = begin(gateway, "ticks", 1_000_000, peer);
      await system.settle();
      return opened;
    };
    const opened = [await open("2001:db8::1"), await open("2001:db8::2")];
    await expectProblem(await open("2001:db8::3"), 429, "too-many-requests");
    await Promise.all(opened.map(({ body }) => body?.cancel()));
    const next = await open("2001:db8::3");
    expect(next.status).toBe(200);
    await next.body?.cancel();
  });
});

test("P18: a flood of 10,000 callers is answered, and keeps memory flat", async () => {
  const system = createTestSystem();
  const gateway = createService(system, { rateLimit: { all: "1/min", callers: 500 }, authenticate: byName });
  const flood = async (round: number): Promise<number> => {
    for (let n = 0; n < 2_000; n += 100) {
      const asks = Array.from({ length: 100 }, (_, k) =>
        get(gateway, "/actors/counter/total", { "x-user": `${round} ${n + k}` }),
      );
      for (const { status } of await Promise.all(asks))
        if (status !== 200) throw new Error(`It was answered with ${status}.`);
    }
    Bun.gc(true);
    return process.memoryUsage().heapUsed;
  };
  await flood(0);
  const before = await flood(1);
  for (const round of [2, 3]) await flood(round);
  expect((await flood(4)) - before).toBeLessThan(2_000_000); // A caller whose id is kept would take 200 bytes or more.
});
