import type { KV, KvWatchEntry } from "@nats-io/kv";
import type { ClockTimer } from "../index";
import type { Connection } from "./connection";

/** Looks in the time of a lease. */
const LOOKS = 2;
/** The time in which a change that a look has found is heard, unless the watch is deaf. In milliseconds. */
const HEARD_WITHIN = 250;
/** The last changes of a bucket may be gone, so that a watch has nothing to tell of them: it is not begun anew for ever. Only those that began count. */
const MOST_TRIES = 3;

/**
 * Follows the entries of a bucket: those that are there, and then each change, in order. A watch goes deaf when the server that it is on is gone,
 * and the library (`@nats-io/kv` 3) finds that after a minute. So the bucket is asked twice in each lease how far it is; a watch that is behind is
 * begun anew, from the last change that was heard.
 */
export class Following {
  readonly #connection: Connection;
  readonly #bucket: KV;
  readonly #hear: (entry: KvWatchEntry) => void;
  #heard = 0;
  /** The change for which the watch was begun anew, and how often. */
  #sought = 0;
  #tries = 0;
  #stopWatch: () => void = () => undefined;
  #timer: ClockTimer | undefined;
  #isStopped = false;
  /** Resolved once all that was there at the beginning has been heard. */
  readonly #caughtUp = Promise.withResolvers<void>();

  private constructor(connection: Connection, bucket: KV, hear: (entry: KvWatchEntry) => void) {
    this.#connection = connection;
    this.#bucket = bucket;
    this.#hear = hear;
  }

  /** Resolves once all that is there has been heard. */
  static async begin(connection: Connection, bucket: KV, hear: (entry: KvWatchEntry) => void): Promise<Following> {
    const following = new Following(connection, bucket, hear);
    const { messages } = (await connection.asked(() => bucket.status())).streamInfo.state;
    await connection.asked(() => following.#watch());
    following.#lookLater(); // It finds a watch that is deaf from its beginning, too.
    const forget = connection.onClose(() => following.#caughtUp.resolve());
    if (messages > 0) await following.#caughtUp.promise;
    forget();
    return following;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#stopWatch();
  }

  async #watch(): Promise<void> {
    const begun = this.#heard === 0 ? {} : { resumeFromRevision: this.#heard + 1 };
    const entries = await this.#bucket.watch(begun);
    let isFollowed = true;
    this.#stopWatch = () => {
      isFollowed = false;
      entries.stop();
    };
    if (this.#isStopped) this.#stopWatch();
    const follow = async (): Promise<void> => {
      for await (const entry of entries) {
        if (!isFollowed) return;
        this.#heard = entry.revision;
        this.#hear(entry);
        if (entry.delta === 0) this.#caughtUp.resolve();
      }
    };
    void follow().catch((cause) => {
      const { system, cluster } = this.#connection;
      if (isFollowed) system.log.error(`Cluster "${cluster}": a watch failed; it is begun anew.`, { cause });
    });
  }

  #lookLater(): void {
    const { system, lease } = this.#connection;
    this.#timer = system.clock.setTimer(() => {
      void this.#look()
        .catch(() => undefined) // Nobody answers: the next look asks again.
        .finally(() => {
          if (!this.#isStopped) this.#lookLater();
        });
    }, lease / LOOKS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { last_seq: last } = (await this.#bucket.status()).streamInfo.state;
    if (this.#heard >= last || (this.#sought === last && this.#tries >= MOST_TRIES)) {
      this.#caughtUp.resolve();
      return;
    }
    const { clock } = this.#connection.system;
    await new Promise<void>((resolve) => clock.setTimer(resolve, HEARD_WITHIN).unref());
    if (this.#heard >= last || this.#isStopped) return;
    this.#stopWatch();
    await this.#watch();
    this.#tries = this.#sought === last ? this.#tries + 1 : 1;
    this.#sought = last;
  }
}
