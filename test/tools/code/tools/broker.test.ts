import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Volume } from "memfs";
import * as z from "zod";
import { type Context, createSystem, defineProtocol, type SignaturesOf, Type } from "../../../../src";
import { createManualClock } from "../../../../src/testing";
import { spawnFileSystem } from "../../../../src/tools";
import type { Approval, ApprovalRequest, Approve } from "../../../../src/tools/code/approval";
import { Broker } from "../../../../src/tools/code/tools/broker";
import { type ToolLimits, toolLimitsOf } from "../../../../src/tools/code/tools/tool-limits";
import { ToolSet, type Tools } from "../../../../src/tools/code/tools/tool-set";

const Desk = defineProtocol("desk", {
  echo: { payload: Type.Unknown(), reply: Type.Unknown() },
  double: { payload: Type.Object({ n: Type.Number() }), reply: Type.Number() },
  wrong: { reply: Type.Number() },
  quiet: { payload: Type.Number() },
  fail: { reply: Type.Number() },
  wait: { reply: Type.Number() },
  make: { payload: Type.String(), reply: Type.Unknown() },
  once: { payload: z.string().transform((text) => `${text}!`), stream: z.string() },
  shout: { payload: z.string().transform((text) => text.toUpperCase()), reply: z.string() },
  count: { payload: Type.Number(), stream: Type.Number() },
  parts: { payload: Type.String(), stream: Type.Unknown() },
});
type Desk = SignaturesOf<typeof Desk>;

const circle: { self?: unknown } = {};
circle.self = circle;
const deep: unknown[] = [];
for (let i = 0, at = deep; i < 100_000; i++) {
  const inner: unknown[] = [];
  at.push(inner);
  at = inner;
}
const MADE: Readonly<Record<string, unknown>> = {
  bytes: { content: new Uint8Array(3) },
  "bytes in a list": [[new Uint8Array(3)]],
  buffer: Buffer.from("x"),
  bigint: { n: 1n },
  circle,
  deep,
  map: { map: new Map([[1, 2]]) },
  function: () => 1,
  throwing: {
    toJSON() {
      throw new Error("/home/secret");
    },
  },
};

/** As texts, 2.7 GB, which are too many for one, and 21 GB. */
const LARGE: Readonly<Record<string, unknown>> = {
  gigabytes: Array(3_000_000).fill("x".repeat(900)),
  "too many": new Array(2 ** 32 - 1),
};

interface Desks {
  broker: Broker;
  call(request: unknown): Promise<Answer>;
  clock: ReturnType<typeof createManualClock>;
  /** The events at the desk and of the run's clock, in order. */
  seen: unknown[];
  ctx: Context<Desk>;
}
type Answer = { ok: true; value?: unknown } | { ok: false; kind: string; message: string };

const noClock = { stop() {}, start() {} };

async function withDesk(
  { limits = {}, approve }: { limits?: ToolLimits; approve?: Approve | undefined },
  body: (desks: Desks) => Promise<void>,
): Promise<void> {
  const clock = createManualClock();
  const system = createSystem({ clock, logger: { warn() {}, error() {} } });
  const seen: unknown[] = [];
  let ctx: Context<Desk> | undefined;
  const ref = system.spawn(
    "desk",
    Desk,
    (context) => {
      ctx = context;
      return {
        echo: (payload) => {
          seen.push(payload);
          return payload;
        },
        double: ({ n }) => 2 * n,
        wrong: () => "text" as never,
        quiet: () => 5 as never,
        fail() {
          throw new Error("/home/secret");
        },
        async wait() {
          const { signal } = context;
          await new Promise<void>((resolve) => {
            signal.addEventListener("abort", () => resolve());
          });
          seen.push("given up");
          return 1;
        },
        make: (name) => MADE[name] ?? LARGE[name],
        *once(text) {
          yield text;
        },
        shout: (text) => text,
        async *count(n) {
          try {
            for (let i = 0; i < n; i++) yield n < 0 || i === 1_000 ? ("text" as never) : i;
          } finally {
            seen.push("left");
          }
        },
        *parts(name) {
          yield 1;
          yield MADE[name];
          yield 3;
        },
      };
    },
    { concurrency: 200 },
  );
  ref.tell("quiet", 1); // Makes the context.
  await clock.settle();
  if (ctx === undefined) throw new Error("It did not start.");
  const broker = new Broker(new ToolSet({ desk: ref }), { limits: toolLimitsOf(limits), approve });
  const runClock = { stop: () => void seen.push("stop"), start: () => void seen.push("start") };
  const call = async (request: unknown): Promise<Answer> =>
    JSON.parse(await broker.call(typeof request === "string" ? request : JSON.stringify(request), runClock)) as Answer;
  try {
    await body({ broker, call, clock, seen, ctx });
  } finally {
    broker.close();
    await clock.settle();
    const down = system.shutdown({ timeout: 100 });
    await clock.advance(1_000);
    await down;
    expect(clock.timers).toBe(0);
  }
}

