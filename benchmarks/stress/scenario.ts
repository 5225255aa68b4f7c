/** The published stress scenario, in a process of its own: messages over streaming, files and code, in batches. */
import { liveHeap } from "../harness/heap";
import { disk, makeFolder } from "../harness/places";
import { openActors } from "./actors";
import { serveParent } from "./child";
import { RequestTimes } from "./requests";
import type { Latency, Scenario } from "./results";

const BATCH = 50;

async function scenario(messages: number, isolation: Scenario["isolation"]): Promise<Scenario> {
  const folder = makeFolder(disk, "envoi-scenario-");
  // What starts once has started, and the files that are read are there: that is measured elsewhere.
  const { operations, close } = await openActors(folder.path, isolation, false);
  try {
    const kinds = [
      ["streaming", operations.stream],
      ["files", (index: number) => operations[index % 2 === 0 ? "write" : "read"](index)],
      ["code", operations.code],
    ] as const;
    const run = async (count: number, note: (kind: string, milliseconds: number) => void) => {
      for (let sent = 0; sent < count; sent += BATCH) {
        const batch: Promise<void>[] = [];
        for (let index = sent; index < Math.min(count, sent + BATCH); index++) {
          const [kind, work] = kinds[index % kinds.length] ?? kinds[0];
          const start = performance.now();
          const noted = work(index).then((outcome) => {
            if (outcome !== index) throw new Error(`${kind} gave something else than it should: ${outcome}.`);
            note(kind, performance.now() - start);
          });
          batch.push(noted);
        }
        await Promise.all(batch);
      }
    };
    await run(BATCH * 4, () => {});
    const latencies = new Map<string, RequestTimes>(kinds.map(([kind]) => [kind, new RequestTimes()]));
    const heap = liveHeap();
    const start = performance.now();
    await run(messages, (kind, milliseconds) => latencies.get(kind)?.record(milliseconds));
    const seconds = (performance.now() - start) / 1_000;
    const heapGrowth = liveHeap() - heap;
    const summaries = Object.fromEntries(
      [...latencies].map(([kind, each]): [string, Latency] => [kind, each.summary()]),
    );
    const completed = Object.values(summaries).reduce((sum, { count }) => sum + count, 0);
    if (completed !== messages) throw new Error(`${completed} of ${messages} messages were done.`);
    return { messages, batch: BATCH, isolation, throughput: messages / seconds, heapGrowth, kinds: summaries };
  } finally {
    await close();
    folder.remove();
  }
}

/** What the process that started this one may call. */
export interface ScenarioHandlers extends Record<string, (argument: never) => unknown> {
  readonly run: (asked: Pick<Scenario, "messages" | "isolation">) => Promise<Scenario>;
}

if (import.meta.main) {
  const handlers: ScenarioHandlers = { run: ({ messages, isolation }) => scenario(messages, isolation) };
  serveParent(handlers);
}
