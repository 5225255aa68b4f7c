import { quote } from "../message/address";
import { checkOptions, type OptionChecks, option } from "../message/option";
import { type Operations, protocolOf } from "../protocol/protocol";
import type { Clock } from "../runtime/clock";
import type { Mail, Sampling } from "../runtime/mailbox";

/** Times that were measured, in milliseconds. */
export interface Histogram {
  /** The number of times that were measured. */
  readonly count: number;
  readonly sum: number;
  readonly max: number;
  /** The number of times in each bucket: those up to `bounds[i]`, and above the bound before. The last one has no bound. */
  readonly buckets: readonly number[];
}

/** The outcomes of the messages of one operation. */
export interface OperationMetrics {
  /** The protocol. Undefined for the handlers of a router, and for messages that reached no actor. */
  readonly protocol: string | undefined;
  /**
   * The operation. Undefined where the protocol has none of that name, and where there is no protocol: strangers choose such names,
   * and could make any number of rows.
   */
  readonly operation: string | undefined;
  readonly handled: number;
  readonly failed: number;
  readonly dead: number;
  /** The time that messages waited in the mailbox, until their handler was called. */
  readonly queueTime: Histogram;
  /** From the call of the handler until it returned, its promise settled, or its stream ended. */
  readonly handlerTime: Histogram;
}

/** The counts and times of a system so far. */
export interface Metrics {
  /** The upper bounds of the buckets, in milliseconds: 1 µs, and each twice the one before, up to 67 s. */
  readonly bounds: readonly number[];
  /** One message in so many is timed. */
  readonly sample: number;
  /** One row for each operation that has had a message. Protocols of one name count together. */
  readonly operations: readonly OperationMetrics[];
}

/** The part of a system that its metrics are read from. */
export interface Measured {
  /**
   * The outcomes of all messages so far, by protocol and operation: how many were handled, failed or dead, how long they waited, and
   * how long their handlers took. What a turn has handled is counted when it ends.
   *
   * @throws Error when the system was made without the option `metrics`.
   * @example
   * const system = createSystem({ metrics: true });
   * for (const { operation, handled } of system.metrics().operations) console.log(operation, handled);
   */
  metrics(): Metrics;
}

/** The options of metrics. */
export interface MetricsOptions {
  /**
   * The number of messages to each one that is timed: a whole number from 1, or `Infinity` to count only. Each message
   * is chosen at random. Default: 16.
   */
  readonly sample?: number;
}

/** 1 µs to 67 s; the last bucket has the rest. As OpenTelemetry's exponential histogram of scale 0 has them. */
const LAST = 27;
const BOUNDS: readonly number[] = Object.freeze(Array.from({ length: LAST }, (_, exponent) => 2 ** exponent / 1000));

class Times {
  count = 0;
  sum = 0;
  max = 0;
  readonly buckets: number[] = new Array<number>(LAST + 1).fill(0);

  add(milliseconds: number): void {
    this.count++;
    this.sum += milliseconds;
    if (milliseconds > this.max) this.max = milliseconds;
    const index = bucketOf(milliseconds);
    this.buckets[index] = (this.buckets[index] ?? 0) + 1;
  }
}

function bucketOf(milliseconds: number): number {
  const microseconds = Math.ceil(milliseconds * 1000);
  if (microseconds <= 1) return 0;
  return microseconds > 2 ** 26 ? LAST : 32 - Math.clz32(microseconds - 1);
}

/** The row of one operation. */
export class Series {
  handled = 0;
  failed = 0;
  dead = 0;
  readonly queueTime = new Times();
  readonly handlerTime = new Times();
  readonly protocol: string | undefined;
  readonly operation: string | undefined;

  constructor(protocol: string | undefined, operation: string | undefined) {
    this.protocol = protocol;
    this.operation = operation;
  }

  get isEmpty(): boolean {
    return this.handled + this.failed + this.dead + this.queueTime.count === 0;
  }
}

/** The rows of a protocol by operation. */
type Rows = Record<string, Series>;
/** Stands for all operations that a protocol lacks. No operation has this name. */
const UNKNOWN = "";

const emptyRows = (): Rows => Object.create(null) as Rows; // It has no entries of another type.
/** The operations of what has no protocol. */
const NONE: Operations = Object.freeze({});

