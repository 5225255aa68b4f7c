import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { KV, KvOptions } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import { address, type System } from "../index";
import { newIncarnation } from "./format";
import type { ClusterOptions } from "./options";
import type { Sdk } from "./sdk";

/** The clients of JetStream. */
export interface JetStream {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

/** The state of a bucket by which a loss of it, or of its last entries, is seen. */
export interface BucketState {
  readonly created: string;
  readonly last: number;
}

/** One connection of a node to its cluster: what all parts of the wing share. */
export class Connection {
  readonly nc: NatsConnection;
  readonly sdk: Sdk;
  readonly system: System;
  readonly cluster: string;
  readonly node: string;
  /** Another one for each lease of the node: one that was started anew, or whose lease ended, is another one. */
  incarnation: string = newIncarnation();
  /** In milliseconds. */
  readonly lease: number;
  readonly replicas: number;
  readonly durableBytes: number | undefined;
  readonly #closers = new Set<{ readonly callback: () => unknown }>();
  #jetstream: Promise<JetStream> | undefined;
  #closed: Promise<void> | undefined;
  #opening: Promise<unknown> | undefined;

  constructor(nc: NatsConnection, sdk: Sdk, system: System, options: ClusterOptions) {
    this.nc = nc;
    this.sdk = sdk;
    this.system = system;
    this.cluster = options.name;
    this.node = options.node;
    this.lease = options.lease ?? 2_000;
    this.replicas = options.replicas ?? 1;
    this.durableBytes = options.durableBytes;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** @throws Error that names what needs the connection, once the cluster is closed. */
  checkOpen(who: string): void {
    if (this.isClosed) throw new Error(`Cluster "${this.cluster}" is closed: connect again for ${who}.`);
  }

  /** The subject of some tokens, below those of the cluster. */
  subject(...tokens: readonly string[]): string {
    return ["envoi", this.cluster, ...tokens].join(".");
  }

  /** The name of a stream, a bucket or a consumer of the cluster. */
  named(what: string): string {
    return `ENVOI_${this.cluster}_${what}`;
  }

  /** @throws Error (as a rejection) that names what needs JetStream, where the servers have it turned off. */
  async jetstream(who: string): Promise<JetStream> {
    this.#jetstream ??= this.#openJetStream();
    try {
      return await this.#jetstream;
    } catch (cause) {
      this.#jetstream = undefined; // Perhaps it has no leader at this moment.
      const sentence = `${who} needs JetStream, which the servers of cluster "${this.cluster}" do not offer this user: start them with -js, and enable it for the account.`;
      throw new Error(sentence, { cause });
    }
  }

  async #openJetStream(): Promise<JetStream> {
    const jsm = await this.asked(() => this.sdk.jetstream.jetstreamManager(this.nc, { timeout: TRY_WITHIN }));
    return { js: jsm.jetstream(), jsm };
  }

  /**
   * A bucket of the cluster, which is made where there is none.
   *
   * @throws Error (as a rejection) where JetStream is off, or where the bucket is there with other times: the server keeps the old ones.
   */
  async bucket(who: string, what: string, options: Partial<KvOptions>): Promise<KV> {
    await this.jetstream(who); // Says what is missing.
    const kvm = new this.sdk.kv.Kvm(this.sdk.jetstream.jetstream(this.nc, { timeout: TRY_WITHIN }));
    const name = this.named(what);
    const settings = { replicas: this.replicas, history: 1, ...options };
    const bucket = await this.copied(() => this.asked(() => kvm.create(name, settings)));
    const { ttl, markerTTL } = await this.asked(() => bucket.status());
    const wanted = { ttl: options.ttl ?? 0, markerTTL: options.markerTTL ?? 0 };
    if (ttl === wanted.ttl && markerTTL === wanted.markerTTL) return bucket;
    throw new Error(
      ttl > 0 && wanted.ttl > 0 && markerTTL === wanted.markerTTL
        ? `The nodes of cluster "${this.cluster}" have a lease of ${ttl} ms, and node "${this.node}" asks for ${wanted.ttl} ms: give all nodes the same lease. To change it, end all nodes and delete the bucket "${name}".`
        : `The bucket "${name}" of cluster "${this.cluster}" was not made by nodes: its entries end after ${ttl} ms and leave a mark for ${markerTTL} ms (0 for never and none), in place of ${wanted.ttl} and ${wanted.markerTTL}. End all nodes, and delete it.`,
    );
  }

  /**
   * Makes something of which JetStream keeps `replicas` copies.
   *
   * @throws Error (as a rejection) that says what to do where there are not as many servers.
   */
  async copied<Made>(make: () => Promise<Made>): Promise<Made> {
    try {
      return await make();
    } catch (cause) {
      if (!(cause instanceof this.sdk.jetstream.JetStreamApiError) || !TOO_FEW.has(cause.code)) throw cause;
      const { server_name: server, connect_urls: known = [] } = this.nc.info ?? {};
      const servers =
        cause.code === NO_CLUSTER
          ? `${server} is one server alone`
          : `the servers that are known are ${known.join(", ")}`;
      throw new Error(
        `Cluster "${this.cluster}" asks for ${this.replicas} copies (replicas), and JetStream has not as many servers that can keep one: ${servers} (${cause.message}). Start more, as one cluster of NATS, or connect with fewer replicas.`,
        { cause },
      );
    }
  }