const to = (operation: string, payload?: unknown) => ({ tool: "desk", operation, payload });
const fault = (answer: Answer): { kind: string; message: string } => {
  if (answer.ok) throw new Error(`It gave ${JSON.stringify(answer.value)}.`);
  return answer;
};

test("P18: what a schema throws is not told to code, but logged where the tool lives", async () => {
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const system = createSystem({ logger: { warn: log, error: log } });
  const isFine = (n: number): boolean => {
    if (n === 3) throw new Error("/home/secret");
    return true;
  };
  const throwing = Type.Refine(Type.Number(), isFine, () => "");
  const Vault = defineProtocol("vault", {
    open: { payload: throwing, reply: Type.Number() },
    close: { payload: Type.Number(), reply: throwing },
    peep: { payload: Type.Number(), stream: throwing },
    listen: { payload: throwing, stream: Type.Number() },
  });
  const vault = system.spawn("vault", Vault, () => ({
    open: (n) => n,
    close: (n) => n,
    *peep(n) {
      yield n;
    },
    listen: (n) => [n],
  }));
  const broker = new Broker(new ToolSet({ vault }), { limits: toolLimitsOf() });
  const call = (request: object) => broker.call(JSON.stringify(request), { stop() {}, start() {} });
  try {
    const call3 = (operation: string) => call({ tool: "vault", operation, payload: 3 });
    const { value: number } = JSON.parse(await call3("peep"));
    const answers = [await call3("open"), await call3("close"), await call({ next: number }), await call3("listen")];
    expect(answers.map((answer) => JSON.parse(answer).message)).toEqual([
      "tools.vault.open refuses its payload: it cannot be checked",
      "tools.vault.close gave what its protocol refuses as reply: it cannot be checked",
      "tools.vault.peep gave what its protocol refuses as item: it cannot be checked",
      "tools.vault.listen refuses its payload: it cannot be checked",
    ]);
    expect(logged).toEqual(
      ["open", "close", "peep", "listen"].map(
        (name) =>
          `envoi: A schema of tools.vault.${name} failed: "it cannot be checked: Error: /home/secret"; mend it.`,
      ),
    );
    for (let i = 0; i < 100; i++) await call3("open");
    expect(logged).toHaveLength(10); // P9: no code fills the log.
  } finally {
    broker.close();
    await system.shutdown();
  }
  expect(logged).toHaveLength(11);
});

