import { expect, test } from "bun:test";
import { defineProtocol, Type } from "../../src/index";
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
