import { afterAll } from "bun:test";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { type NatsOptions, startNatsCluster } from "../../../benchmarks/harness/nats-server";

/** Three servers that keep three copies, and what finds the leader of a stream. */
export async function threeServers(stream: string, options?: NatsOptions) {
  const servers = await startNatsCluster(options);
  afterAll(() => Promise.all(servers.map((each) => each.close())));
  const urls = servers.map(({ url }) => url);
  /** Asks JetStream until it gives an answer: for a while it has no leader. */
  const ask = async <Answer>(question: (jsm: JetStreamManager) => Promise<Answer | undefined>): Promise<Answer> => {
    for (;;) {
      try {
        const nc = await connect({ servers: urls, timeout: 500 });
        try {
          const answer = await question(await jetstreamManager(nc, { timeout: 1_000 }));
          if (answer !== undefined) return answer;
        } finally {
          await nc.close();
        }
      } catch {
        // It is asked again.
      }
      await Bun.sleep(50);
    }
  };
  /** The server that leads a stream. */
  const leader = (of = stream) =>
    ask(async (jsm) => {
      const { cluster } = await jsm.streams.info(of);
      return servers.find(({ name }) => name === cluster?.leader);
    });
  await ask(async (jsm) => {
    await jsm.streams.add({ name: "READY", subjects: ["ready"], num_replicas: 3 });
    return await jsm.streams.delete("READY");
  });
  return { servers, urls, leader, ask };
}
