import { expect, test } from "bun:test";
import {
  type AskCycleError,
  type AskResult,
  type Context,
  defineProtocol,
  type RefTo,
  type SignaturesOf,
  StreamError,
  type System,
  Type,
} from "../../src/index";
import { expectBalance, reasonsOf, testSystems } from "./test-system";

const { createTestSystem } = testSystems();

const Node = defineProtocol("node", {
  visit: { payload: Type.String(), reply: Type.String() },
  other: { payload: Type.String(), reply: Type.String() },
  items: { payload: Type.String(), stream: Type.String() },
});

type NodeRef = RefTo<typeof Node>;
type NodeContext = Context<SignaturesOf<typeof Node>>;
type Visit = (ctx: NodeContext, payload: string) => unknown;

/** What became of an ask: its reply, or the kind of its error. */
const said = (result: AskResult<string>): string => (result.isOk() ? result.value : result.error.kind);

function spawnNode(system: System, name: string, visit: Visit, concurrency = 1, other: Visit = (_, it) => it): NodeRef {
  return system.spawn(
    name,
    Node,
    (ctx) => ({
      visit: (payload) => visit(ctx, payload) as Promise<string>, // Each test returns a text, or a promise of one.
      other: (payload) => other(ctx, payload) as Promise<string>,
      async *items(payload) {
        yield (await visit(ctx, payload)) as string;
      },
    }),
    { concurrency },
  );
}

/** Actors that each ask the next one, the last one the first; they pass on what they hear. */
function ring(system: System, size: number): { nodes: NodeRef[]; errors: AskCycleError[] } {
  const nodes: NodeRef[] = [];
  const errors: AskCycleError[] = [];
  for (let i = 0; i < size; i++) {
    const node = spawnNode(system, `n${i}`, async (ctx, payload) => {
      const result = await ctx.ask(nodes[(i + 1) % size] as NodeRef, "visit", payload); // The index is within.
      if (result.isErr() && result.error.kind === "ask-cycle") errors.push(result.error);
      return said(result);
    });
    nodes.push(node);
  }
  return { nodes, errors };
}

for (const size of [1, 2, 3, 50]) {
  test(`P8: a circle of ${size} is refused at once, told with its path`, async () => {
    const { system, clock, deadLetters, router } = createTestSystem();
    const { nodes, errors } = ring(system, size);
    const reply = (nodes[0] as NodeRef).ask("visit", "round");
    await clock.settle(); // No time passes.
    expect((await reply)._unsafeUnwrap()).toBe("ask-cycle");
    const names = nodes.map(({ address }) => String(address));
    const path = [`@(n${size - 1})`, ...names]; // From the last one, which would have asked the first.
    const [error] = errors;
    expect({ path: error?.path.map(String), retryable: error?.retryable }).toEqual({ path, retryable: false });
    expect(error?.message).toBe(
      `"visit" to @(n0) would wait for itself: ${path.join(" → ")}; use tell for one of these.`,
    );
    expect(error?.undelivered).toMatchObject({ to: "@(n0)", from: `@(n${size - 1})`, payload: "round" });
    expect(deadLetters.map(({ reason, asked, address }) => [reason, asked, String(address)])).toEqual([
      ["ask-cycle", true, "@(n0)"],
    ]);
    expect(router.audit()).toEqual({ accepted: size + 1, handled: size, failed: 0, dead: 1, queued: 0, running: 0 });
  });
}

test("P8: a circle that is longer than the stack is deep is refused as any other", async () => {
  const { system, clock } = createTestSystem({ askTimeout: Number.POSITIVE_INFINITY });
  const { nodes, errors } = ring(system, 20_000);
  const reply = (nodes[0] as NodeRef).ask("visit", "round");
  await clock.settle();
  expect((await reply)._unsafeUnwrap()).toBe("ask-cycle");
  expect(errors[0]?.path).toHaveLength(20_001);
});