/** Counts and times the messages of one system. */
export class Meters implements Sampling {
  readonly sample: number;
  /** Messages that come in envelopes before the next one that is timed; negative when the present one is. */
  untilTimed: number;
  readonly #clock: Clock;
  /** By name, so that protocols which are made again and again, for each request say, do not make rows without end. */
  readonly #named = new Map<string | undefined, Rows>();
  /** Weak: a count must not keep a protocol alive. */
  readonly #rows = new WeakMap<Operations, Rows>();
  /** The last row, because messages of one operation come in rows. */
  #operations: Operations | null = null;
  #type = UNKNOWN;
  #series: Series;
  #random = 1;
  /** Turns an exponential distribution into that of the intervals; null where all are of one length. */
  readonly #scale: number | null;

  constructor({ sample = 16 }: MetricsOptions, clock: Clock) {
    this.sample = sample;
    this.#clock = clock;
    this.#scale = sample === 1 || sample === Number.POSITIVE_INFINITY ? null : 1 / Math.log(1 - 1 / sample);
    this.untilTimed = this.interval();
    this.#series = this.#find(null, UNKNOWN);
  }

  now(): number {
    return this.#clock.monotonicTime();
  }

  /** Begins to time a message if it is due. */
  enter(mail: Mail): void {
    if (this.untilTimed >= 0 && --this.untilTimed >= 0) return;
    this.untilTimed = this.interval();
    mail.timedFrom = this.now();
  }

  seriesOf(operations: Operations | null, type: string): Series {
    if (operations === this.#operations && type === this.#type) return this.#series;
    this.#operations = operations;
    this.#type = type;
    this.#series = this.#find(operations, type);
    return this.#series;
  }

  countDead(operations: Operations | null, type: string): void {
    this.seriesOf(operations, type).dead++;
  }

  /** The row of messages that reached no actor. */
  get nobody(): Series {
    return this.seriesOf(null, UNKNOWN);
  }

  /**
   * The messages before the next one that is timed. Each is chosen by itself, so that no pattern in the messages (the first one of
   * each batch, say) is timed more often than another.
   */
  interval(): number {
    if (this.#scale === null) return this.sample - 1;
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0; // Numerical Recipes' generator.
    return Math.trunc(Math.log((this.#random + 1) / 2 ** 32) * this.#scale);
  }

  #find(operations: Operations | null, type: string): Series {
    let rows = this.#rows.get(operations ?? NONE);
    if (rows === undefined) {
      rows = this.#rowsFor(operations ?? NONE);
      this.#rows.set(operations ?? NONE, rows);
    }
    return rows[type] ?? (rows[UNKNOWN] as Series); // Made below.
  }

  /** Those of its operations alone: another protocol of its name may have more. */
  #rowsFor(operations: Operations): Rows {
    const protocol = protocolOf(operations);
    const named = this.#named.get(protocol) ?? emptyRows();
    this.#named.set(protocol, named);
    const rows = emptyRows();
    for (const name of [...Object.keys(operations), UNKNOWN]) {
      named[name] ??= new Series(protocol, name === UNKNOWN ? undefined : name);
      rows[name] = named[name];
    }
    return rows;
  }

  /** The counts and times so far. */
  report(): Metrics {
    const series = [...this.#named.values()].flatMap((rows) => Object.values(rows));
    return {
      bounds: BOUNDS,
      sample: this.sample,
      operations: series
        .filter(({ isEmpty }) => !isEmpty)
        .map(({ protocol, operation, handled, failed, dead, queueTime, handlerTime }) => ({
          protocol,
          operation,
          handled,
          failed,
          dead,
          queueTime: { ...queueTime, buckets: [...queueTime.buckets] },
          handlerTime: { ...handlerTime, buckets: [...handlerTime.buckets] },
        })),
    };
  }
}

const CHECKS: OptionChecks<MetricsOptions> = { sample: option.bound };

/** Makes the meters of a system; null where it has none. */
export function metersOf(options: boolean | MetricsOptions, clock: Clock): Meters | null {
  if (typeof options === "boolean") return options ? new Meters({}, clock) : null;
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`metrics is true, false, or an object such as { sample: 16 }; got ${quote(options)}.`);
  }
  checkOptions(options, CHECKS, "metrics", "{ sample: 16 }");
  return new Meters(options, clock);
}
