import { expect, test } from "bun:test";
import { defineProtocol, type Metadata, Type } from "../../src/index";
import { createBehaviourKit } from "../../src/testing/index";
import { testSystems } from "./test-system";

// ctx.handsOn: what a handler's own messages carry, for a handler that sends in another way.

const { createTestSystem } = testSystems();

const Work = defineProtocol("work", { run: { payload: Type.String() } });
const TRACE = { traceparent: "00-1-2-01", baggage: "user=ada" };
const SPAN = Symbol("span");
const CARRIED: Metadata = { ...TRACE, user: "Ada", [Symbol("mark")]: 1 };

test("is what its own messages carry: the inherited part of its message, or what an observer gave in its place", async () => {
  const test = createTestSystem({ inheritedMetadata: ["baggage"] });
  const given: Metadata = Object.freeze({ baggage: "mine", [SPAN]: 9 });
  test.system.around((handling, run) => {
    if (handling.payload === "observed") handling.handsOn = { metadata: given };
    run();
  });
  const carried = new Map<string, Metadata>();
  const sink = test.system.spawn("sink", Work, (ctx) => ({ run: (text) => void carried.set(text, ctx.metadata) }));
  const read = new Map<string, Metadata>();
  const worker = test.system.spawn(
    "worker",
    Work,
    (ctx) => ({
      async run(text) {
        await undefined;
        read.set(text, ctx.handsOn);
        ctx.tell(sink, "run", text);
        ctx.timers.once(text, 10, () => read.set(`timer of ${text}`, ctx.handsOn));
      },
    }),
    { concurrency: 3 },
  );
  for (const text of ["plain", "observed"]) worker.tell("run", text, { metadata: CARRIED });
  worker.tell("run", "bare");
  await test.advance(10);
  expect([...carried]).toEqual([
    ["plain", { baggage: "user=ada" }],
    ["observed", given],
    ["bare", {}],
  ]);
  for (const [text, metadata] of carried) {
    expect(read.get(text)).toEqual(metadata);
    expect(read.get(`timer of ${text}`)).toEqual({ ...metadata, [SPAN]: undefined }); // A symbol goes no further.
    expect(Object.isFrozen(read.get(text))).toBe(true);
  }
  expect(read.get("observed")).toBe(given);
});

test("may be given to a reference, is empty outside of handlers, and is none of a replaced instance", async () => {
  const test = createTestSystem({ supervision: { decide: () => "restart" } });
  const seen: Metadata[] = [];
  const sink = test.system.spawn("sink", Work, (ctx) => ({ run: () => void seen.push(ctx.metadata) }));
  const contexts: { readonly handsOn: Metadata }[] = [];
  const worker = test.system.spawn("worker", Work, (ctx) => {
    contexts.push(ctx);
    seen.push(ctx.handsOn);
    return {
      run(text) {
        sink.tell("run", "on", { metadata: ctx.handsOn });
        if (text === "broken") throw new Error(text);
      },
    };
  });
  worker.tell("run", "fine", { metadata: CARRIED });
  await test.settle();
  worker.tell("run", "broken");
  await test.settle();
  expect(seen).toEqual([{}, TRACE, {}, {}]);
  expect(() => contexts[0]?.handsOn).toThrow("which a restart has replaced");
  expect(contexts[1]?.handsOn).toEqual({});
  test.takeLog();
  test.takeFailures();
});

test("a kit has the trace context of its run", () => {
  const read: Metadata[] = [];
  const kit = createBehaviourKit(Work, (ctx) => ({ run: () => void read.push(ctx.handsOn) }));
  kit.run("run", "one", { metadata: CARRIED });
  kit.run("run", "two");
  expect(read).toEqual([TRACE, {}]);
});
