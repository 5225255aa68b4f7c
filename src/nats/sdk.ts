import type * as JetStreamSdk from "@nats-io/jetstream";
import type * as KvSdk from "@nats-io/kv";
import type * as TransportSdk from "@nats-io/transport-node";

/** The official packages of NATS: optional peers, loaded when a cluster is connected. */
export interface Sdk {
  readonly transport: typeof TransportSdk;
  readonly jetstream: typeof JetStreamSdk;
  readonly kv: typeof KvSdk;
}

/**
 * Loads the packages of NATS.
 *
 * @throws Error (as a rejection) that names the package to install.
 */
export async function loadSdk(): Promise<Sdk> {
  const [transport, jetstream, kv] = await Promise.all([
    load("@nats-io/transport-node", () => import("@nats-io/transport-node")),
    load("@nats-io/jetstream", () => import("@nats-io/jetstream")),
    load("@nats-io/kv", () => import("@nats-io/kv")),
  ]);
  return { transport, jetstream, kv };
}

async function load<Module>(name: string, importing: () => Promise<Module>): Promise<Module> {
  try {
    return await importing();
  } catch (cause) {
    const sentence = `connectCluster needs the package ${name}, which could not be loaded: install it with bun add ${name}.`;
    throw new Error(sentence, { cause });
  }
}
