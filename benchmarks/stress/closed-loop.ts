import { type Answers, eachAnswer, type LineWriter } from "./lines";
import { Requests } from "./requests";
import type { Outcomes } from "./results";

/** Requests one after the other, each sent when the one before is answered. */
export interface ClosedLoop {
  readonly operation: string;
  readonly milliseconds: number;
}

/**
 * Sends as a closed loop does, for comparison: while the one under load stalls, it sends nothing, so of a stall it sees one
 * slow request, however many its users would have sent meanwhile (G. Tene, "How NOT to Measure Latency", 2013).
 */
export async function closedLoop(
  { operation, milliseconds }: ClosedLoop,
  connect: (hear: (answers: readonly Answers[]) => void) => Promise<LineWriter>,
): Promise<Outcomes> {
  const requests = new Requests(Number.POSITIVE_INFINITY, 4);
  const window = requests.begin();
  const end = performance.now() + milliseconds;
  const { promise, resolve } = Promise.withResolvers<void>();
  const next = (): void => {
    const now = performance.now();
    if (now >= end) resolve();
    else writer.write(`[${requests.add(operation, now)},"${operation}"]\n`);
  };
  const writer = await connect((answers) => {
    eachAnswer(answers, (id, error) => {
      requests.settle(id, error, performance.now());
      next();
    });
  });
  next();
  await promise;
  requests.end(window);
  return window.all.outcomes();
}
