/** A worker of the grid: alone or on a machine of a cluster, it has a counter, and reaches the store that it is given. */
import type { RefTo } from "envoi";
import { serveWorker } from "envoi/workers";
import { counterOf } from "./counter";
import { Counter, Store } from "./protocols";

serveWorker((system, worker) => {
  const store: RefTo<typeof Store> = worker.ref("store", Store);
  return { counter: system.spawn("counter", Counter, counterOf(store)) };
});
