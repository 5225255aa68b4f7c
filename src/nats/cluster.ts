import type { System } from "../index";
import { openConnection } from "./connect";
import type { ClusterOptions } from "./options";

/** A node's membership of a cluster. */
export interface Cluster extends AsyncDisposable {
  /** The cluster's name. */
  readonly name: string;
  /** The name of this node. */
  readonly node: string;
  /** Leaves the cluster: sends what is left, and ends the connection. Called by a shutdown of the system. */
  close(): Promise<void>;
}

/**
 * Joins a cluster of nodes that reach each other by servers of NATS, 2.11 or later. It reconnects for ever, with backoff, and says by events of the system
 * what happens: `nats:disconnected`, `nats:reconnected`, `nats:slow-consumer`, `nats:leaving`, `nats:error` and `nats:stale`.
 *
 * @throws TypeError or RangeError when an option is invalid, and Error when no server answers, when it is older, or when a package of NATS
 * is not installed; all as rejections.
 * @example
 * const cluster = await connectCluster(system, { servers: "nats://127.0.0.1:4222", name: "shop", node: "node-1" });
 */
export async function connectCluster(system: System, options: ClusterOptions): Promise<Cluster> {
  const connection = await openConnection(system, options);
  return {
    name: connection.cluster,
    node: connection.node,
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