describe("a call", () => {
  test("gives the reply, of what the schema made of the payload", async () => {
    await withDesk({}, async ({ call }) => {
      expect(await call(to("double", { n: 4 }))).toEqual({ ok: true, value: 8 });
      expect(await call(to("shout", "hey"))).toEqual({ ok: true, value: "HEY" });
      expect(await call(to("echo", null))).toEqual({ ok: true, value: null });
      expect(await call(to("echo"))).toEqual({ ok: true });
    });
  });

  test("P18: a payload is transformed once, approved or not, by a stream, too", async () => {
    for (const approve of [undefined, () => true, async () => ({ payload: "hey" })] as (Approve | undefined)[]) {
      await withDesk({ approve }, async ({ call }) => {
        const opened = await call(to("once", "hey"));
        const next = await call({ next: opened.ok ? opened.value : -1 });
        expect(next).toEqual({ ok: true, value: { done: false, value: "hey!" } });
      });
    }
  });

  test("of an operation without a reply gives none, whatever its handler returns", async () => {
    await withDesk({}, async ({ call }) => expect(await call(to("quiet", 1))).toEqual({ ok: true }));
  });

  test("whose payload does not fit is not made", async () => {
    await withDesk({}, async ({ call }) => {
      const { kind, message } = fault(await call(to("double", { n: "4" })));
      expect(kind).toBe("invalid-payload");
      expect(message).toBe("tools.desk.double refuses its payload: /n must be a number");
      expect(fault(await call(to("wait", 1))).kind).toBe("invalid-payload");
    });
  });

  test("whose reply does not fit its protocol is no value", async () => {
    await withDesk({}, async ({ call }) => {
      expect(fault(await call(to("wrong"))).kind).toBe("invalid-reply");
    });
  });

  test.each(Object.keys(MADE))("whose reply JSON cannot hold says so: %s", async (name) => {
    await withDesk({}, async ({ call }) => {
      const { kind, message } = fault(await call(to("make", name)));
      expect(kind).toBe("unserializable-reply");
      expect(message).toStartWith("The reply of tools.desk.make cannot come into code: it ");
      expect(message).not.toContain("secret");
      if (name === "deep" || name === "circle")
        expect(message).toContain("goes round in a circle, or is nested more than 1000");
      if (name.startsWith("b") && name !== "bigint") expect(message).toContain("ask for text or base64");
      const opened = await call(to("parts", name));
      const number = opened.ok ? opened.value : 0;
      expect(await call({ next: number })).toEqual({ ok: true, value: { done: false, value: 1 } });
      expect(fault(await call({ next: number })).kind).toBe("unserializable-reply");
      expect(fault(await call({ next: number })).kind).toBe("cancelled");
    });
  });

  test("P5: whose reply is more than may come and go is refused before a text of it is written", async () => {
    for (const name of Object.keys(LARGE)) {
      await withDesk({}, async ({ call }) => {
        expect(fault(await call(to("make", name)))).toMatchObject({
          kind: "budget",
          message: expect.stringContaining("16777216"),
        });
      });
    }
  });

  test("that fails says so, and not why: that is the tool's own", async () => {
    await withDesk({}, async ({ call }) => {
      expect(await call(to("fail"))).toEqual({
        ok: false,
        kind: "handler-failed",
        message: "tools.desk.fail failed.",
      });
    });
  });

  test("waits for as long as it may, and the tool is told that it was given up", async () => {
    await withDesk({ limits: { time: 200 } }, async ({ call, clock, seen }) => {
      const waiting = call(to("wait"));
      await clock.advance(199);
      expect(seen).toEqual([]);
      await clock.advance(1);
      expect(fault(await waiting)).toMatchObject({
        kind: "timeout",
        message: "tools.desk.wait gave no answer within 200 ms.",
      });
      expect(seen).toEqual(["given up"]);
    });
  });

  test("of a tool that has stopped comes to an answer", async () => {
    await withDesk({}, async ({ call, ctx, clock }) => {
      ctx.stop();
      await clock.settle();
      expect(fault(await call(to("double", { n: 1 }))).kind).toBe("stopped");
    });
  });
});

describe("what whoever runs may write", () => {
  test.each([
    "",
    "{",
    "null",
    "[]",
    '"tool"',
    "{}",
    '{"tool":"desk"}',
    '{"tool":1,"operation":"echo"}',
    '{"__proto__":{"tool":"desk","operation":"echo"}}',
    '{"tool":["desk"],"operation":{"toString":"echo"}}',
    '{"next":"1"}',
    '{"close":null}',
    "[".repeat(1_000_000),
  ])("is answered where it is no request: %#", async (text) => {
    await withDesk({}, async ({ call, seen }) => {
      expect(fault(await call(text)).kind).toBe("invalid-payload");
      expect(seen).toEqual([]);
    });
  });

  test("is no payload where it is nested more deeply than is sensible", async () => {
    await withDesk({}, async ({ call, seen }) => {
      const of = (depth: number) =>
        `{"tool":"desk","operation":"echo","payload":${"[".repeat(depth)}${"]".repeat(depth)}}`;
      expect(fault(await call(of(100_000))).message).toContain("nested more than 1000 deep");
      expect(fault(await call(of(1_100))).kind).toBe("invalid-payload");
      expect(seen).toEqual([]);
      expect((await call(of(900))).ok).toBe(true);
    });
  });

  test("names what there is, and nothing else", async () => {
    await withDesk({}, async ({ call }) => {
      for (const [tool, operation] of [
        ["desk", "toString"],
        ["desk", "__proto__"],
        ["constructor", "name"],
        ["__proto__", "echo"],
        ["x".repeat(1_000_000), "y"],
      ]) {
        const { kind, message } = fault(await call({ tool, operation }));
        expect(kind).toBe("unknown-operation");
        expect(message.length).toBeLessThan(300);
      }
    });
  });

  test("has no key __proto__ in a payload, however it is written, and may speak of it", async () => {
    await withDesk({}, async ({ call, seen }) => {
      const of = (payload: string) => call(`{"tool":"desk","operation":"echo","payload":${payload}}`);
      expect(fault(await of('{"__proto__":{"isAdmin":true}}')).kind).toBe("invalid-payload");
      expect(fault(await of('[1,{"a":{"\\u005f_proto__":1}}]')).kind).toBe("invalid-payload");
      expect(seen).toEqual([]);
      expect(await of('{"a":"__proto__","b":"\\u0041"}')).toEqual({ ok: true, value: { a: "__proto__", b: "A" } });
    });
  });

  test("may be any text: each is answered with a JSON text, and nothing is thrown", async () => {
    const part = fc.oneof(fc.constantFrom("desk", "echo", "double", "count", "__proto__"), fc.json(), fc.string());
    const request = fc.oneof(
      fc.record({ tool: part, operation: part, payload: fc.jsonValue() }, { requiredKeys: [] }),
      fc.record({ next: fc.oneof(fc.integer(), fc.double(), fc.string()) }),
      fc.record({ close: fc.jsonValue() }),
      fc.jsonValue(),
    );
    await withDesk({}, async ({ broker }) => {
      const property = fc.asyncProperty(
        fc.oneof(
          request.map((value) => JSON.stringify(value)),
          fc.string(),
        ),
        async (text) => {
          const answer = JSON.parse(await broker.call(text, noClock)) as Answer;
          if (answer.ok !== true) expect(typeof answer.kind).toBe("string");
        },
      );
      await fc.assert(property, { numRuns: 300 });
    });
  });
});

