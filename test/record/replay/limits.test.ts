import { expect, test } from "bun:test";
import { createSystem, defineProtocol, type System, Type } from "../../../src/index";
import { recorder, replay } from "../../../src/record/index";
import { createManualClock } from "../../../src/testing/index";
import { folders, linesIn, story } from "../recorded";

const folder = folders();
const Worker = defineProtocol("worker", {
  work: { payload: Type.Number(), reply: Type.Number() },
  note: { payload: Type.Number() },
});
const quiet = { warn() {}, error() {} };

/** A worker that takes some time for each message, one after the other. */
const spawnWorker = (system: System) =>
  system.spawn("worker", Worker, () => {
    const sleep = (time: number) => new Promise<void>((resolve) => system.clock.setTimer(resolve, time));
    return {
      async work(time) {
        await sleep(time);
        return time;
      },
      note() {},
    };
  });

test("what was given up while it waited is given up again: by a timeout, a deadline, or a signal", async () => {
  const clock = createManualClock();
  const to = `${folder()}/run.ndjson`;
  const system = createSystem({ clock, logger: quiet });
  const recording = recorder(system, { to });
  const worker = spawnWorker(system);
  const canceller = new AbortController();
  const asks = [
    worker.ask("work", 100),
    worker.ask("work", 10, { timeout: 40 }),
    worker.ask("work", 20, { signal: canceller.signal }),
    worker.ask("work", 30, { timeout: Number.POSITIVE_INFINITY }),
  ];
  worker.tell("note", 1, { deadline: 90 });
  await clock.advance(50);
  canceller.abort("enough");
  await clock.advance(1_000);
  const results = await Promise.all(asks);
  expect(results.map((result) => (result.isOk() ? result.value : result.error.kind))).toEqual([
    100,
    "timeout",
    "cancelled",
    30,
  ]);
  const closing = recording.close();
  await clock.settle();
  await closing;
  const lines = linesIn(to);
  expect(story(lines)).toEqual([
    "1 ask @(worker) work 100: handled 100",
    "2 ask @(worker) work 10: dead timeout",
    "3 ask @(worker) work 20: dead cancelled",
    "4 ask @(worker) work 30: handled 30",
    "5 tell @(worker) note 1: dead timeout",
  ]);
  const limits = lines.filter(({ kind }) => kind === "message").map(({ timeLeft }) => timeLeft);
  expect(limits).toEqual([5_000, 40, 5_000, undefined, 90]);

  const setup = ({ clock }: { readonly clock: typeof system.clock }) => {
    const again = createSystem({ clock, logger: quiet });
    spawnWorker(again);
    return again;
  };
  expect(String(await replay(to, { setup }))).toContain("the same; 5 messages sent, 5 compared");
  expect(String(await replay(to, { setup, order: "timed" }))).toContain("the same; 5 messages sent, 5 compared");
});
