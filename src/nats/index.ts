export { type Cluster, connectCluster, type Sharded } from "./cluster";
export type { DeadLettersOptions, DurableDeadLetter } from "./durable/dead-letters";
export { type Delivery, deliveryOf } from "./durable/delivery";
export type {
  DurableActorOptions,
  DurableLevel,
  DurableOptions,
  DurableReceiverOptions,
  DurableTellOptions,
} from "./durable/options";
export type { Stored } from "./durable/outbox";
export type { DurableReceiver } from "./durable/receiver";
export type { DurableRef } from "./durable/sender";
export type { Lease, ShardedOptions } from "./lease";
export type { ClusterOptions, NatsCredentials, NatsTls } from "./options";
export type { ClusterTopic, PublishOptions, SubscribeOptions } from "./topics";
export { versionOf } from "./versions";
