import { expect, test } from "bun:test";
import { createTestSystem } from "envoi/testing";
import { type PipelineOptions, startPipeline } from "../src/pipeline";
import type { Outcome } from "../src/protocols";
import { Hopeless, work } from "../src/work";

const jobOf = (id: number, text = "some words") => JSON.stringify({ id: String(id), text });

/** A pipeline on a clock that the test moves. */
function pipelineWith(options: Partial<PipelineOptions>) {
  const test = createTestSystem();
  const outcomes: Outcome[] = [];
  const pipeline = startPipeline(test.system, { work, write: (outcome) => void outcomes.push(outcome), ...options });
  return { test, outcomes, pipeline, [Symbol.asyncDispose]: () => test[Symbol.asyncDispose]() };
}

test("jobs come out with their values, and are counted", async () => {
  await using it = pipelineWith({});
  for (let id = 1; id <= 5; id++) expect(await it.pipeline.submit(jobOf(id))).toBe(true);
  expect(await it.pipeline.end()).toEqual({ done: 5, failed: 0 });
  expect(it.outcomes[0]).toEqual({ id: "1", ok: true, value: { words: 2, longest: "words" }, attempts: 1 });
});

test("a line that is no job is refused, with the reason, and the others go on", async () => {
  await using it = pipelineWith({});
  for (const line of ["{", '{"id":"a"}', jobOf(1)]) await it.pipeline.submit(line);
  expect(await it.pipeline.end()).toEqual({ done: 1, failed: 2 });
  expect(it.outcomes.filter(({ ok }) => !ok).map(({ id }) => id)).toEqual(["{", "a"]);
});

test("a job that fails is tried again after a pause, and then given up", async () => {
  let tries = 0;
  const failing = async () => {
    tries++;
    throw new Error("the server is away");
  };
  await using it = pipelineWith({ work: failing, attempts: 3, pause: 1_000 });
  await it.pipeline.submit(jobOf(1));
  await it.test.advance(999);
  expect(tries).toBe(1);
  await it.test.advance(1);
  expect(tries).toBe(2);
  await it.test.advance(2_000);
  expect(await it.pipeline.end()).toEqual({ done: 0, failed: 1 });
  expect(it.outcomes).toEqual([{ id: "1", ok: false, reason: "the server is away", attempts: 3 }]);
});

test("a job that cannot be done is tried once", async () => {
  await using it = pipelineWith({});
  await it.pipeline.submit(jobOf(1, "…"));
  expect(await it.pipeline.end()).toEqual({ done: 0, failed: 1 });
  expect(it.outcomes[0]?.attempts).toBe(1);
  expect(new Hopeless("x")).toBeInstanceOf(Error);
});

test("an attempt that takes too long is ended, and its signal aborted", async () => {
  let signal: AbortSignal | undefined;
  const endless = (_job: unknown, given: AbortSignal) => {
    signal = given;
    return new Promise<never>(() => {});
  };
  await using it = pipelineWith({ work: endless, attempts: 1, timeout: 5_000 });
  await it.pipeline.submit(jobOf(1));
  await it.test.advance(5_000);
  expect(await it.pipeline.end()).toEqual({ done: 0, failed: 1 });
  expect(signal?.aborted).toBe(true);
});

test("a full pipeline makes its source wait", async () => {
  const waiting: (() => void)[] = [];
  const slow = () => new Promise<void>((resolve) => void waiting.push(resolve));
  await using it = pipelineWith({ work: slow, workers: 1, waiting: 2 });
  let taken = 0;
  const fed = (async () => {
    for (let id = 1; id <= 6; id++) {
      await it.pipeline.submit(jobOf(id));
      taken++;
    }
  })();
  await it.test.settle();
  expect(taken).toBe(3); // One runs, and two wait.
  for (let id = 1; id <= 6; id++) {
    waiting.shift()?.();
    await it.test.settle();
  }
  await fed;
  expect(await it.pipeline.end()).toEqual({ done: 6, failed: 0 });
});

test("jobs that wait when the input ends are done, also by a work that heeds its signal", async () => {
  const opened = Promise.withResolvers<void>();
  const heeding = async ({ id }: { id: string }, signal: AbortSignal) => {
    await opened.promise;
    signal.throwIfAborted();
    return id;
  };
  await using it = pipelineWith({ work: heeding, workers: 1, waiting: 3, attempts: 1 });
  for (let id = 1; id <= 4; id++) await it.pipeline.submit(jobOf(id)); // One runs, and three wait.
  const ended = it.pipeline.end();
  await it.test.settle();
  opened.resolve();
  expect(await ended).toEqual({ done: 4, failed: 0 });
  expect(it.outcomes.map(({ id }) => id)).toEqual(["1", "2", "3", "4"]);
});
