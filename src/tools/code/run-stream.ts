import type { Told } from "./outcome";
import type { ExecuteItem, ExecuteReply } from "./protocol";
import type { Run } from "./tier";

/** The listeners of a run. */
export type Listeners = Required<Pick<Run, "onLog" | "onProgress">>;

/**
 * Streams the logs and the progress of a run, and then its end. Unread items are kept: they are never more than the run's
 * limit of output.
 */
export async function* runStream(
  begin: (listeners: Listeners) => Told<ExecuteReply> | Promise<Told<ExecuteReply>>,
): AsyncGenerator<ExecuteItem> {
  let items: ExecuteItem[] = [];
  let wake: (() => void) | undefined;
  const put = (item: ExecuteItem): void => {
    items.push(item);
    wake?.();
  };
  const ended = Promise.resolve(
    begin({
      onLog: (entry) => put({ kind: "log", entry }),
      onProgress: (text) => put({ kind: "progress", value: JSON.parse(text) as unknown }),
    }),
  );
  let isOver = false;
  const over = ended.finally(() => {
    isOver = true;
    wake?.();
  });
  over.catch(() => {}); // `ended`, which is awaited below, gives the error.
  while (!isOver || items.length > 0) {
    const batch = items;
    items = [];
    yield* batch;
    if (!isOver && items.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  yield { kind: "end", outcome: await ended };
}