  /** When a bucket was made, by its server: one that was lost, and made anew, is another one. And its last revision. */
  async stateOf(bucket: KV): Promise<BucketState> {
    const { created, state } = (await bucket.status()).streamInfo;
    return { created, last: state.last_seq };
  }

  /** The keys of a bucket's stream, those of markers among them, and its last revision. */
  async keysOf(stream: string): Promise<{ readonly keys: ReadonlySet<string>; readonly last: number }> {
    const jsm = await this.sdk.jetstream.jetstream(this.nc, { timeout: TRY_WITHIN }).jetstreamManager(false);
    const { state } = await jsm.streams.info(stream, { subjects_filter: ">" });
    const prefix = `$KV.${stream.slice("KV_".length)}.`;
    return {
      keys: new Set(Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length))),
      last: state.last_seq,
    };
  }

  /**
   * Asks something of JetStream, and asks again while it has no leader, or where a server has not heard yet of what another one made. A question that came
   * while there was no leader is lost, so a new one is found within one try. For what may be done twice.
   */
  async asked<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    const { clock } = this.system;
    const last = clock.monotonicTime() + LEADER_WITHIN;
    for (;;) {
      try {
        return await question();
      } catch (thrown) {
        if (!this.#isEarly(thrown) || this.isClosed || clock.monotonicTime() > last) throw thrown;
        await new Promise<void>((resolve) => clock.setTimer(resolve, ASK_AGAIN_AFTER));
      }
    }
  }

  #isEarly(thrown: unknown): boolean {
    const { JetStreamApiCodes, JetStreamApiError } = this.sdk.jetstream;
    if (thrown instanceof Error && thrown.name === "JetStreamStatusError")
      return "code" in thrown && thrown.code === NOBODY_ANSWERS;
    if (thrown instanceof JetStreamApiError) {
      return thrown.code === JetStreamApiCodes.StreamNotFound || thrown.code === NO_LEADER;
    }
    return thrown instanceof Error && thrown.name === "TimeoutError";
  }

  /** Waits for some work, for a time in milliseconds. Undefined when it took longer; it is not ended. */
  async within<Value>(work: Promise<Value>, time: number): Promise<Value | undefined> {
    if (time === Number.POSITIVE_INFINITY) return await work;
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = this.system.clock.setTimer(() => resolve(undefined), time);
    try {
      return await Promise.race([work, late]);
    } finally {
      timer.cancel(); // It would keep the process alive.
    }
  }

  /** Publishes an event of this wing: `tell("gap", { node })` is of the kind `nats:gap`. */
  tell(kind: string, detail: Readonly<Record<string, unknown>>): void {
    this.system.publish({
      kind: `nats:${kind}`,
      address: address(this.cluster),
      detail: { cluster: this.cluster, ...detail },
    });
  }

  /** Calls back once, when the cluster closes and the connection is still there. A promise is awaited. A part that was made while the cluster closed is ended at once. */
  onClose(callback: () => unknown): () => void {
    const closer = { callback };
    this.#closers.add(closer);
    if (this.isClosed) this.system.clock.microtask(() => void (this.#closers.has(closer) && this.#end(callback)));
    return () => void this.#closers.delete(closer);
  }

  /** The end waits for some work, such as that of a node that joins: it would go on without a connection otherwise, and leave a lease and timers behind. */
  async opening<Value>(work: Promise<Value>): Promise<Value> {
    this.#opening = work.catch(() => undefined); // The caller has the rejection.
    return await work;
  }

  /** Closes all parts, the last one first, then sends what is left and ends the connection. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #end(callback: () => unknown): Promise<void> {
    try {
      await callback();
    } catch (thrown) {
      this.system.log.error(`A part of cluster "${this.cluster}" did not close: ${String(thrown)}`, { cause: thrown });
    }
  }

  async #close(): Promise<void> {
    if (this.#opening !== undefined) await this.within(this.#opening, OPENED_WITHIN);
    for (const { callback } of [...this.#closers].reverse()) await this.#end(callback);
    if (this.nc.isClosed()) return;
    // Without a server, a drain would wait for one.
    const isDrained = this.nc.drain().then(
      () => true,
      () => false,
    );
    if (!(await this.within(isDrained, DRAINED_WITHIN))) await this.nc.close();
  }
}

/** The time that one question to JetStream waits, in milliseconds: one that comes while it has no leader, or to a server that begins, is lost. */
const TRY_WITHIN = 1_500;
/** The longest time that questions are asked again, in milliseconds: servers elect a leader within 4 to 10 s. */
export const LEADER_WITHIN = 15_000;
/** The wait before a question is asked again, in milliseconds. */
const ASK_AGAIN_AFTER = 100;
/** JetStream's codes for more copies than servers: where there is one server that is in no cluster of NATS, and where a cluster has too few. */
const [NO_CLUSTER, NO_PEERS] = [10_074, 10_005];
const TOO_FEW: ReadonlySet<number> = new Set([NO_CLUSTER, NO_PEERS]);
/** The status of a pull that nobody answers, because its consumer has no leader at this moment. */
const NOBODY_ANSWERS = 503;
/** JetStream's code for servers that have no leader at this moment. */
const NO_LEADER = 10_008;
/** The longest time that the end waits for a node that joins, in milliseconds. */
const OPENED_WITHIN = 2_000;
/** The longest time that the last messages take to leave at the end, in milliseconds. */
const DRAINED_WITHIN = 2_000;