test("P8: the circle may begin anywhere, and lie behind actors that are not in it", async () => {
  const { system, clock } = createTestSystem();
  const refs: NodeRef[] = [];
  const errors: AskCycleError[] = [];
  const next = [1, 2, 3, 1]; // 0 → 1 → 2 → 3 → 1
  for (const [i, to] of next.entries()) {
    refs.push(
      spawnNode(system, `n${i}`, async (ctx, payload) => {
        const result = await ctx.ask(refs[to] as NodeRef, "visit", payload);
        if (result.isErr() && result.error.kind === "ask-cycle") errors.push(result.error);
        return said(result);
      }),
    );
  }
  const reply = (refs[0] as NodeRef).ask("visit", "in");
  await clock.settle();
  expect((await reply)._unsafeUnwrap()).toBe("ask-cycle");
  expect(errors.map(({ path }) => path.join(" "))).toEqual(["@(n3) @(n1) @(n2) @(n3)"]);
});

test("P8: two that ask each other at the same time: one is refused, and the other gets its reply", async () => {
  const { system, clock } = createTestSystem();
  const left: NodeRef = spawnNode(system, "left", async (ctx, it) => said(await ctx.ask(right, "other", it)));
  const right: NodeRef = spawnNode(system, "right", async (ctx, it) => said(await ctx.ask(left, "other", it)));
  const replies = [left.ask("visit", "l"), right.ask("visit", "r")];
  await clock.settle();
  const told = (await Promise.all(replies)).map(said);
  expect(told).toEqual(["l", "ask-cycle"]);
});

test("P8: an actor that asks itself in a hook or a timer is refused, too", async () => {
  const { system, clock } = createTestSystem();
  const told: string[] = [];
  const Selfish = defineProtocol("selfish", { me: { reply: Type.String() } });
  system.spawn("selfish", Selfish, (ctx) => ({
    async onStart() {
      told.push(said(await ctx.ask(ctx.self, "me")));
      ctx.timers.once("later", 1, async () => told.push(said(await ctx.ask(ctx.self, "me"))));
    },
    me: () => "me",
  }));
  await clock.advance(1);
  expect(told).toEqual(["ask-cycle", "ask-cycle"]);
});

test("P8: no false alarm once an ask has settled", async () => {
  const { system, clock } = createTestSystem();
  const asked: string[] = [];
  const b: NodeRef = spawnNode(system, "b", async (ctx, it) => {
    if (it === "back") asked.push(said(await ctx.ask(a, "other", "hello again")));
    return it;
  });
  const a: NodeRef = spawnNode(system, "a", async (ctx, it) => {
    await ctx.ask(b, "visit", "plain"); // Settled
    b.tell("visit", "back"); // before b asks back,
    return it; // and a is done then.
  });
  await a.ask("visit", "go");
  await clock.settle();
  expect(asked).toEqual(["hello again"]);
});

test("P8: no false alarm after an ask that timed out or was given up, while its asker goes on", async () => {
  const { system, clock } = createTestSystem();
  const gate = Promise.withResolvers<void>();
  const asked: string[] = [];
  const b: NodeRef = spawnNode(
    system,
    "b",
    () => gate.promise,
    1,
    async (ctx, it) => asked.push(said(await ctx.ask(a, "other", it))),
  );
  const a: NodeRef = spawnNode(system, "a", async (ctx, it) => {
    const first = said(await ctx.ask(b, "visit", it, { timeout: 5 }));
    await new Promise<void>((resolve) => clock.setTimer(resolve, 10));
    return first;
  });
  const reply = a.ask("visit", "go");
  await clock.advance(6);
  gate.resolve();
  b.tell("other", "go"); // Asks back while a still runs; but a does not wait for b any more.
  await clock.advance(10);
  expect([said(await reply), ...asked]).toEqual(["timeout", "go"]);
});

