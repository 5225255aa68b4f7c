import { ClientStreamError, errorOfProblem, jsonIn, strange } from "./client-error";
import type { EventFollower } from "./event-follower";
import type { ServerEvent } from "./event-parser";

/** A reader of items, from what reads events. */
export function itemsOf(follower: EventFollower, what: string): AsyncIterableIterator<unknown, undefined> {
  const read = async (): Promise<IteratorResult<unknown, undefined>> => {
    for (;;) {
      const event = await follower.next();
      if (event === undefined) return { done: true, value: undefined };
      const step = stepOf(event, what);
      if (step === undefined) continue;
      if (step.done === true) follower.end();
      return step;
    }
  };
  return inOrder(read, () => follower.leave());
}

/** An iterator whose reads are served one by one, and which is left at once. */
export function inOrder<Item>(
  read: () => Promise<IteratorResult<Item, undefined>>,
  leave: () => void,
): AsyncIterableIterator<Item, undefined> {
  const done: IteratorResult<Item, undefined> = { done: true, value: undefined };
  let last: Promise<unknown> = Promise.resolve();
  let isEnded = false;
  const next = async (): Promise<IteratorResult<Item, undefined>> => {
    if (isEnded) return done;
    try {
      const step = await read();
      isEnded ||= step.done === true;
      return isEnded ? done : step;
    } catch (thrown) {
      if (isEnded) return done; // It was left meanwhile.
      isEnded = true;
      throw thrown;
    }
  };
  return {
    next() {
      const step = last.then(next, next);
      last = step;
      return step;
    },
    async return() {
      if (!isEnded) leave();
      isEnded = true;
      return done;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The item of an event, or the end; undefined for an event that is neither. */
function stepOf({ event, data }: ServerEvent, what: string): IteratorResult<unknown, undefined> | undefined {
  if (event === "end" || data === "[DONE]") return { done: true, value: undefined }; // The second is the AI SDK's.
  if (event !== "message" && event !== "error") return undefined;
  const json = jsonIn(data);
  if (event === "message" && json !== undefined) return { done: false, value: json.value };
  const problem = event === "error" ? errorOfProblem(json?.value) : undefined;
  throw new ClientStreamError(problem ?? strange(what));
}
