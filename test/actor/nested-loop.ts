import { expect } from "bun:test";

/**
 * Runs something as a macrotask of a nested event loop, which Bun makes for an `expect().resolves` that is not awaited. That loop
 * looks for rejections that nobody heard before it runs the microtasks, as the outer one does at times on a busy machine.
 */
export const inNestedLoop = (run: () => void): Promise<void> =>
  new Promise((done) => {
    setImmediate(() => {
      const over = new Promise<void>((end) => {
        setImmediate(() => {
          run();
          end();
        });
      });
      void expect(over).resolves.toBeUndefined();
      done();
    });
  });
