import type { Clock } from "../../index";
import type { Moment } from "./tape";

interface Planned {
  readonly moment: Moment;
  readonly play: () => void;
}

/**
 * Plays what was recorded: each part in the order of its lines. At the recorded time where the clock follows the recording; otherwise as
 * soon as the present turn has ended, so that calls which were made in one turn are answered in the recorded order.
 */
export class Player {
  readonly #clock: Clock;
  readonly #follows: boolean;
  #planned: Planned[] = [];
  #isAwake = false;

  /** @param follows true when the clock's monotonic time is the time since the recording began. */
  constructor(clock: Clock, follows: boolean) {
    this.#clock = clock;
    this.#follows = follows;
  }

  plan(moment: Moment, play: () => void): void {
    this.#planned.push({ moment, play });
    const wait = this.#follows ? moment.at - this.#clock.monotonicTime() : 0;
    if (wait > 0) this.#clock.setTimer(() => this.#playDue(), wait);
    else if (!this.#isAwake) {
      this.#isAwake = true;
      this.#clock.macrotask(() => {
        this.#isAwake = false;
        this.#playDue();
      });
    }
  }

  #playDue(): void {
    const now = this.#follows ? this.#clock.monotonicTime() : Number.POSITIVE_INFINITY;
    const due = this.#planned.filter(({ moment }) => moment.at <= now);
    this.#planned = this.#planned.filter(({ moment }) => moment.at > now);
    for (const { play } of due.sort((a, b) => a.moment.index - b.moment.index)) play();
  }
}
