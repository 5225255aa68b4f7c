import { type Address, type AnyRef, type ObservedHandling, quote, type Runnable, type System } from "../index";
import type { SeededRandom } from "./seeded-random";
import type { SimulatedClock } from "./simulate-clock";
import type { FaultCounts, Faults } from "./simulate-options";
import { flattened, nameOf, type Trace } from "./simulate-trace";

/**
 * The error of a handler that a simulation makes fail.
 *
 * @example
 * if (reply.isErr() && reply.error.kind === "handler-failed") reply.error.cause instanceof SimulatedFault;
 */
export class SimulatedFault extends Error {
  override readonly name = "SimulatedFault";
}

/** Faults on request, at a moment that the program chooses. */
export interface FaultsOnRequest {
  /** Makes the next message to this actor fail with a SimulatedFault. */
  throw(ref: AnyRef): void;
  /** Stops an actor after its running message, whatever its parent. */
  stop(ref: AnyRef): void;
  /** Delays the actor's next turn by milliseconds of virtual time. */
  delay(ref: AnyRef, milliseconds: number): void;
  /** Lets time pass to the next timer, even if there is work to do. */
  expire(): void;
}

/** Most timers that time passes to by one fault: the clock's timer for a long wait fires more than once before the wait is over. */
const MOST_JUMPS = 4;

/** The faults of one run. */
export class FaultInjector implements FaultsOnRequest {
  readonly counts: { -readonly [Kind in keyof FaultCounts]: number } = { throw: 0, stop: 0, delay: 0, expire: 0 };
  /** The number of actors whose turn is delayed. */
  held = 0;
  #isOn = true;
  readonly #faults: Required<Faults>;
  readonly #random: SeededRandom;
  readonly #clock: SimulatedClock;
  readonly #trace: Trace;
  readonly #isObserved: boolean;
  readonly #observe: () => void;
  readonly #throwing = new Set<Address>();
  readonly #delays = new Map<Address, number>();
  /** Timers to which time must still pass. */
  #jumps = 0;

  /** `observe` is called when a requested fault needs an observed run, and this one is not. */
  constructor(
    faults: Required<Faults>,
    random: SeededRandom,
    clock: SimulatedClock,
    trace: Trace,
    isObserved: boolean,
    observe: () => void,
  ) {
    this.#faults = faults;
    this.#random = random;
    this.#clock = clock;
    this.#trace = trace;
    this.#isObserved = isObserved;
    this.#observe = observe;
  }

  /** The system that the faults hit. Set by the run. */
  system: System | null = null;

  throw({ address }: AnyRef): void {
    if (!this.#isObserved) this.#observe();
    this.#throwing.add(address);
  }

  stop({ address }: AnyRef): void {
    this.counts.stop++;
    this.#trace.add(`fault: ${address} is stopped`);
    void this.system?.router.unregister(address);
  }

  delay({ address }: AnyRef, milliseconds: number): void {
    if (!(Number.isFinite(milliseconds) && milliseconds > 0)) {
      throw new RangeError(`A delay is a number of milliseconds above 0; got ${quote(milliseconds)}.`);
    }
    this.#delays.set(address, milliseconds);
  }

  expire(): void {
    this.#jumps++;
  }

  /** Ends the random faults, because the program has ended. */
  end(): void {
    this.#isOn = false;
    this.#jumps = 0;
  }

  /** Called before each message. Throws if this handler must fail. */
  beforeMessage({ address, operation }: ObservedHandling): void {
    const isAsked = this.#throwing.delete(address);
    const isByChance = this.#isOn && this.#random.chance(this.#faults.throw) && this.#faults.only(address, operation);
    if (!isAsked && !isByChance) return;
    this.counts.throw++;
    this.#trace.add(`fault: ${address} throws at ${nameOf(operation)}`);
    throw new SimulatedFault(`a simulated fault at ${quote(operation)}`);
  }

  /** Called before each turn: the delay of that turn, in milliseconds. */
  delayOf({ address }: Runnable): number {
    if (address === undefined) return 0;
    let delay = this.#delays.get(address) ?? 0;
    if (delay > 0) this.#delays.delete(address);
    else if (this.#isOn && this.#random.chance(this.#faults.delay) && this.#faults.only(address)) {
      delay = Math.ceil(this.#random.next() * this.#faults.longestDelay);
    }
    if (delay === 0) return 0;
    this.counts.delay++;
    this.#trace.add(`fault: ${address} waits ${delay} ms for its turn`);
    return delay;
  }

  /** Called between two turns. Returns true if it let time pass: the effects of that must settle first. */
  strike(): boolean {
    if (this.#isOn && this.#random.chance(this.#faults.expire)) this.#jumps += 1 + this.#random.below(MOST_JUMPS);
    if (this.#isOn && this.#random.chance(this.#faults.stop)) {
      const there = flattened(this.system?.inspect() ?? []).filter(({ address }) => this.#faults.only(address));
      if (there.length > 0) this.stop(this.#random.pick(there));
    }
    if (this.#jumps === 0) return false;
    this.#jumps--;
    if (!this.#clock.isAwaited) return false;
    const { now } = this.#clock;
    this.#clock.fireNext();
    this.counts.expire++;
    this.#trace.add(`fault: time passes from ${now} to ${this.#clock.now} ms`);
    return true;
  }
}
