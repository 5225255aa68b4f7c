import type { AskResult } from "envoi";
import type { Prepared } from "../harness/suite";

interface Asks<Reply> {
  readonly operations: number;
  /** How many are in flight at once; 1 waits for each before the next. */
  readonly width: number;
  readonly ask: (index: number) => Promise<AskResult<Reply>>;
  /** The value that must come back. */
  readonly reply: (index: number) => Reply;
  readonly teardown?: () => unknown;
}

/** Asks in sequence or `width` in flight; an operation is complete once its reply has the right value. */
export function prepareAsks<Reply>({ operations, width, ask, reply, teardown }: Asks<Reply>): Prepared {
  let completed = 0;
  const count = (result: AskResult<Reply>, index: number) => {
    if (result.isOk() && result.value === reply(index)) completed++;
  };
  const inSequence = async () => {
    for (let i = 0; i < operations; i++) count(await ask(i), i);
  };
  const inFlight = async () => {
    for (let sent = 0; sent < operations; sent += width) {
      const replies: Promise<AskResult<Reply>>[] = [];
      for (let i = 0; i < width; i++) replies.push(ask(i));
      let index = 0;
      for (const result of await Promise.all(replies)) count(result, index++);
    }
  };
  return { run: width === 1 ? inSequence : inFlight, completed: () => completed, ...(teardown && { teardown }) };
}
