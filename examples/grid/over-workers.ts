import { type AskResult, createSystem } from "envoi";
import { spawnWorkers } from "envoi/workers";
import { type Job, type Outcome, Progress } from "./job";
import { Counter, Store } from "./protocols";
import { storeOf } from "./store";

/** Pages under way for each worker: one is counted while the others are on their way. */
const UNDER_WAY = 4;
/** The pause before a page is sent again, in milliseconds: workers may all be down. */
const PAUSE = 20;

/** Counts over workers of this machine. A page that a dead worker had is sent again, marked as one that may repeat. */
export async function countOverWorkers(job: Job): Promise<Outcome> {
  const { pages, words, seed, say } = job;
  await using system = createSystem({ logger: { warn: say, error: say } });
  const progress = new Progress(job, () => {
    const ready = workers.members.filter(({ state, pid }) => state === "ready" && pid !== undefined);
    const victim = ready[(seed + progress.kills) % ready.length];
    if (victim?.pid === undefined) return false;
    say(`kill -9: worker ${victim.index}`);
    process.kill(victim.pid, "SIGKILL");
    return true;
  });
  const store = system.spawn("store", Store, storeOf(progress.shelf, progress.onKept));
  const workers = await spawnWorkers(system, {
    entry: new URL("./worker.ts", import.meta.url),
    size: job.workers,
    as: job.threads ? "thread" : "process",
    exposes: { store },
    readyWithin: 60_000,
    supervision: { backoff: { initial: 10, max: 100 }, beyondLimit: "hold" },
  });
  const counter = workers.pool("counter", Counter, { routing: "least-busy" });

  const acknowledged = new Set<number>();
  let next = 0;
  let sentAgain = 0;
  const sendAll = async (): Promise<void> => {
    for (let page = next++; page < pages; page = next++) {
      const send = (mayRepeat: boolean): Promise<AskResult<void>> =>
        counter.ask("count", { seed, page, words, mayRepeat }, { timeout: Number.POSITIVE_INFINITY });
      for (let result = await send(false); result.isErr(); result = await send(true)) {
        if (result.error.kind !== "unreachable") throw result.error;
        sentAgain++;
        await Bun.sleep(PAUSE);
      }
      acknowledged.add(page);
    }
  };
  try {
    progress.begin();
    const sending = Promise.all(Array.from({ length: UNDER_WAY * job.workers }, sendAll));
    await Promise.race([sending, progress.done.promise]);
    const { shelf, kills, shares, seconds: taken } = progress;
    if (shelf.pages.size === pages) await sending; // The last acknowledgements come behind the last page.
    return { shelf, acknowledged, sentAgain, kills, shares, seconds: taken };
  } finally {
    progress.end();
  }
}