describe("a stream", () => {
  const open = async (call: Desks["call"], n: number): Promise<number> => {
    const opened = await call(to("count", n));
    return (opened.ok ? opened.value : undefined) as number;
  };

  test("is read item by item, to its end", async () => {
    await withDesk({}, async ({ call, seen }) => {
      const next = await open(call, 2);
      expect(await call({ next })).toEqual({ ok: true, value: { done: false, value: 0 } });
      expect(await call({ next })).toEqual({ ok: true, value: { done: false, value: 1 } });
      expect(await call({ next })).toEqual({ ok: true, value: { done: true } });
      expect(seen).toEqual(["left"]);
      expect(fault(await call({ next })).kind).toBe("cancelled");
    });
  });

  test("that is closed, or whose run ends, is left", async () => {
    await withDesk({}, async ({ broker, call, clock, seen }) => {
      const [first, second, third] = [await open(call, 100), await open(call, 100), await open(call, 100)];
      await call({ next: first });
      await call({ next: second });
      expect(await call({ close: first })).toEqual({ ok: true });
      await clock.settle();
      expect(seen).toEqual(["left"]);
      expect(await call({ close: first })).toEqual({ ok: true });
      broker.close();
      await clock.settle();
      expect(seen).toEqual(["left", "left"]);
      expect(fault(await call({ next: third })).kind).toBe("cancelled");
    });
  });

  test("is made no more than a few items ahead of the code", async () => {
    const Many = defineProtocol("many", { all: { stream: Type.Number() } });
    const system = createSystem();
    let made = 0;
    const many = system.spawn("many", Many, () => ({
      *all() {
        for (;;) yield ++made;
      },
    }));
    const broker = new Broker(new ToolSet({ many }), { limits: toolLimitsOf() });
    const opened = JSON.parse(await broker.call('{"tool":"many","operation":"all"}', noClock));
    for (let i = 0; i < 5; i++) await broker.call(JSON.stringify({ next: opened.value }), noClock);
    await new Promise(setImmediate);
    expect(made).toBeLessThanOrEqual(5 + 3);
    broker.close();
    await system.shutdown();
  });

  test("has a number that no other one of these tools had", async () => {
    await withDesk({}, async ({ ctx }) => {
      const set = new ToolSet({ desk: ctx.self });
      const numbers = new Set<unknown>();
      for (let run = 0; run < 3; run++) {
        const broker = new Broker(set, { limits: toolLimitsOf() });
        const answer = JSON.parse(await broker.call(JSON.stringify(to("count", 1)), noClock));
        numbers.add(answer.value);
        broker.close();
      }
      expect(numbers.size).toBe(3);
    });
  });

  test("is one of 64 at most, and of any number one after the other", async () => {
    await withDesk({}, async ({ call }) => {
      const open64 = await Promise.all(Array.from({ length: 64 }, () => open(call, 1)));
      expect(fault(await call(to("count", 1))).kind).toBe("budget");
      await call({ close: open64[0] });
      expect(await open(call, 1)).toBeNumber();
    });
  });

  test("waits for an item as long as a call may take", async () => {
    const Slow = defineProtocol("slow", { never: { stream: Type.Number() } });
    const clock = createManualClock();
    const system = createSystem({ clock, logger: { warn() {}, error() {} } });
    const slow = system.spawn("slow", Slow, () => ({
      async *never() {
        await new Promise(() => {});
        yield 1;
      },
    }));
    const broker = new Broker(new ToolSet({ slow }), { limits: toolLimitsOf({ time: 70 }) });
    const opened = JSON.parse(await broker.call('{"tool":"slow","operation":"never"}', noClock));
    const reading = broker.call(JSON.stringify({ next: opened.value }), noClock);
    await clock.advance(70);
    expect(JSON.parse(await reading)).toMatchObject({ ok: false, kind: "timeout" });
    const down = system.shutdown({ timeout: 10 });
    await clock.advance(10);
    await down;
    expect(clock.timers).toBe(0);
  });
});

