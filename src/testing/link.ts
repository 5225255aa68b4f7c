import {
  type Address,
  type AnyRef,
  type Clock,
  type Expose,
  type Protocol,
  quote,
  type Ref,
  receive,
  type System,
} from "../index";
import { End, type Frame } from "./link-end";
import { createRandom, type SeededRandom } from "./seeded-random";

/** The options of a link: the way it carries frames. */
export interface LinkOptions {
  /** The clock of both systems. */
  readonly clock: Clock;
  /** Decides what happens to each frame. Not together with `random`. Default: 1. */
  readonly seed?: number;
  /** Decides what happens to each frame, such as the `random` of a simulation. Default: one that is made of `seed`. */
  readonly random?: SeededRandom;
  /** The time that a frame is on its way, in milliseconds: a number, or from the least to the most. Default: 0. */
  readonly delay?: number | readonly [least: number, most: number];
  /** The probability that a frame is lost. Default: 0. */
  readonly drop?: number;
  /** The probability that a frame comes twice. It is handled once (P17). Default: 0. */
  readonly duplicate?: number;
  /** The probability that later frames overtake a frame. Default: 0, first in, first out in each direction. */
  readonly reorder?: number;
}

/** The values that a link lets in as references, where a schema has `refSchema`. */
export interface LinkedOptions {
  /** For addresses in payloads, in the system of the actor. Default: none is let in. */
  readonly expose?: Expose;
  /** For addresses in replies and items, in the system of the reference. Default: none is let in. */
  readonly exposeReplies?: Expose;
}

/** One end of a link. */
export interface LinkEnd {
  /**
   * Makes a reference in this end's system to an actor of the other end's. It ends with that actor; for a reference by address
   * (`system.ref`) it goes on, whoever is there.
   *
   * @param at its address here; it may have slashes.
   * @throws TypeError or Error as `system.attach` does.
   * @example
   * const files = link.a.attach(address("b/files"), Files, filesOfB);
   */
  attach<Signatures>(
    at: Address,
    protocol: Protocol<string, Signatures>,
    actor: AnyRef,
    options?: LinkedOptions,
  ): Ref<Signatures>;
}

/** Two systems of one process, joined as if they were far from each other: all that passes is JSON text. */
export interface Link {
  readonly a: LinkEnd;
  readonly b: LinkEnd;
  /** The outcomes of the frames so far. */
  readonly frames: { readonly sent: number; readonly lost: number; readonly duplicated: number };
  /** Loses all frames from now on, and those on their way. Nobody is told: asks time out. */
  cut(): void;
  /**
   * Both ends notice that the link is down. What was sent comes back as `timeout` with the cause, because nobody knows what became of it (P17), and each
   * attachment ends as `unreachable`. What the other end asked for is cancelled.
   */
  disconnect(cause?: Error): void;
  /** Carries frames again. References whose attachment has ended stay dead: attach anew. */
  heal(): void;
}

/** The least time that a reordered frame takes in addition, in milliseconds, where there is no delay. */
const LATER = 10;

/** A frame on its way. It is taken once, however often it comes. */
interface Parcel {
  readonly text: string;
  isTaken: boolean;
}

/** Carries frames as text, and loses, repeats and delays them. */
class Wire {
  readonly frames = { sent: 0, lost: 0, duplicated: 0 };
  readonly #options: LinkOptions;
  readonly #random: SeededRandom;
  readonly #least: number;
  readonly #most: number;
  /** When the last frame in each direction arrives: later ones do not overtake it. */
  readonly #lastDue = new Map<End, number>();
  /** The number of cuts: a frame that was sent before one is lost. */
  #cuts = 0;
  isCut = false;

