import { describe, expect, test } from "bun:test";
import { createSystem, type Timers } from "../../src/index";
import { createBehaviourKit, createManualClock } from "../../src/testing/index";
import { Counter, counting } from "./counter";

describe("timers in a kit", () => {
  const timing = (fired: unknown[]) =>
    counting((ctx) => {
      ctx.timers.once("once", 10, () => void fired.push("once"));
      ctx.timers.fixedDelay("delay", 20, () => void fired.push("delay"));
      ctx.timers.fixedRate("rate", 30, (ticks) => void fired.push(`rate ${ticks}`));
      ctx.timers.receiveTimeout(40, () => void fired.push("idle"));
      return {
        add() {
          fired.push(ctx.timers.has("delay"), ctx.timers.cancel("delay"), ctx.timers.cancel("delay"));
          ctx.timers.receiveTimeout(null);
        },
      };
    });

  test("are noted, and fire when the test says so", () => {
    const fired: unknown[] = [];
    const kit = createBehaviourKit(Counter, timing(fired));
    expect<readonly object[]>(kit.effects).toEqual([
      { kind: "timer-set", timer: "once", key: "once", delay: 10 },
      { kind: "timer-set", timer: "fixedDelay", key: "delay", delay: 20 },
      { kind: "timer-set", timer: "fixedRate", key: "rate", delay: 30 },
      { kind: "receive-timeout", delay: 40 },
    ]);
    kit.fireTimer("once");
    expect(() => kit.fireTimer("once")).toThrow("No timer 'once' is set; set: 'delay', 'rate'.");
    kit.fireTimer("delay");
    kit.fireTimer("delay");
    kit.fireTimer("rate");
    kit.fireTimer("rate", 3);
    kit.fireReceiveTimeout();
    expect(fired).toEqual(["once", "delay", "delay", "rate 1", "rate 3", "idle"]);
  });

  test("end, and fire no more", () => {
    const fired: unknown[] = [];
    const kit = createBehaviourKit(Counter, timing(fired));
    expect(kit.run("add", 1).effects).toEqual([
      { kind: "timer-cancelled", key: "delay" },
      { kind: "receive-timeout", delay: null },
    ]);
    expect(fired).toEqual([true, true, false]);
    expect(() => kit.fireTimer("delay")).toThrow("No timer 'delay' is set");
    expect(() => kit.fireReceiveTimeout()).toThrow("No receive timeout is set");
  });

  test("refuse what a system refuses, in the same words", async () => {
    const attempts: ((timers: Timers) => void)[] = [
      (timers) => timers.once("", 1, () => {}),
      (timers) => timers.once("key", 0, () => {}),
      (timers) => timers.fixedDelay("key", Number.NaN, () => {}),
      (timers) => timers.fixedRate("key", 1, undefined as never),
      (timers) => timers.receiveTimeout(-1, () => {}),
      (timers) => timers.receiveTimeout(5, undefined as never),
    ];
    await using system = createSystem({ clock: createManualClock() });
    for (const attempt of attempts) {
      const setting = counting((ctx) => {
        attempt(ctx.timers);
        return {};
      });
      const messages = [
        () => createBehaviourKit(Counter, setting),
        () => system.spawn("counter", Counter, setting),
      ].map((make) => {
        try {
          make();
          return "nothing";
        } catch (thrown) {
          return String(thrown).replaceAll(/["']/g, "");
        }
      });
      expect(messages[0]).not.toBe("nothing");
      expect(messages[0]).toBe(messages[1] as string);
    }
  });
});
