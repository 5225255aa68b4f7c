import type { Job } from "./protocols";

/**
 * Does one job: replace this by your own. What it returns is the value of the job. If it throws, the job is tried again, unless
 * it throws a `Hopeless`. `signal` is aborted when the job has had its time.
 */
export async function work({ text }: Job, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  const words = text.split(/\s+/).filter((word) => /\p{L}/u.test(word));
  if (words.length === 0) throw new Hopeless("there are no words");
  return { words: words.length, longest: words.reduce((a, b) => (b.length > a.length ? b : a)) };
}

/** Thrown for a job that would fail again. */
export class Hopeless extends Error {}
