import { describe, expect, test } from "bun:test";
import { type Clock, createSystem, defineProtocol, type System, Type } from "../../../src/index";
import { recorder, replay } from "../../../src/record/index";
import { createManualClock } from "../../../src/testing/index";
import { folders } from "../recorded";
import { ask, end, lines } from "./lines";

const folder = folders();
const quiet = { warn() {}, error() {} };
const Sleeper = defineProtocol("sleeper", { sleep: { payload: Type.Number(), reply: Type.Number() } });
type SleeperRef = ReturnType<typeof spawnSleeper>;

/** An actor that sleeps, and stops when its sender gives it up. */
const spawnSleeper = (system: System, clock: Clock, concurrency = 1) =>
  system.spawn(
    "sleeper",
    Sleeper,
    (ctx) => ({
      sleep: (time) =>
        new Promise((resolve, reject) => {
          const timer = clock.setTimer(() => resolve(time), time);
          ctx.signal.addEventListener("abort", () => {
            timer.cancel();
            reject(ctx.signal.reason);
          });
        }),
    }),
    { concurrency },
  );

/** Records what a caller does, and replays it. */
async function again(call: (ref: SleeperRef, clock: ReturnType<typeof createManualClock>) => Promise<unknown>) {
  const clock = createManualClock();
  const to = `${folder()}/run.ndjson`;
  const system = createSystem({ clock, logger: quiet });
  const recording = recorder(system, { to });
  const called = call(spawnSleeper(system, clock), clock);
  await clock.advance(500);
  await called;
  const closed = recording.close();
  await clock.advance(1_000);
  await closed;
  return replay(to, {
    patience: 50,
    setup(stage) {
      const replayed = createSystem({ clock: stage.clock, logger: quiet });
      spawnSleeper(replayed, stage.clock);
      return replayed;
    },
  });
}

describe("what a caller gave up when it was recorded, it gives up again", () => {
  test("by a timeout, in the mailbox and in the handler", async () => {
    const inMailbox = await again((ref) => Promise.all([ref.ask("sleep", 60), ref.ask("sleep", 5, { timeout: 20 })]));
    expect(String(inMailbox)).toContain("the same; 2 messages sent, 2 compared");
    const inHandler = await again((ref) => Promise.all([ref.ask("sleep", 60, { timeout: 20 }), ref.ask("sleep", 5)]));
    expect(String(inHandler)).toContain("the same; 2 messages sent, 2 compared");
  });

  test("by its signal, in the mailbox and in the handler", async () => {
    for (const first of [60, 5]) {
      const report = await again(async (ref, clock) => {
        const giving = new AbortController();
        clock.setTimer(() => giving.abort(new Error("enough")), 30);
        await Promise.all([ref.ask("sleep", first), ref.ask("sleep", 100, { signal: giving.signal })]);
      });
      expect(String(report)).toContain("the same; 2 messages sent, 2 compared");
    }
  });
});

describe("what no replay can know is no deviation", () => {
  const setup =
    (concurrency = 1) =>
    ({ clock }: { readonly clock: Clock }) => {
      const system = createSystem({ clock, logger: quiet });
      spawnSleeper(system, clock, concurrency);
      return system;
    };

  test("a handler that a shutdown waited for no longer", async () => {
    const recorded = lines(ask(1, 0, "@(sleeper)", "sleep", 1e9), end(1, 9, { outcome: "abandoned" }));
    expect((await replay(recorded, { setup: setup(), patience: 50 })).isSame).toBe(true);
  });

  test("whether a caller had a reference from the lifetime of an actor that has stopped", async () => {
    const recorded = lines(ask(1, 0, "@(gone)", "sleep", 1), end(1, 0, { outcome: "dead", reason: "stopped" }));
    expect((await replay(recorded, { setup: setup() })).isSame).toBe(true);
  });

  test("when a dead letter is noticed: at once, or behind the message before it", async () => {
    const recorded = lines(
      ask(1, 0, "@(sleeper)", "sleep", 60),
      ask(2, 0, "@(sleeper)", "sleep", 5, { timeLeft: 20 }),
      end(2, 20, { outcome: "dead", reason: "timeout" }),
      end(1, 60, { value: 60 }),
    );
    const report = await replay(recorded, { setup: setup(), patience: 50 });
    expect(String(report)).toContain("the same; 2 messages sent, 2 compared");
  });

  test("which of two timers of the machine came first, within five milliseconds", async () => {
    const swapped = (apart: number) =>
      lines(
        ask(1, 0, "@(sleeper)", "sleep", 20),
        ask(2, 0, "@(sleeper)", "sleep", 20 + apart),
        end(2, 21, { value: 20 + apart }),
        end(1, 22, { value: 20 }),
      );
    expect((await replay(swapped(2), { setup: setup(4) })).isSame).toBe(true);
    expect((await replay(swapped(8), { setup: setup(4) })).deviations).toMatchObject([{ kind: "order" }]);
  });
});