describe("the budget", () => {
  test("of calls is not more; items of streams and refused requests cost none", async () => {
    await withDesk({ limits: { calls: 2 } }, async ({ call }) => {
      await call("nonsense");
      expect(await call(to("count", 3))).toMatchObject({ ok: true });
      for (let i = 0; i < 3; i++) await call({ next: 1 });
      expect(await call(to("double", { n: 1 }))).toMatchObject({ ok: true });
      expect(fault(await call(to("double", { n: 1 })))).toMatchObject({
        kind: "budget",
        message: "The code has made its 2 calls of tools; do more with each.",
      });
    });
  });

  test("of bytes counts requests and answers, and what is open ends with it", async () => {
    await withDesk({ limits: { bytes: 2_000 } }, async ({ call, clock, seen }) => {
      expect(await call(to("echo", "é".repeat(200)))).toMatchObject({ ok: true });
      const waiting = call(to("wait"));
      await call(to("count", 100));
      await call({ next: 1 });
      expect(fault(await call(to("echo", "é".repeat(400)))).kind).toBe("budget");
      expect(fault(await waiting).kind).toBe("budget");
      await clock.settle();
      expect(seen.filter((entry) => entry === "given up" || entry === "left").toSorted()).toEqual(["given up", "left"]);
      expect(fault(await call(to("double", { n: 1 }))).kind).toBe("budget");
      const before = seen.length;
      await call(to("echo", 1));
      expect(seen.length).toBe(before);
    });
  });

  test("of bytes may be used up exactly, and not by one byte more", async () => {
    const request = JSON.stringify(to("echo", "é"));
    const bytes = Buffer.byteLength(request) + Buffer.byteLength('{"ok":true,"value":"é"}');
    await withDesk({ limits: { bytes } }, async ({ call }) => {
      expect(await call(request)).toEqual({ ok: true, value: "é" });
    });
    await withDesk({ limits: { bytes: bytes - 1 } }, async ({ call }) => {
      expect(fault(await call(request)).kind).toBe("budget");
    });
  });

  test("of bytes refuses a request that is more than all of it, unread", async () => {
    await withDesk({ limits: { bytes: 1_000 } }, async ({ call, seen }) => {
      expect(fault(await call(to("echo", "x".repeat(1_000)))).kind).toBe("budget");
      expect(seen).toEqual([]);
    });
  });
});