test("P8: no false alarm for asks by reference, nor for actors that wait for something else", async () => {
  const { system, clock } = createTestSystem();
  const b: NodeRef = spawnNode(system, "b", async (ctx, it) => said(await ctx.ask(a, "other", it, { timeout: 5 })));
  const a: NodeRef = spawnNode(system, "a", async (_, it) => {
    if (it === "by reference") return said(await b.ask("visit", it));
    await new Promise<void>((resolve) => clock.setTimer(resolve, 3));
    return it;
  });
  const byReference = a.ask("visit", "by reference");
  await clock.advance(5);
  expect(said(await byReference)).toBe("timeout"); // It is not seen, and ends by its time.
  const slow = a.ask("visit", "slow");
  await clock.settle();
  const meanwhile = b.ask("visit", "meanwhile");
  await clock.advance(3);
  expect([said(await slow), said(await meanwhile)]).toEqual(["slow", "meanwhile"]);
});

test("P8: no false alarm in a diamond: two ask the same one for the same one", async () => {
  const { system, clock } = createTestSystem();
  const gates: (() => void)[] = [];
  const bottom = spawnNode(system, "bottom", async (_, it) => {
    await new Promise<void>((resolve) => gates.push(resolve));
    return it;
  });
  const middle = ["left", "right"].map((name) =>
    spawnNode(system, name, async (ctx, it) => said(await ctx.ask(bottom, "visit", `${it} ${name}`))),
  );
  const top = spawnNode(system, "top", async (ctx, it) => {
    const replies = await Promise.all([...middle, bottom].map((ref) => ctx.ask(ref, "visit", it)));
    return replies.map(said).join();
  });
  const reply = top.ask("visit", "it");
  for (let i = 0; i < 3; i++) {
    await clock.settle();
    gates.shift()?.();
  }
  expect(said(await reply)).toBe("it left,it right,it");
});

test("P8: an actor with a free slot can answer who waits for it; a circle is one when all slots wait", async () => {
  const { system, clock } = createTestSystem();
  const errors: AskCycleError[] = [];
  const deep = (to: () => NodeRef) => async (ctx: NodeContext, it: string) => {
    const depth = Number(it);
    if (depth === 0) return "bottom";
    const result = await ctx.ask(to(), "visit", String(depth - 1));
    if (result.isErr() && result.error.kind === "ask-cycle") errors.push(result.error);
    return said(result);
  };
  const a: NodeRef = spawnNode(
    system,
    "a",
    deep(() => b),
    3,
  );
  const b: NodeRef = spawnNode(
    system,
    "b",
    deep(() => a),
    2,
  );
  const fits = a.ask("visit", "4"); // Three times a, twice b.
  await clock.settle();
  expect(said(await fits)).toBe("bottom");
  const tooDeep = a.ask("visit", "5");
  await clock.settle();
  expect(said(await tooDeep)).toBe("ask-cycle");
  expect(errors.map(({ path }) => path.join(" "))).toEqual(["@(a) @(b) @(a)"]);
});

test("P8: an actor asks itself as deep as its slots go", async () => {
  const { system, clock } = createTestSystem();
  const depths: number[] = [];
  const self: NodeRef = spawnNode(
    system,
    "self",
    async (ctx, it) => {
      depths.push(Number(it));
      return said(await ctx.ask(self, "visit", String(Number(it) + 1)));
    },
    4,
  );
  const reply = self.ask("visit", "1");
  await clock.settle();
  expect(said(await reply)).toBe("ask-cycle");
  expect(depths).toEqual([1, 2, 3, 4]);
});

