import { createSystem } from "envoi";
import { connectCluster } from "envoi/nats";
import { startNats } from "../../benchmarks/harness/nats-server";
import { type Job, type Outcome, Progress } from "./job";
import { laneOf, Machine, NODE_OF_STORE } from "./machines";
import { Counter, Store } from "./protocols";
import { storeOf } from "./store";

const MACHINES = 3;
/** Pages on their way to JetStream in each lane. */
const UNDER_WAY = 4;
/** The pause before a page is sent again that JetStream did not take, in milliseconds. */
const PAUSE = 100;

/** The parts that a run over machines is made of. */
export interface Parts {
  readonly store: typeof storeOf;
  /** The program of a machine. */
  readonly machine: URL;
  /** Milliseconds without a page until the work is given up. Default: as `Progress` has it. */
  readonly patience?: number;
}

const PARTS: Parts = { store: storeOf, machine: new URL("./machine.ts", import.meta.url) };

/**
 * Counts over three machines: processes here, each a node of a cluster with workers of its own. A page is acknowledged once JetStream has it, which keeps it until the
 * store does: a machine may be killed at any moment.
 *
 * @throws Error (as a rejection) when there is no nats-server.
 */
export async function countOverNats(
  job: Job,
  { store: makeStore, machine: program, patience }: Parts = PARTS,
): Promise<Outcome> {
  const { pages, words, seed, say, signal } = job;
  const server = await startNats();
  await using _ = { [Symbol.asyncDispose]: () => server.close() };
  await using system = createSystem({ logger: { warn: say, error: say } });
  const cluster = await connectCluster(system, { servers: server.url, name: "words", node: NODE_OF_STORE });
  const lanes = 2 * MACHINES * job.workers; // While a worker counts one page, its next one is on its way.
  // The machine that counted the last page is killed before it hears that the store has it: so that page comes again, to another machine.
  const strike = (node: string): boolean => {
    const isKilled = machines.find((each) => each.node === node)?.kill() === true;
    if (isKilled) say(`kill -9: ${node} and its workers`);
    return isKilled;
  };
  const progress = new Progress(job, strike, patience);
  const { shelf, done } = progress;
  cluster.expose("store", system.spawn("store", Store, makeStore(shelf, progress.onKept), { phase: 1 })); // It stops behind the machines.
  const { workers, threads } = job;
  const options = { servers: server.url, cluster: cluster.name, lanes, workers, threads };
  const machines = Array.from(
    { length: MACHINES },
    (_, at) => new Machine(system, program, { ...options, node: `machine-${at + 1}` }, say),
  );

  const acknowledged = new Set<number>();
  let next = 0;
  let sentAgain = 0;
  const sendBy = async (lane: number): Promise<void> => {
    const counter = cluster.durable(laneOf(lane), Counter);
    for (let page = next++; page < pages && !signal.aborted; page = next++) {
      const send = (mayRepeat: boolean) =>
        counter.tell("count", { seed, page, words, mayRepeat }, { id: `page-${page}` });
      for (let stored = await send(false); stored.isErr(); stored = await send(true)) {
        if (signal.aborted) return;
        sentAgain++;
        await Bun.sleep(PAUSE);
      }
      acknowledged.add(page);
    }
  };
  try {
    await Promise.race([done.promise, Promise.all(machines.map(({ ready }) => ready.promise))]);
    progress.begin();
    const sending = Promise.all(Array.from({ length: UNDER_WAY * lanes }, (_, at) => sendBy(at % lanes)));
    await Promise.race([done.promise, sending]);
    await done.promise;
    if (!signal.aborted) await sending;
    const { kills, shares, seconds: taken } = progress;
    return { shelf, acknowledged, sentAgain, kills, shares, seconds: taken };
  } finally {
    progress.end();
  }
}
