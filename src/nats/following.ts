import type { KV, KvWatchEntry } from "@nats-io/kv";
import type { ClockTimer } from "../index";
import type { BucketState, Connection } from "./connection";
import { isNoStream } from "./durable/store";

/** Looks in the time of a lease. */
const LOOKS = 2;
/** The time in which a change that a look has found is heard, unless the watch is deaf. In milliseconds. */
const HEARD_WITHIN = 250;
/** The last changes of a bucket may be gone, so that a watch has nothing to tell of them: it is not begun anew for ever. Only those that began count. */
const MOST_TRIES = 3;

/** Looks in a row that find a loss: a server that is not up to date may tell one that is none. */
const LOST_LOOKS = 3;

/** The wait before the bucket is asked again for its keys, in milliseconds. */
const ASK_AGAIN_AFTER = 100;

/** The listeners to the entries of a bucket. */
export interface Listener {
  hear(entry: KvWatchEntry): void;
  /** Called for a key that ended while nobody heard of it, with a revision at which it was gone. */
  ended(key: string, revision: number): void;
  /** Called once when the servers have lost the bucket, or the last of its entries: nothing is heard any more. */
  lost(): void;
}

/**
 * Follows the entries of a bucket: those that are there, and then each change, in order. A watch goes deaf when the server that it is on is gone,
 * and the library (`@nats-io/kv` 3) finds that after a minute. So the bucket is asked twice in each lease how far it is; a watch that is behind is
 * begun anew, from the last change that was heard.
 *
 * The end of a key may be lost meanwhile: once the stream has another leader, servers up to 2.15 at least drop the markers of ends after the time of a lease, and
 * not after that of the marker. So where revisions are missing, the bucket is asked which keys it has, before the next entry is heard.
 */
export class Following {
  readonly #connection: Connection;
  readonly #bucket: KV;
  readonly #listener: Listener;
  readonly #stream: string;
  readonly #created: string;
  /** The keys that are there, by what was heard. */
  readonly #keys = new Set<string>();
  #isCaughtUp = false;
  #heard = 0;
  #lostLooks = 0;
  #isLost = false;
  /** The change for which the watch was begun anew, and how often. */
  #sought = 0;
  #tries = 0;
  #stopWatch: () => void = () => undefined;
  #timer: ClockTimer | undefined;
  #isStopped = false;
  /** Resolved once all that was there at the beginning has been heard. */
  readonly #caughtUp = Promise.withResolvers<void>();

  private constructor(connection: Connection, bucket: KV, stream: string, created: string, listener: Listener) {
    this.#connection = connection;
    this.#bucket = bucket;
    this.#stream = stream;
    this.#created = created;
    this.#listener = listener;
    void this.#caughtUp.promise.then(() => {
      this.#isCaughtUp = true;
    });
  }

  /** Resolves once all that is there has been heard. */
  static async begin(connection: Connection, bucket: KV, listener: Listener): Promise<Following> {
    const { config, created, state } = (await connection.asked(() => bucket.status())).streamInfo;
    const following = new Following(connection, bucket, config.name, created, listener);
    await connection.asked(() => following.#watch());
    following.#lookLater(); // It finds a watch that is deaf from its beginning, too.
    const forget = connection.onClose(() => following.#caughtUp.resolve());
    if (state.messages > 0) await following.#caughtUp.promise;
    forget();
    return following;
  }

  /** True where the servers do not have what was heard. Asks more than once: a server that has just begun to lead may be behind for a moment. */
  async isBehind(bucket: KV): Promise<boolean> {
    const connection = this.#connection;
    for (let looks = 1; ; looks++) {
      const heard = this.#heard;
      const state = await connection.asked(() => connection.stateOf(bucket));
      if (!this.#hasNot(state, heard)) return false;
      if (looks === LOST_LOOKS || this.#isLost || state.created !== this.#created) return true;
      await new Promise<void>((resolve) => connection.system.clock.setTimer(resolve, HEARD_WITHIN));
    }
  }

  /** @param heard what was heard before the servers were asked: a change that is heard while their answer is on its way is no part of that. */
  #hasNot({ created, last }: BucketState, heard: number): boolean {
    return this.#isLost || created !== this.#created || last < heard;
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
        if (this.#isCaughtUp && entry.revision > this.#heard + 1) await this.#findEnded(() => isFollowed);
        if (!isFollowed) return;
        this.#heard = entry.revision;
        if (entry.operation === "PUT") this.#keys.add(entry.key);
        else this.#keys.delete(entry.key);
        this.#listener.hear(entry);
        if (entry.delta === 0) this.#caughtUp.resolve();
      }
    };
    void follow().catch((cause) => {
      const { system, cluster } = this.#connection;
      if (isFollowed) system.log.error(`Cluster "${cluster}": a watch failed; it is begun anew.`, { cause });
    });
  }

  /** Tells of the keys that are not there any more. */
  async #findEnded(isFollowed: () => boolean): Promise<void> {
    const { system } = this.#connection;
    while (isFollowed()) {
      try {
        const { keys, last } = await this.#connection.keysOf(this.#stream);
        if (last < this.#heard) continue; // It was a former leader that answered.
        for (const key of [...this.#keys]) {
          if (keys.has(key) || !this.#keys.delete(key)) continue;
          this.#listener.ended(key, last);
        }
        return;
      } catch {
        await new Promise<void>((resolve) => system.clock.setTimer(resolve, ASK_AGAIN_AFTER).unref());
      }
    }
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
    const heard = this.#heard;
    const state = await this.#connection.stateOf(this.#bucket).catch((thrown) => {
      if (!isNoStream(thrown)) throw thrown;
      return undefined;
    });
    if (this.#isStopped) return;
    if (state === undefined || this.#hasNot(state, heard)) {
      this.#lostLooks++;
      if (this.#lostLooks < LOST_LOOKS) return;
      this.#isLost = true;
      this.stop();
      this.#caughtUp.resolve();
      this.#listener.lost();
      return;
    }
    this.#lostLooks = 0;
    const { last } = state;
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
