import { expect, test } from "bun:test";
import { join } from "node:path";
import { type Clock, createSystem, defineProtocol, type StreamError, type StreamOptions, Type } from "../../src/index";
import { FairDispatcher } from "../../src/runtime/dispatcher";
import { createManualClock } from "../../src/testing/index";
import { inNestedLoop } from "./nested-loop";

test("P9: in a nested loop, a promise that takes over a rejected one hears it too late", () => {
  const program = join(import.meta.dir, "programs/late-rejection.ts");
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "test", program]);
  expect({ exitCode, isToldOf: `${stderr}`.includes("error: heard too late") }).toEqual({
    exitCode: 1,
    isToldOf: true,
  });
});

const Source = defineProtocol("source", { items: { stream: Type.Number() } });

/** A read that waits while its stream comes to a bad end, which is told in a macrotask. */
async function readOf(
  options: StreamOptions,
  isLate: boolean,
  end: (gate: PromiseWithResolvers<number>) => void,
): Promise<unknown> {
  let isOver: boolean | null = null; // Whether the turn is.
  let now = 0;
  const due: (() => void)[] = [];
  const clock: Clock = {
    ...createManualClock(),
    monotonicTime: () => now,
    setTimer(callback) {
      due.push(callback);
      return { cancel() {}, unref() {}, ref() {} };
    },
    macrotask: (callback) => void due.push(callback),
  };
  class Dispatcher extends FairDispatcher {
    override spend(messages: number): boolean {
      return isOver ?? super.spend(messages);
    }
  }
  const system = createSystem({
    clock,
    dispatcher: (parts) => new Dispatcher(parts.clock, parts.afterTurn),
    logger: { warn() {}, error() {} },
  });
  const gate = Promise.withResolvers<number>();
  const source = system.spawn("source", Source, () => ({
    async *items() {
      yield await gate.promise;
    },
  }));
  const read = source
    .stream("items", options)
    .next()
    .catch((thrown: StreamError) => thrown.kind);
  const runDue = (): void => {
    for (const callback of due.splice(0)) callback();
  };
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await settle();
  isOver = isLate;
  now = 10_000;
  end(gate);
  await settle();
  await inNestedLoop(runDue);
  isOver = null;
  for (let turn = 0; turn < 10; turn++) {
    runDue();
    await settle();
  }
  return read;
}

test("P9: the bad end of a stream that is told a turn late is heard by the read that waits for it", async () => {
  expect(await readOf({}, true, (gate) => gate.reject(new Error("it broke")))).toBe("handler-failed");
});

test("P9: the end of a stream that a timer gives up is heard by the read that waits for it", async () => {
  expect(await readOf({ timeout: 5 }, false, () => {})).toBe("timeout");
});