test("P8: all slots of one actor wait for another, which waits for the asker: a circle, though they share the way", async () => {
  const { system, clock } = createTestSystem();
  const a: NodeRef = spawnNode(system, "a", async (ctx, it) => {
    await new Promise<void>((resolve) => clock.setTimer(resolve, 10));
    return said(await ctx.ask(pair, "visit", it));
  });
  const b: NodeRef = spawnNode(system, "b", async (ctx, it) => said(await ctx.ask(a, "other", it)));
  const pair: NodeRef = spawnNode(system, "pair", async (ctx, it) => said(await ctx.ask(b, "visit", it)), 2);
  const first = a.ask("visit", "late");
  const asked = [pair.ask("visit", "one"), pair.ask("visit", "two")];
  await clock.advance(10);
  expect(said(await first)).toBe("ask-cycle");
  expect((await Promise.all(asked)).map(said)).toEqual(["one", "two"]);
});

test("P8: the last free slot of an actor closes a circle that began before it was taken", async () => {
  const { system, clock } = createTestSystem();
  const isAsked = Promise.withResolvers<void>();
  const isLast = Promise.withResolvers<void>();
  const b: NodeRef = spawnNode(system, "b", async (ctx, it) => {
    await isAsked.promise;
    return said(await ctx.ask(pair, "other", it));
  });
  const pair: NodeRef = spawnNode(
    system,
    "pair",
    async (ctx, it) => {
      if (it === "second") await isLast.promise;
      return said(await ctx.ask(b, "visit", it));
    },
    2,
  );
  const first = pair.ask("visit", "first"); // Waits for b.
  const second = pair.ask("visit", "second"); // Will wait for b, too: then nobody is left to answer b.
  await clock.settle();
  isAsked.resolve(); // b asks the pair, which has no free slot, but one that still runs.
  await clock.settle();
  isLast.resolve();
  await clock.settle();
  expect([said(await first), said(await second)]).toEqual(["first", "ask-cycle"]);
});

test("P8: who has the message waits itself: a free slot beside it does not help", async () => {
  const { system, clock } = createTestSystem();
  const errors: AskCycleError[] = [];
  const wide: NodeRef = spawnNode(system, "wide", async (ctx, it) => said(await ctx.ask(narrow, "visit", it)), 2);
  const narrow: NodeRef = spawnNode(system, "narrow", async (ctx, it) => {
    const result = await ctx.ask(wide, "visit", it); // The other slot takes it, and asks back.
    if (result.isErr() && result.error.kind === "ask-cycle") errors.push(result.error);
    return said(result);
  });
  const reply = narrow.ask("visit", "it");
  await clock.settle();
  expect(said(await reply)).toBe("ask-cycle");
  expect(errors).toEqual([]); // It was the wide one that was refused.
  expect((await wide.ask("other", "still there")).unwrapOr("")).toBe("still there");
});

test("P8: a circle through a stream is one: its reader waits for the producer", async () => {
  const { system, clock, deadLetters } = createTestSystem();
  const a: NodeRef = spawnNode(system, "a", async (ctx, it) => {
    const items: string[] = [];
    for await (const item of ctx.stream(b, "items", it)) items.push(item);
    return items.join();
  });
  const b: NodeRef = spawnNode(system, "b", async (ctx, it) => said(await ctx.ask(a, "other", it)));
  const reply = a.ask("visit", "it");
  await clock.settle();
  expect(said(await reply)).toBe("ask-cycle");
  expect(reasonsOf(deadLetters)).toEqual(["ask-cycle"]);
});

test("P8: a stream that would close a circle throws ask-cycle", async () => {
  const { system, clock, router } = createTestSystem();
  const kinds: string[] = [];
  const a: NodeRef = spawnNode(system, "a", async (ctx, it) => said(await ctx.ask(b, "visit", it)));
  const b: NodeRef = spawnNode(system, "b", async (ctx, it) => {
    try {
      for await (const _ of ctx.stream(a, "items", it));
    } catch (thrown) {
      if (thrown instanceof StreamError) kinds.push(thrown.kind);
    }
    return "done";
  });
  const reply = a.ask("visit", "it");
  await clock.settle();
  expect(said(await reply)).toBe("done");
  expect(kinds).toEqual(["ask-cycle"]);
  expectBalance(router.audit());
});