  constructor(options: LinkOptions) {
    const { seed = 1, random = createRandom(seed), delay = 0 } = options;
    this.#options = options;
    this.#random = random;
    [this.#least, this.#most] = typeof delay === "number" ? [delay, delay] : delay;
  }

  carry(frame: Frame, to: End): void {
    this.frames.sent++;
    // Throws for what JSON cannot carry: the message is unreachable.
    const parcel: Parcel = { text: JSON.stringify(frame), isTaken: false };
    const { drop = 0, duplicate = 0 } = this.#options;
    if (this.isCut || this.#random.chance(drop)) {
      this.frames.lost++;
      return;
    }
    this.#begin(parcel, to);
    if (!this.#random.chance(duplicate)) return;
    this.frames.duplicated++;
    this.#begin(parcel, to);
  }

  cut(): void {
    this.isCut = true;
    this.#cuts++;
  }

  #begin(parcel: Parcel, to: End): void {
    const { clock, reorder = 0 } = this.#options;
    const cuts = this.#cuts;
    const arrive = (): void => {
      if (cuts === this.#cuts) this.#arrive(parcel, to);
    };
    const now = clock.monotonicTime();
    const due = now + this.#least + this.#random.next() * (this.#most - this.#least);
    if (this.#random.chance(reorder)) {
      clock.setTimer(arrive, due - now + this.#random.next() * Math.max(this.#most, LATER));
      return;
    }
    if (this.#most === 0) {
      clock.macrotask(arrive);
      return;
    }
    const inOrder = Math.max(due, this.#lastDue.get(to) ?? 0);
    this.#lastDue.set(to, inOrder);
    clock.setTimer(arrive, inOrder - now);
  }

  #arrive(parcel: Parcel, to: End): void {
    if (parcel.isTaken) return;
    parcel.isTaken = true;
    to.take(JSON.parse(parcel.text) as Frame); // Its own text.
  }
}

/**
 * Joins two systems of one process by a link that can delay, lose, repeat and reorder what it carries, all decided by a seed, and that
 * can be cut and healed. It is a transport as any other, on `system.attach` and `receive`. What it carries is JSON, so
 * the systems share nothing. A message is handled at most once. A lost item stalls its stream: give its reader a timeout.
 *
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * const link = createLink(first.system, second.system, { clock, seed: 7, delay: [1, 20], drop: 0.1 });
 * const files = link.a.attach(address("b/files"), Files, filesOfB);
 * const text = files.ask("read", "a.txt", { timeout: 100 });
 * await clock.advance(100);
 */
export function createLink(a: System, b: System, options: LinkOptions): Link {
  checkOptions(options);
  const wire = new Wire(options);
  const first: End = new End(a, (frame) => wire.carry(frame, second));
  const second: End = new End(b, (frame) => wire.carry(frame, first));
  const face = (own: End, other: End): LinkEnd => ({
    attach(at, protocol, actor, { expose, exposeReplies } = {}) {
      const door = receive(actor, expose === undefined ? {} : { expose });
      const ref = own.attach(at, protocol, exposeReplies === undefined ? {} : { expose: exposeReplies });
      other.expose(at, door, actor.address);
      return ref;
    },
  });
  return {
    a: face(first, second),
    b: face(second, first),
    frames: wire.frames,
    cut: () => wire.cut(),
    disconnect(cause = new Error("the link is down")) {
      wire.cut();
      first.disconnect(cause);
      second.disconnect(cause);
    },
    heal() {
      wire.isCut = false;
    },
  };
}

const KNOWN: readonly string[] = [
  "clock",
  "seed",
  "random",
  "delay",
  "drop",
  "duplicate",
  "reorder",
] satisfies (keyof LinkOptions)[];

function checkOptions(options: LinkOptions): void {
  if (typeof options?.clock?.setTimer !== "function") {
    throw new TypeError("A link has the clock of its systems: createLink(a, b, { clock }).");
  }
  for (const key of Object.keys(options)) {
    if (!KNOWN.includes(key))
      throw new TypeError(`There is no option ${quote(key)}; write one of ${KNOWN.join(", ")}.`);
  }
  if (options.seed !== undefined && options.random !== undefined) {
    throw new TypeError("seed and random both decide what happens to a frame: write one of the two.");
  }
  for (const key of ["drop", "duplicate", "reorder"] as const) {
    const chance: unknown = options[key] ?? 0;
    if (typeof chance === "number" && chance >= 0 && chance <= 1) continue;
    throw new RangeError(`${key} is a probability from 0 to 1; got ${quote(chance)}.`);
  }
  const { delay = 0 } = options;
  const [least, most] = typeof delay === "number" ? [delay, delay] : delay;
  if (!(least >= 0 && most >= least && Number.isFinite(most))) {
    throw new RangeError("The delay of a link is a number of milliseconds from 0, or two: [1, 20].");
  }
}
