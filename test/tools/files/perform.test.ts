import { expect, test } from "bun:test";
import { perform } from "../../../src/tools/files/perform";
import { lasting, workspaceOver } from "./over-root";
import { ways, withRoot } from "./ways";

const [way = "memory"] = ways;

test("work whose actor stops within a pause closes what it has open", () =>
  withRoot(way, async (root) => {
    let time = 0;
    const workspace = workspaceOver(root, {}, () => ++time); // Each look at the clock ends a turn.
    let pauses = 0;
    workspace.pause = () => (++pauses === 3 ? Promise.reject(new Error("stopped")) : Promise.resolve());
    let isOpen = true;
    const steps = (function* () {
      try {
        for (;;) yield;
      } finally {
        isOpen = false;
      }
    })();
    await expect(Promise.resolve(perform(workspace, steps, lasting))).rejects.toThrow("stopped");
    expect(isOpen).toBe(false);
  }));
