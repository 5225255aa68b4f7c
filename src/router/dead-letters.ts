import type { DeadLetter, Logger } from "../actor/environment";
import { asDetail } from "../message/address";
import type { Clock } from "../runtime/clock";
import type { Enter } from "../runtime/contexts";
import { type Feed, FeedSource } from "../runtime/feed";
import type { Settling } from "../runtime/settling";

/** Dead letters that are logged in a window, and the window's length in milliseconds; the rest of it is only counted. */
const LOGGED = 10;
const WINDOW = 1_000;

/**
 * The dead letters of a system: a feed of all, and a log of those that nobody was told of, ten a second at most with
 * the count of the others after it.
 */
export class DeadLetters {
  readonly #source: FeedSource<DeadLetter>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #inWindow = 0;
  #isPublishing = false;

  constructor(clock: Clock, logger: Logger, settling: Settling, enter: Enter) {
    this.#source = new FeedSource(settling, enter, (thrown) =>
      logger.error("a subscriber to dead letters threw", { cause: thrown }),
    );
    this.#clock = clock;
    this.#logger = logger;
  }

  get feed(): Feed<DeadLetter> {
    return this.#source;
  }

  /** One that was meant to be dropped is not logged. */
  bury(letter: DeadLetter, isPlanned: boolean): void {
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
    this.#inWindow++;
    if (this.#inWindow === 1) this.#clock.setTimer(() => this.#closeWindow(), WINDOW).unref();
    if (this.#inWindow > LOGGED) return;
    const { reason, address, operation } = letter;
    this.#logger.warn(`dead letter (${reason}): ${letter.description}`, {
      reason,
      address,
      operation: asDetail(operation),
    });
  }

  #closeWindow(): void {
    this.flush();
    this.#inWindow = 0;
  }

  /** Logs how many letters of this window were not logged by themselves. */
  flush(): void {
    const unlogged = this.#inWindow - LOGGED;
    if (unlogged <= 0) return;
    this.#inWindow = LOGGED;
    this.#logger.warn(`${unlogged} more dead letters in this second; subscribe to router.deadLetters to see each.`);
  }
}
