export { type Cluster, connectCluster } from "./cluster";
export type { ClusterOptions, NatsCredentials, NatsTls } from "./options";
