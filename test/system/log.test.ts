import { expect, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import { createSystem } from "../../src/index";
import { testSystems } from "../actor/test-system";

const { createTestSystem } = testSystems();

test("system.log writes into the system's log, with its name", async () => {
  const lines: unknown[] = [];
  const logger = {
    warn: (...line: unknown[]) => void lines.push(line),
    error: (...line: unknown[]) => void lines.push(line),
  };
  const system = createSystem({ name: "shop", logger });
  system.log.warn("The door is half open.");
  system.log.error("The door fell off.", { cause: 1 });
  expect(lines).toEqual([["shop: The door is half open."], ["shop: The door fell off.", { cause: 1 }]]);
  await system.shutdown();
});

test("P18: system.log writes ten lines a second, so that a stranger who causes errors cannot flood it", async () => {
  const { system, takeLog, advance } = createTestSystem();
  for (let n = 0; n < 100; n++) system.log.error(`failure ${n}`);
  await advance(1_000);
  system.log.error("after a second");
  const lines = takeLog().map(({ message }) => message.replace(/^\S+ /, ""));
  expect(lines).toHaveLength(12);
  expect(lines.slice(-2)).toEqual(["90 more errors of these kinds in this second.", "after a second"]);
});

test("P16: a logger runs in the system's context, and may ask for the context of the code that logs", async () => {
  const storage = new AsyncLocalStorage<string>();
  const lines: unknown[] = [];
  const write = (...line: unknown[]): void => void lines.push([storage.getStore(), ...line]);
  const system = createSystem({ logger: { warn: write, error: write, context: () => ({ in: storage.getStore() }) } });
  storage.run("a handler", () => {
    system.log.warn("It is late.");
    system.log.error("It failed.", { cause: 1 });
  });
  expect(lines).toEqual([
    [undefined, "envoi: It is late.", { in: "a handler" }],
    [undefined, "envoi: It failed.", { in: "a handler", cause: 1 }],
  ]);
  await system.shutdown();
});

test("a logger whose context throws still gets each line", async () => {
  const lines: unknown[] = [];
  const write = (...line: unknown[]): void => void lines.push(line);
  const context = (): object => {
    throw new Error("no context");
  };
  const system = createSystem({ logger: { warn: write, error: write, context } });
  system.log.warn("It is late.", { by: 1 });
  expect(lines).toEqual([["envoi: It is late.", { by: 1 }]]);
  await system.shutdown();
});