describe("approval", () => {
  const asked = async (
    approval: unknown,
    then: (answer: Answer, seen: unknown[], request: ApprovalRequest | undefined) => void,
  ): Promise<void> => {
    let request: ApprovalRequest | undefined;
    const approve: Approve = (given) => {
      request = given;
      return typeof approval === "function" ? approval() : (approval as Approval);
    };
    await withDesk({ approve }, async ({ call, seen }) => then(await call(to("double", { n: 2 })), seen, request));
  };

  test("sees the call, and lets it happen, or not", async () => {
    await asked(true, (answer, _, request) => {
      expect(answer).toEqual({ ok: true, value: 4 });
      expect(request).toMatchObject({ kind: "call", tool: "desk", operation: "double", payload: { n: 2 } });
      expect(request?.signal).toBeInstanceOf(AbortSignal);
    });
    await asked(false, (answer) => expect(fault(answer).kind).toBe("refused"));
    await asked({ refuse: "not today" }, (answer) => {
      expect(fault(answer)).toMatchObject({ kind: "refused", message: "tools.desk.double was refused: not today" });
    });
  });

  test("may change the payload, which is held against the schema again", async () => {
    await asked({ payload: { n: 5 } }, (answer) => expect(answer).toEqual({ ok: true, value: 10 }));
    await asked({ payload: { n: "5" } }, (answer) => expect(fault(answer).kind).toBe("invalid-payload"));
  });

  test("that fails, or says what is no answer, refuses, and does not tell code why", async () => {
    const thrown = () => {
      throw new Error("secret");
    };
    const rejected = () => Promise.reject(new Error("secret"));
    // A refusal counts, whatever else is said.
    const both = { refuse: 1, payload: { n: 5 } };
    for (const approval of [undefined, null, 1, "yes", {}, { code: "1" }, { refuse: 1 }, both, thrown, rejected]) {
      await asked(approval, (answer) => {
        expect(fault(answer).kind).toBe("refused");
        expect(fault(answer).message).not.toContain("secret");
      });
    }
  });

  test("stops the run's clock while it waits, and starts it again, also where it fails", async () => {
    await asked(
      () => Promise.resolve(true),
      (_, seen) => expect(seen).toEqual(["stop", "start"]),
    );
    await asked(
      // biome-ignore lint/suspicious/noThenProperty: what is awaited like a promise, and is none, is the subject.
      () => Object.fromEntries([["then", (resolve: (answer: boolean) => void) => resolve(true)]]),
      (answer, seen) => expect([answer, seen]).toEqual([{ ok: true, value: 4 }, ["stop", "start"]]),
    );
    await asked(
      () => Promise.reject(new Error()),
      (_, seen) => expect(seen).toEqual(["stop", "start"]),
    );
  });

  test("is not asked for what does not fit, and sees its signal abort when the run ends; then nothing is called", async () => {
    const { promise, resolve } = Promise.withResolvers<Approval>();
    const requests: ApprovalRequest[] = [];
    const approve: Approve = (request) => {
      requests.push(request);
      return promise;
    };
    await withDesk({ approve }, async ({ broker, call, clock, seen }) => {
      await call(to("double", "x"));
      expect(requests).toEqual([]);
      const waiting = call(to("echo", "called"));
      await clock.settle();
      expect(requests[0]?.signal.aborted).toBe(false);
      broker.close();
      expect(requests[0]?.signal.aborted).toBe(true);
      resolve(true);
      expect(fault(await waiting).kind).toBe("cancelled");
      await clock.settle();
      expect(seen).not.toContain("called");
    });
  });
});

test("the end of a run gives up its calls, and none is made after it", async () => {
  await withDesk({}, async ({ broker, call, clock, seen }) => {
    const waiting = call(to("wait"));
    await clock.settle();
    broker.close();
    expect(fault(await waiting).kind).toBe("cancelled");
    await clock.settle();
    expect(seen).toEqual(["given up"]);
    expect(fault(await call(to("echo", 1))).kind).toBe("cancelled");
    expect(seen).toEqual(["given up"]);
  });
});

test("files are read and streamed as text, and bytes say what to ask for", async () => {
  await using system = createSystem();
  const files = spawnFileSystem(system, { root: "/files", volume: Volume.fromJSON({ "/files/a.txt": "one\ntwo" }) });
  const tools: Tools = { files };
  const broker = new Broker(new ToolSet(tools), { limits: toolLimitsOf() });
  const call = async (request: unknown) => JSON.parse(await broker.call(JSON.stringify(request), noClock)) as Answer;
  const of = (operation: string, payload: unknown) => call({ tool: "files", operation, payload });
  expect(await of("read", { path: "a.txt" })).toMatchObject({
    ok: true,
    value: { ok: true, value: { content: "one\ntwo" } },
  });
  expect(fault(await of("read", { path: "a.txt", encoding: "bytes" })).message).toContain("ask for text or base64");
  expect(await of("read", { path: "b.txt" })).toMatchObject({
    ok: true,
    value: { ok: false, error: { kind: "not-found" } },
  });
  const stream = async (encoding?: string) => {
    const opened = await of("readStream", { path: "a.txt", ...(encoding && { encoding }) });
    return call({ next: opened.ok ? opened.value : 0 });
  };
  expect(await stream("utf8")).toEqual({ ok: true, value: { done: false, value: { ok: true, value: "one\ntwo" } } });
  expect(fault(await stream()).kind).toBe("unserializable-reply");
  broker.close();
});
