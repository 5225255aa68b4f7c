/** Servers of NATS for the tests and the demo; the benchmarks, which the package has, start theirs by the same. */
export {
  findNatsServer,
  NATS_HINT,
  type NatsOptions,
  type NatsServer,
  startNats,
  startNatsCluster,
} from "../benchmarks/harness/nats-server";
