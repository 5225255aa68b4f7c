import type { Environment } from "../actor/contract";
import type { DeadLetter, Logger } from "../actor/events";
import { asDetail } from "../message/address";
import type { Clock } from "../runtime/clock";
import type { Enter } from "../runtime/contexts";
import { type Feed, FeedSource } from "../runtime/feed";
import { LogLimit } from "../runtime/log-limit";
import type { Settling } from "../runtime/settling";

/** Counts and publishes the dead letter of a message that no actor got. */
export function deadLetterOfNobody(environment: Environment, letter: DeadLetter): void {
  const { counts, meters } = environment;
  counts.accepted++;
  counts.dead++;
  if (meters !== null) meters.nobody.dead++;
  environment.deadLetter(letter, false);
}

/**
 * The dead letters of a system: a feed of all, and a log of those that no sender was told of. The log has ten a second at
 * most, followed by the count of the others.
 */
export class DeadLetters {
  readonly #source: FeedSource<DeadLetter>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #limit: LogLimit;
  #isPublishing = false;

  constructor(clock: Clock, logger: Logger, settling: Settling, enter: Enter) {
    this.#source = new FeedSource(settling, enter, (thrown) =>
      logger.error("a subscriber to dead letters threw", { cause: thrown }),
    );
    this.#clock = clock;
    this.#logger = logger;
    this.#limit = new LogLimit(clock, (count) =>
      logger.warn(`${count} more dead letters in this second; subscribe to router.deadLetters to see each.`),
    );
  }

  get feed(): Feed<DeadLetter> {
    return this.#source;
  }

  get hasSubscribers(): boolean {
    return this.#source.hasSubscribers;
  }

  /** Publishes a dead letter, and logs it unless its sender was told or the drop was planned. */
  deadLetter(letter: DeadLetter, isPlanned: boolean): void {
    if (!letter.asked && !isPlanned) this.#log(letter);
    if (!this.#source.hasSubscribers) return;
    if (this.#isPublishing) {
      this.#clock.macrotask(() => this.#tell(letter)); // A subscriber's own letter must not recurse, nor starve the loop.
    } else this.#tell(letter);
  }

  #tell(letter: DeadLetter): void {
    this.#isPublishing = true;
    this.#source.publish(letter);
    this.#isPublishing = false;
  }

  #log(letter: DeadLetter): void {
    if (!this.#limit.admit()) return;
    const { reason, address, operation } = letter;
    this.#logger.warn(`dead letter (${reason}): ${letter.description}`, {
      reason,
      address,
      operation: asDetail(operation),
    });
  }

  /** Logs the number of letters of this second that were not logged one by one. */
  flush(): void {
    this.#limit.flush();
  }
}
