import { defineProtocol, Type } from "../../src/index";
import type { TestSystem } from "../../src/testing/index";

export const Worker = defineProtocol("worker", {
  work: { payload: Type.Number() },
  count: { reply: Type.Number() },
  hang: {},
});

/** An actor that counts its work, fails at what is negative, and hangs when it is told to. */
export function spawnWorker({ system }: TestSystem, name = "worker") {
  let count = 0;
  return system.spawn(name, Worker, () => ({
    work(n) {
      if (n < 0) throw new Error(`cannot do ${n}`);
      count += n;
    },
    count: () => count,
    hang: () => new Promise<void>(() => {}),
  }));
}

/** What the end of a test finds. */
export const found = (test: TestSystem): Promise<string> =>
  test.finish().then(
    () => "nothing",
    (error: Error) => error.message,
  );
