import { expect, test } from "bun:test";
import { defineProtocol, spawnPool, Type } from "../../src/index";
import { drop, replace } from "../../src/record/index";
import { ValueWriter } from "../../src/record/values/value-writer";
import { testSystems } from "../actor/test-system";
import { folders, record, story } from "./recorded";

const { createTestSystem } = testSystems();
const folder = folders();

const Steps = defineProtocol("steps", {
  ask: { payload: Type.Number(), reply: Type.Number() },
  tell: { payload: Type.Number() },
  list: { payload: Type.Number(), stream: Type.Number() },
});

test("what is forwarded to an actor that has stopped ends as a dead letter there, in each pattern (P1)", async () => {
  const { system, clock, takeLog } = createTestSystem();
  const { lines } = record(system, folder());
  const steps = () => ({ ask: (step: number) => step, tell() {}, *list() {} });
  const gone = system.spawn("gone", Steps, steps);
  await system.stop(gone);
  const front = system.spawn("front", Steps, (ctx) => ({
    ask: () => ctx.forward(gone),
    tell: () => ctx.forward(gone),
    list: () => ctx.forward(gone),
  }));
  front.tell("tell", 1);
  await clock.settle();
  await front.ask("ask", 1);
  await Array.fromAsync(front.stream("list", 1)).catch(() => {});
  await clock.settle();
  takeLog();
  const all = await lines();
  expect(story(all).map((each) => each.replace(/^\d+ \w+ (\S+) (\S+) .*: /, "$1 $2: "))).toEqual([
    "@(front) tell: forwarded",
    "@(gone) tell: dead stopped",
    "@(front) ask: forwarded",
    "@(gone) ask: dead stopped",
    "@(front) list: forwarded",
    "@(gone) list: dead stopped",
  ]);
  expect(all.at(-1)).toMatchObject({ kind: "close", open: 0 });
});

test("a transform or a toJSON that is async and fails ends neither the process nor the message", async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown): unknown => unheard.push(reason);
  process.on("unhandledRejection", hear);
  try {
    const fail = async () => Promise.reject(new Error("late"));
    const writer = new ValueWriter({ transforms: [replace("payload.a", fail)] });
    const text = writer.text({ a: 1, b: { toJSON: fail } }, { address: "@(a)", operation: "o", part: "payload" });
    expect(JSON.parse(text)).toEqual({ a: { $unwritable: "Promise" }, b: { $unwritable: "Promise" } });
    await new Promise((done) => setTimeout(done, 1));
    expect(unheard).toEqual([]);
  } finally {
    process.off("unhandledRejection", hear);
  }
});

test("a transform of a pool holds for each worker that a broadcast reaches", async () => {
  const { system, clock } = createTestSystem();
  const { lines } = record(system, folder(), { transforms: [drop("payload", { actor: "@(shop)" })] });
  const steps = () => ({ ask: (step: number) => step, tell() {}, *list() {} });
  spawnPool(system, "shop", Steps, steps, { size: 3, routing: "broadcast" }).tell("tell", 4711);
  await clock.settle();
  const told = (await lines()).filter(({ kind }) => kind === "message");
  expect(told.map(({ payload }) => payload)).toEqual(told.map(() => ({ $undefined: true })));
  expect(told).toHaveLength(3);
});
