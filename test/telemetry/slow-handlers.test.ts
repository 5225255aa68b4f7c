import { expect, test } from "bun:test";
import { createSystem, defineProtocol, type Logger, type System, Type } from "../../src/index";
import { logSlowHandlers } from "../../src/telemetry/index";

interface Line {
  readonly sentence: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const Work = defineProtocol("work", {
  block: { payload: Type.Number(), reply: Type.Number() },
  wait: { payload: Type.Number(), reply: Type.Void() },
});

/** Keeps the event loop for some milliseconds. */
function digest(ms: number): number {
  const end = performance.now() + ms;
  let rounds = 0;
  while (performance.now() < end) rounds += Math.sqrt(rounds + 1);
  return rounds;
}

/** A system whose lines are kept, and how to wait for the next of them. */
function logged(): { system: System; nextLine: () => Promise<Line> } {
  const lines: Line[] = [];
  const waiting: ((line: Line) => void)[] = [];
  const write = (sentence: string, details?: object): void => {
    const line: Line = { sentence, details: { ...details } };
    const next = waiting.shift();
    if (next === undefined) lines.push(line);
    else next(line);
  };
  const logger: Logger = { warn: write, error: write };
  const nextLine = async (): Promise<Line> => lines.shift() ?? new Promise((resolve) => waiting.push(resolve));
  return { system: createSystem({ logger, slowHandler: 50 }), nextLine };
}

const spawnWork = (system: System) =>
  system.spawn("work", Work, () => ({ block: (ms) => digest(ms), wait: (ms) => Bun.sleep(ms) }));

test("a handler that blocked is logged with the function in which it did; one that waited has no stack", async () => {
  const { system, nextLine } = logged();
  logSlowHandlers(system);
  const work = spawnWork(system);

  await work.ask("block", 400);
  const { sentence, details } = await nextLine();
  expect(sentence).toMatch(/^envoi: "block" has taken \d+ ms, and kept the event loop\.$/);
  expect(details).toMatchObject({ actor: "@(work)", operation: "block", elapsed: expect.any(Number) });
  const [innermost] = String(details["stack"]).split("\n");
  expect(innermost).toMatch(/^at (?:digest|sqrt|now)\b/);
  expect(details["stack"]).toMatch(/^at digest \(.*slow-handlers\.test\.ts:(?:19|20|21)\)$/m);

  await work.ask("wait", 200);
  expect(await nextLine()).toEqual({
    sentence: 'envoi: "wait" has taken 50 ms.',
    details: { actor: "@(work)", operation: "wait", elapsed: 50 },
  });
  await system.shutdown();
});

test("several in one turn of the event loop are told in their order, each with its own stack", async () => {
  const { system, nextLine } = logged();
  logSlowHandlers(system);
  const lag = (ms: number): number => digest(ms) + 1;
  const [one, other] = [
    system.spawn("one", Work, () => ({ block: (ms) => digest(ms), wait: () => undefined })),
    system.spawn("other", Work, () => ({ block: (ms) => lag(ms), wait: () => undefined })),
  ];
  await Promise.all([one.ask("block", 300), other.ask("block", 300)]);
  const [first, second] = [await nextLine(), await nextLine()];
  expect(
    [first, second].map(({ details }) => [details["actor"], String(details["stack"]).includes("at lag ")]),
  ).toEqual([
    ["@(one)", false],
    ["@(other)", true],
  ]);
  await system.shutdown();
});

test("two systems share the engine's profiler: what one ends, the other still has; after both, and with interval: Infinity, there are no stacks", async () => {
  const one = logged();
  const other = logged();
  const none = logged();
  const end = logSlowHandlers(one.system);
  logSlowHandlers(other.system);
  logSlowHandlers(none.system, { interval: Number.POSITIVE_INFINITY });
  end();
  end(); // The second time does nothing: it must not end the other's.

  await spawnWork(other.system).ask("block", 400);
  expect((await other.nextLine()).details["stack"]).toContain("at digest (");
  await spawnWork(none.system).ask("block", 60);
  expect((await none.nextLine()).details["stack"]).toBeUndefined();
  await Promise.all([one, other, none].map(({ system }) => system.shutdown()));
});

test("an interval that is no number of milliseconds is refused", async () => {
  const { system } = logged();
  for (const interval of [0, -1, Number.NaN, "5"]) {
    expect(() => logSlowHandlers(system, { interval: interval as number })).toThrow(/interval/);
  }
  await system.shutdown();
});
