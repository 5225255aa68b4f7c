import type { Clock } from "../../index";
import type { Moment } from "./tape";

interface Planned {
  readonly moment: Moment;
  readonly play: () => void;
}

/**
 * Plays what was recorded, in the order of its lines. Where a replay leads it, each part is played once the replay has come to its line;
 * otherwise as soon as the present turn has ended, so that calls which were made in one turn are answered in the recorded order.
 */
export class Player {
  readonly #clock: Clock;
  #planned: Planned[] = [];
  #isAwake = false;
  /** The line that the replay has come to. */
  #reached: number;

  /** @param isLed true when `reach` is called for each line. */
  constructor(clock: Clock, isLed: boolean) {
    this.#clock = clock;
    this.#reached = isLed ? 0 : Number.POSITIVE_INFINITY;
  }

  plan(moment: Moment, play: () => void): void {
    this.#planned.push({ moment, play });
    if (moment.index <= this.#reached) this.#wake();
  }

  /** The replay has come to a line. */
  reach(index: number): void {
    this.#reached = index;
    if (this.#planned.some(({ moment }) => moment.index <= index)) this.#playDue();
  }

  #wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    this.#clock.macrotask(() => {
      this.#isAwake = false;
      this.#playDue();
    });
  }

  #playDue(): void {
    const due = this.#planned.filter(({ moment }) => moment.index <= this.#reached);
    this.#planned = this.#planned.filter(({ moment }) => moment.index > this.#reached);
    for (const { play } of due.sort((a, b) => a.moment.index - b.moment.index)) play();
  }
}
