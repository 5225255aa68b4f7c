import type { Progress } from "envoi";

/** Runs work that reports its progress. Yields each report at once, and returns the value of the work. */
export async function* telling<Value>(
  start: (onProgress: (progress: Progress) => void) => Promise<Value>,
): AsyncGenerator<Progress, Value> {
  const heard: Progress[] = [];
  let more = Promise.withResolvers<void>();
  const work = start((progress) => {
    heard.push(progress);
    more.resolve();
  });
  let isOver = false;
  const over = work.then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true; // The error is thrown below.
    },
  );
  while (!isOver || heard.length > 0) {
    yield* heard.splice(0);
    more = Promise.withResolvers();
    if (!isOver && heard.length === 0) await Promise.race([over, more.promise]);
  }
  return work;
}
