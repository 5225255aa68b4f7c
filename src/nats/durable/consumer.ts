import type { ConsumerConfig, ConsumerInfo } from "@nats-io/jetstream";
import { codeOf, type Store } from "./store";

/** JetStream's code for a consumer that is there with another configuration. */
const OTHER_CONFIGURATION = 10_148;

/** The part of a consumer's configuration that its receivers state. */
type Stated = Required<
  Pick<ConsumerConfig, "durable_name" | "filter_subject" | "ack_policy" | "ack_wait" | "max_ack_pending">
>;

/**
 * Makes the consumer of a place, where there is none. Nodes may ask for different `ack_wait`s, such as while the option is changed on one after another. A node judges by
 * its own, so that of the server must not be shorter: the longest one holds until a node with a shorter one opens a place that nobody receives from.
 *
 * @throws Error (as a rejection) where JetStream refuses, or somebody else made a consumer of that name.
 */
export async function ensureConsumer({ jsm, name }: Store, stated: Stated): Promise<ConsumerInfo> {
  try {
    return await jsm.consumers.add(name, stated);
  } catch (thrown) {
    if (codeOf(thrown) !== OTHER_CONFIGURATION) throw thrown;
  }
  const { durable_name: consumer, ack_wait, ack_policy, filter_subject, max_ack_pending } = stated;
  const info = await jsm.consumers.info(name, consumer);
  const { config } = info;
  if (
    config.ack_policy !== ack_policy ||
    config.filter_subject !== filter_subject ||
    config.max_ack_pending !== max_ack_pending
  ) {
    throw new Error(
      `The consumer ${consumer} of the stream ${name} does not hand out one message at a time: somebody else made it, so delete it.`,
    );
  }
  const isIdle = info.num_waiting === 0 && info.num_ack_pending === 0;
  if ((config.ack_wait ?? 0) >= ack_wait && !isIdle) return info;
  return await jsm.consumers.update(name, consumer, { ack_wait });
}