test("P8: a stream that its reader has left holds up nobody", async () => {
  const { system, clock } = createTestSystem();
  const b: NodeRef = spawnNode(system, "b", async (ctx, it) => {
    if (it === "item") return it;
    return said(await ctx.ask(a, "other", it));
  });
  const a: NodeRef = spawnNode(system, "a", async (ctx, it) => {
    for await (const item of ctx.stream(b, "items", "item")) {
      if (item === "item") break;
    }
    b.tell("visit", "back");
    return it;
  });
  expect(said(await a.ask("visit", "it"))).toBe("it");
  await clock.settle();
});

test("P8: a forward that closes a circle is refused: its asker gets ask-cycle and the path", async () => {
  const { system, clock, deadLetters } = createTestSystem();
  let error: AskCycleError | undefined;
  const a: NodeRef = spawnNode(system, "a", async (ctx, it) => {
    const result = await ctx.ask(desk, "visit", it);
    if (result.isErr() && result.error.kind === "ask-cycle") error = result.error;
    return said(result);
  });
  const desk: NodeRef = spawnNode(system, "desk", async (ctx) => {
    await new Promise<void>((resolve) => clock.setTimer(resolve, 1));
    return ctx.forward(c);
  });
  const c: NodeRef = spawnNode(system, "c", async (ctx, it) => said(await ctx.ask(a, "other", it)));
  const asked = a.ask("visit", "it");
  await clock.settle();
  const waiting = c.ask("visit", "waits for a");
  await clock.advance(1);
  expect(said(await asked)).toBe("ask-cycle");
  expect(error?.path.map(String)).toEqual(["@(a)", "@(c)", "@(a)"]);
  expect(said(await waiting)).toBe("waits for a");
  expect(reasonsOf(deadLetters)).toEqual(["ask-cycle"]);
});

test("P8: an ask that was forwarded is a wait for who has it now, and for nobody else", async () => {
  const { system, clock } = createTestSystem();
  const seen: string[] = [];
  const a: NodeRef = spawnNode(system, "a", async (ctx, it) => said(await ctx.ask(desk, "visit", it)));
  const desk: NodeRef = spawnNode(system, "desk", async (ctx, it) => {
    if (it !== "back") return ctx.forward(c);
    seen.push(said(await ctx.ask(a, "other", "from the desk"))); // a does not wait for the desk any more.
    return it;
  });
  const c: NodeRef = spawnNode(system, "c", async (ctx, it) => {
    const back = said(await ctx.ask(a, "other", it));
    await new Promise<void>((resolve) => clock.setTimer(resolve, 1));
    return back;
  });
  const reply = a.ask("visit", "it");
  await clock.settle();
  desk.tell("visit", "back");
  await clock.advance(1);
  expect(said(await reply)).toBe("ask-cycle");
  await clock.settle();
  expect(seen).toEqual(["from the desk"]);
});

test("P8: forwarding to who asked closes the smallest circle", async () => {
  const { system, clock } = createTestSystem();
  const a: NodeRef = spawnNode(system, "a", async (ctx, it) => said(await ctx.ask(b, "visit", it)));
  const b: NodeRef = spawnNode(system, "b", (ctx) => {
    void ctx.message; // Made by the first reading: its asker is known by address then.
    return ctx.forward(a);
  });
  const reply = a.ask("visit", "it");
  await clock.settle();
  expect(said(await reply)).toBe("ask-cycle");
});

test("P8: a circle among actors that all wait to be told otherwise is no circle: tells do not wait", async () => {
  const { system, clock } = createTestSystem();
  let rounds = 0;
  const nodes: NodeRef[] = [0, 1, 2].map((i) =>
    spawnNode(system, `n${i}`, (ctx, it) => {
      if (++rounds < 30) ctx.tell(nodes[(i + 1) % 3] as NodeRef, "visit", it);
      return it;
    }),
  );
  nodes[0]?.tell("visit", "round");
  await clock.settle();
  expect(rounds).toBe(30);
});
