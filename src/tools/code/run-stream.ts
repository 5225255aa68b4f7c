import type { Told } from "./outcome";
import type { ExecuteItem, ExecuteReply } from "./protocol";
import type { Run } from "./tier";

/** Who is told of a run while it lasts. */
export type Listeners = Required<Pick<Run, "onLog" | "onProgress">>;

/**
 * Tells of a run while it lasts, and of its end. What its reader has not read yet is kept, which is no more than the run may
 * put out.
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
  over.catch(() => {}); // It is awaited below.
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
