import type { StreamConfig, StreamInfo } from "@nats-io/jetstream";
import type { Connection, JetStream } from "../connection";
import type { DurableLevel } from "./options";

/** The time that a second message of the same name is known as such, in milliseconds: longer than any sender goes on trying. */
const DUPLICATE_WINDOW = 120_000;
/** The time that a dead letter is kept, in milliseconds: 30 days. */
const DEAD_KEPT = 30 * 24 * 3_600_000;
const NANOSECONDS = 1e6;

/** JetStream's codes for a stream that is there with another configuration, and for none. */
const [OTHER_CONFIGURATION, NO_STREAM] = [10_058, 10_059];
/**
 * JetStream's codes where there is no room: in an account (10002), in the server's `max_file` (10023, and 10047 for a new stream), or in the stream itself
 * (10077).
 */
const NO_ROOM: ReadonlySet<number> = new Set([10_002, 10_023, 10_047, 10_077]);

/** The streams of a cluster's durable messages: those that wait, and dead letters. */
export interface Store extends JetStream {
  /** The name of the stream of waiting messages. */
  readonly name: string;
  readonly deadName: string;
  /** The copies that are kept of each message. */
  readonly replicas: number;
  /** When the stream was made: its numbers begin anew with another one. */
  readonly created: string;
}

/** The first servers with schedules. */
const WITH_SCHEDULES = [2, 12] as const;

/** The name of what opens the streams, for the error when JetStream is off. */
const WHO = "cluster.durable";

/** Servers without schedules: they keep no delayed messages. */
export class NoSchedules extends Error {}

type Stores = { durable?: Promise<Store> | undefined; later?: Promise<Store> | undefined };

const stores = new WeakMap<Connection, Stores>();

/**
 * Opens the streams of a cluster, which are made where there are none: that of waiting messages, or that of delayed ones.
 *
 * @throws Error (as a rejection) where JetStream is off or refuses, and NoSchedules; the next call tries again.
 */
export function openStore(connection: Connection, isLater = false): Promise<Store> {
  const own = stores.get(connection) ?? {};
  stores.set(connection, own);
  const which = isLater ? "later" : "durable";
  const known = own[which];
  if (known !== undefined) return known;
  const opening = connection.copied(() => (isLater ? openLater(connection) : open(connection)));
  own[which] = opening;
  opening.catch(() => {
    if (own[which] === opening) own[which] = undefined;
  });
  return opening;
}

/** Opens the streams anew at the next call: one of them is gone. */
export function forget(connection: Connection): void {
  stores.delete(connection);
}

/** What all streams of a cluster have. */
const commonOf = ({ sdk, replicas: num_replicas }: Connection) => ({
  num_replicas,
  storage: sdk.jetstream.StorageType.File,
  duplicate_window: DUPLICATE_WINDOW * NANOSECONDS,
});

async function open(connection: Connection): Promise<Store> {
  const jetstream = await connection.jetstream(WHO);
  const { sdk, durableBytes } = connection;
  const { RetentionPolicy, DiscardPolicy } = sdk.jetstream;
  const name = connection.named("durable");
  const deadName = connection.named("dead");
  const waiting = await ensure(jetstream, {
    ...commonOf(connection),
    name,
    subjects: [connection.subject("durable", ">")],
    retention: RetentionPolicy.Workqueue, // A message that was handled is removed.
    discard: DiscardPolicy.New, // A full stream refuses, so that its sender is told.
    ...(durableBytes !== undefined && { max_bytes: durableBytes }),
  });
  await ensure(jetstream, {
    ...commonOf(connection),
    name: deadName,
    subjects: [connection.subject("dead", ">")],
    max_age: DEAD_KEPT * NANOSECONDS,
  });
  if (waiting.config.retention !== RetentionPolicy.Workqueue || waiting.config.discard !== DiscardPolicy.New) {
    throw new Error(
      `The stream ${name} is no work queue that refuses when it is full: somebody else made it, so delete it or name the cluster otherwise.`,
    );
  }
  return { ...jetstream, name, deadName, replicas: waiting.config.num_replicas, created: waiting.created };
}

/**
 * Delayed messages have a stream of their own: one with schedules cannot refuse when it is full (`discard: new`), as that of waiting messages does. It has no
 * limit of its own, so nothing in it is discarded.
 */
async function openLater(connection: Connection): Promise<Store> {
  const { deadName, ...jetstream } = await openStore(connection); // Its dead letters are those of the same stream.
  const { RetentionPolicy } = connection.sdk.jetstream;
  const { version = "", server_name: server = "the server" } = connection.nc.info ?? {};
  const refusal = `a delayed message needs servers of NATS ${WITH_SCHEDULES.join(".")} or later, and ${server} is ${version}: install a later one, or send the message when its time has come`;
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  if (major < WITH_SCHEDULES[0] || (major === WITH_SCHEDULES[0] && minor < WITH_SCHEDULES[1]))
    throw new NoSchedules(refusal);
  const name = connection.named("later");
  const { config, created } = await ensure(jetstream, {
    ...commonOf(connection),
    name,
    subjects: [connection.subject("later", ">")],
    retention: RetentionPolicy.Workqueue,
    allow_msg_schedules: true,
  });
  if (config.allow_msg_schedules !== true) throw new NoSchedules(refusal); // The server that leads is older.
  return { ...jetstream, name, deadName, replicas: config.num_replicas, created };
}

/** Makes a stream. One that is there may have other limits: its owner has set them, unless this cluster states them. */
async function ensure(jetstream: JetStream, config: Partial<StreamConfig> & { name: string }): Promise<StreamInfo> {
  const { jsm } = jetstream;
  const info = await found(jetstream, config.name);
  if (info === undefined) {
    try {
      return await jsm.streams.add(config);
    } catch (thrown) {
      if (codeOf(thrown) !== OTHER_CONFIGURATION) throw thrown;
      return await jsm.streams.info(config.name); // Another node has made it just now.
    }
  }
  const { max_bytes = info.config.max_bytes } = config;
  return info.config.max_bytes === max_bytes ? info : await jsm.streams.update(config.name, { max_bytes });
}

async function found({ jsm }: JetStream, name: string): Promise<StreamInfo | undefined> {
  try {
    return await jsm.streams.info(name);
  } catch (thrown) {
    if (!isNoStream(thrown)) throw thrown;
    return undefined;
  }
}

/** JetStream's code of an error; undefined for any other error. */
export const codeOf = (thrown: unknown): number | undefined =>
  typeof thrown === "object" && thrown !== null && "code" in thrown && typeof thrown.code === "number"
    ? thrown.code
    : undefined;

/** True where JetStream has no such stream. */
export const isNoStream = (thrown: unknown): boolean => codeOf(thrown) === NO_STREAM;

/** True where JetStream refused something because there is no room for it. It was not stored. */
export const isNoRoom = (thrown: unknown): boolean => NO_ROOM.has(codeOf(thrown) ?? 0);

/** The error for users where there is no room. */
export const noRoom = (connection: Connection, cause: unknown): Error =>
  new Error(
    `JetStream has no room in its stream ${connection.named("durable")}, or on its servers (${String(cause)}): let the messages that wait be handled, or raise max_bytes of the stream or max_file of the servers`,
    { cause },
  );

/** The level of a stream with so many copies. */
export function levelOf(replicas: number, serversSync: boolean): DurableLevel {
  if (serversSync) return "synced";
  return replicas >= 3 ? "replicated" : "stored";
}
