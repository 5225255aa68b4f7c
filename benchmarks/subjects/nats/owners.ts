/** The rows of owners: a singleton that moves, and one that is handed over. */
import { createSystem } from "envoi";
import { connectCluster } from "envoi/nats";
import { Latencies } from "../../harness/latency";
import type { Readings } from "../../harness/suite";
import { Keeper } from "./keeper";
import { end, LONG, newName, program, SILENT, useServer } from "./programs";

/** A node of this process that calls the singleton, and may serve it. */
async function join(url: string, name: string, node: string) {
  const system = createSystem({ logger: SILENT, hookTimeout: 60_000 });
  return { system, cluster: await connectCluster(system, { servers: url, name, node }) };
}

/**
 * Milliseconds from the kill -9 of the process that owns a singleton until the other one that serves it has answered, at the default lease of 2 s. Asks
 * go on all the time, one after the other.
 */
export async function moves(rounds: number): Promise<Readings> {
  const taken = new Latencies();
  const { url, end: endServer } = await useServer();
  for (let round = 0; round < rounds; round++) {
    const name = newName("moves");
    const owners = new Map<string, Bun.Subprocess>();
    for (const node of ["a", "b"]) owners.set(node, await program("node", url, name, node));
    const { system, cluster } = await join(url, name, "here");
    const keeper = await cluster.singleton("keeper", Keeper);
    const first = (await keeper.ask("where", LONG))._unsafeUnwrap();
    const begun = Bun.nanoseconds();
    owners.get(first)?.kill("SIGKILL");
    for (let next = first; next === first; ) {
      const reply = await keeper.ask("where", LONG);
      if (reply.isOk()) next = reply.value;
    }
    taken.record(Bun.nanoseconds() - begun);
    await system.shutdown();
    for (const owner of owners.values()) await end(owner);
  }
  await endServer();
  return taken.told("ms");
}

/** Milliseconds from the end of the last owner's drain, its `onStop`, until the next one has answered what waited, while a third node asks all the time. */
export async function handsOver(rounds: number): Promise<Readings> {
  const taken = new Latencies();
  const { url, end: endServer } = await useServer();
  for (let round = 0; round < rounds; round++) {
    const name = newName("hands");
    let drained = 0;
    const serve = async (node: string) => {
      const { system, cluster } = await join(url, name, node);
      const behaviour = {
        where: () => Bun.sleep(1).then(() => node),
        onStop() {
          drained = Bun.nanoseconds();
        },
      };
      await cluster.singleton("keeper", Keeper, () => () => behaviour);
      return { node, system, cluster };
    };
    const serving = [await serve("a"), await serve("b")];
    const { system, cluster } = await join(url, name, "here");
    const keeper = await cluster.singleton("keeper", Keeper);
    const first = (await keeper.ask("where", LONG))._unsafeUnwrap();
    const asked: Promise<void>[] = [];
    const came = Promise.withResolvers<number>();
    const ask = async (): Promise<void> => {
      const node = (await keeper.ask("where", LONG))._unsafeUnwrap();
      if (node !== first) came.resolve(Bun.nanoseconds());
    };
    drained = 0;
    const leaving = serving.find(({ node }) => node === first)?.cluster.close();
    let isMoved = false;
    const moved = came.promise.finally(() => {
      isMoved = true;
    });
    while (!isMoved) {
      asked.push(ask());
      await Bun.sleep(1);
    }
    const at = await moved;
    await Promise.all([...asked, leaving]); // None of them failed.
    if (drained === 0 || at < drained) throw new Error("the next owner answered before the last one was drained");
    taken.record(at - drained);
    for (const each of [...serving, { system }]) await each.system.shutdown();
  }
  await endServer();
  return taken.told("ms");
}
