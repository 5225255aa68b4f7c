import { type AnyRef, checkOptions, type Protocol, receive } from "../../index";
import type { Connection } from "../connection";
import type { ShardedOptions } from "../lease";
import { versionOf } from "../versions";
import type { Target } from "./handling";
import { DURABLE_ACTOR, type DurableActorOptions } from "./options";
import { allLanes, type DurableKind, placeOfId } from "./place";
import { openAt } from "./receiver";

/** The least `ackWait`, in leases: once it is over, the other nodes take nothing more of the one that held the messages. */
const LEASES = 2;
const DEFAULT_ACK_WAIT = 5_000;

export const isDurable = ({ durable = false }: ShardedOptions): boolean => durable !== false;

const settingsOf = ({ durable }: ShardedOptions): DurableActorOptions => (typeof durable === "object" ? durable : {});

/** @throws TypeError or RangeError when the option `durable` is invalid. */
export function checkDurable(options: ShardedOptions, { lease }: Connection): void {
  const { durable } = options;
  if (durable === undefined || typeof durable === "boolean") return;
  checkOptions(durable, DURABLE_ACTOR, "durable messages to ids", "{ durable: { attempts: 3 } }");
  if (durable.ackWait !== undefined && durable.ackWait < LEASES * lease) {
    throw new RangeError(
      `The ackWait of durable messages to ids is at least twice the lease of the cluster, ${LEASES * lease} ms: a node whose lease holds could still hand them in; got ${durable.ackWait}.`,
    );
  }
}

/**
 * Hands the durable messages to the ids of a name to their owners, by references as any sender has them: so who owns an id, its epoch and the fence are
 * those of names. Each node that serves the name takes part, and one of them has a lane's batch at a time.
 *
 * @param ready resolves once the members know that this node serves the name: until then, there may be no owner.
 * @throws Error (as a rejection) where JetStream refuses; then no lane goes on.
 */
export async function openLanes(
  connection: Connection,
  kind: DurableKind & { readonly protocol: Protocol },
  refOf: (id: string) => AnyRef,
  options: ShardedOptions,
  ready: Promise<void>,
): Promise<void> {
  const ackWait = Math.max(DEFAULT_ACK_WAIT, LEASES * connection.lease);
  const version = versionOf(kind.protocol);
  const settings = { ackWait, ...settingsOf(options) };
  const opened = await Promise.allSettled(
    allLanes(kind).map((lane) => {
      const targetOf = (id: string | undefined): Target => {
        if (id === undefined) throw new Error(`a message in ${lane.receiver} has no id`);
        return { place: placeOfId(connection, kind, id), door: receive(refOf(id)), version };
      };
      return openAt(connection, lane, targetOf, settings, ready);
    }),
  );
  const lanes = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const failed = opened.find((each) => each.status === "rejected");
  if (failed !== undefined) {
    await Promise.all(lanes.map((each) => each.close()));
    throw failed.reason;
  }
  // Before the actors of this node stop: the next node hands in what is left.
  connection.onClose(connection.system.beforeShutdown(() => Promise.all(lanes.map((each) => each.close()))));
}
