import type { Clock, ClockTimer } from "./clock";

// Hierarchical timing wheels: G. Varghese and T. Lauck, "Hashed and Hierarchical Timing Wheels" (SOSP 1987), scheme 7.
// Seven levels of 64 slots with ticks of 1 ms reach 139 years; a timer moves down at most six times before it fires.
const SLOTS = 64;
const LEVELS = 7;
const WIDTHS = Array.from({ length: LEVELS + 1 }, (_, level) => SLOTS ** level); // A slot's width by level, in ticks.
/** Furthest slot ahead, in ticks. A timer due later waits there, and moves on when the slot is reached. */
const FURTHEST = (SLOTS - 1) * SLOTS ** (LEVELS - 1);
/** The `wheelSlot` of a timer that fires in the present wake. */
const FIRING = -2;

const MOST_STAGED = 1_024;

/** Longest time that the alarm of an empty wheel may stay, in ticks: it keeps the wheel in memory. */
const LONGEST_REST = 10_000;

/** A link of the wheel's lists, with the callback. Its owner makes it once, and setting it allocates nothing. */
export interface WheelTimer {
  wheelPrevious: WheelTimer | null;
  wheelNext: WheelTimer | null;
  /** The slot that holds the timer; negative if none does. */
  wheelSlot: number;
  /** The time when the timer is due, in ticks of the wheel. */
  wheelDue: number;
  /** The timer's delay in milliseconds. */
  readonly delay: number;
  /** False once the timer need not call back any more. */
  readonly isWaiting: boolean;
  expire(): void;
}

/** A wait that will need a timer if it is not over at the end of the turn. */
export interface Staged {
  readonly isWaiting: boolean;
  readonly timer: WheelTimer;
}

/**
 * All timeouts of a system on one clock timer. A timer never fires early, and at most one tick (1 ms) late on a clock
 * that is on time. An empty wheel may leave one timer on the clock, for ten seconds at most; it keeps no process alive.
 */
export class TimerWheel {
  readonly #clock: Clock;
  readonly #origin: number;
  readonly #slots: (WheelTimer | null)[] = new Array<WheelTimer | null>(SLOTS * LEVELS).fill(null);
  /** The end of each slot's list. Among timers due in the same tick, the one that was set first fires first. */
  readonly #ends: (WheelTimer | null)[] = new Array<WheelTimer | null>(SLOTS * LEVELS).fill(null);
  readonly #populations: number[] = new Array<number>(LEVELS).fill(0);
  readonly #onWake = (): void => this.#wake();
  #tick = 0;
  #size = 0;
  /** Filled and emptied by hand, slot by slot: push and `length = 0` made an ask 8 ns dearer. */
  #staged: (Staged | null)[] = [];
  #stagedCount = 0;
  #alarm: ClockTimer | null = null;
  #alarmTick = Number.POSITIVE_INFINITY;
  #isTidying = false;
  /** True while the alarm of an empty wheel is still set. It keeps no process alive then. */
  #isResting = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#origin = clock.monotonicTime();
  }

  /** The number of timers that wait. */
  get size(): number {
    return this.#size + this.#staged.reduce((count, staged) => count + (staged?.isWaiting ? 1 : 0), 0);
  }

  /**
   * Starts a timer at the end of this turn. A wait that is over by then (an ask of an idle actor with a synchronous
   * handler) costs only a push; reading the clock and linking in would double the price of the ask.
   */
  stage(staged: Staged): void {
    this.#staged[this.#stagedCount++] = staged;
  }

  /** Starts the staged timers that still wait. The dispatcher calls it at the end of each turn. */
  placeStaged(): void {
    const staged = this.#staged;
    const count = this.#stagedCount;
    if (count === 0) return;
    let now = -1;
    for (let i = 0; i < count; i++) {
      const one = staged[i];
      staged[i] = null;
      if (one?.isWaiting) {
        if (now < 0) now = this.#now();
        this.#place(one.timer, now);
      }
    }
    this.#stagedCount = 0;
    if (count > MOST_STAGED) this.#staged = []; // A burst of asks leaves no large array behind.
  }

  /** Starts a timer now. */
  add(timer: WheelTimer): void {
    this.#place(timer, this.#now());
  }

  /** Removes a timer. Does nothing if the timer is not set. */
  remove(timer: WheelTimer): void {
    if (timer.wheelSlot < 0) {
      timer.wheelSlot = -1; // If it is due in the present wake, it does not fire.
      return;
    }
    this.#unlink(timer);
    if (this.#size === 0) this.#rest();
  }

  /** The milliseconds left until a set timer fires, at least 1. */
  left(timer: WheelTimer): number {
    return Math.max(timer.wheelDue - this.#now(), 1);
  }

  #now(): number {
    return this.#clock.monotonicTime() - this.#origin;
  }

  #place(timer: WheelTimer, now: number): void {
    if (this.#isResting) this.#rouse();
    if (this.#size === 0) this.#tick = Math.max(this.#tick, Math.floor(now));
    timer.wheelDue = Math.max(Math.ceil(now + timer.delay), this.#tick + 1);
    this.#link(timer);
    if (timer.wheelDue < this.#alarmTick) this.#setAlarm(timer.wheelDue, now);
  }

  /** Links a timer in. Its level is the highest base-64 digit in which the due tick differs from the present one. */
  #link(timer: WheelTimer): void {
    const due = Math.min(timer.wheelDue, this.#tick + FURTHEST);
    let level = 0;
    while (level < LEVELS - 1 && digits(due, level + 1) !== digits(this.#tick, level + 1)) level++;
    const slot = level * SLOTS + (digits(due, level) % SLOTS);
    const last = this.#ends[slot] ?? null;
    timer.wheelSlot = slot;
    timer.wheelPrevious = last;
    timer.wheelNext = null;
    if (last === null) this.#slots[slot] = timer;
    else last.wheelNext = timer;
    this.#ends[slot] = timer;
    this.#populations[level] = (this.#populations[level] ?? 0) + 1;
    this.#size++;
  }

  #unlink(timer: WheelTimer): void {
    const { wheelPrevious: previous, wheelNext: next, wheelSlot: slot } = timer;
    if (previous === null) this.#slots[slot] = next;
    else previous.wheelNext = next;
    if (next === null) this.#ends[slot] = previous;
    else next.wheelPrevious = previous;
    timer.wheelPrevious = null;
    timer.wheelNext = null;
    timer.wheelSlot = -1;
    const level = Math.floor(slot / SLOTS);
    this.#populations[level] = (this.#populations[level] ?? 0) - 1;
    this.#size--;
  }

  /** The next tick at which a slot fires or moves down; Infinity when all are empty. */
  #nextTick(): { tick: number; slot: number } {
    for (let level = 0; level < LEVELS; level++) {
      if (this.#populations[level] === 0) continue;
      const width = WIDTHS[level] ?? 1;
      const present = digits(this.#tick, level);
      // Slots of a level lie ahead of the present digit and within this turn of the level above.
      for (let digit = present; digit < present + SLOTS; digit++) {
        const slot = level * SLOTS + (digit % SLOTS);
        if (this.#slots[slot] !== null) return { tick: Math.max(digit * width, this.#tick), slot };
      }
    }
    return { tick: Number.POSITIVE_INFINITY, slot: -1 };
  }

  #wake(): void {
    this.#alarm = null;
    this.#isResting = false;
    this.#alarmTick = Number.POSITIVE_INFINITY;
    const now = this.#now();
    const due: WheelTimer[] = [];
    let next = this.#nextTick();
    while (next.tick <= now) {
      this.#tick = next.tick;
      let timer = this.#slots[next.slot] ?? null;
      while (timer !== null) {
        const following: WheelTimer | null = timer.wheelNext;
        this.#unlink(timer);
        if (timer.wheelDue <= this.#tick) {
          timer.wheelSlot = FIRING;
          due.push(timer);
        } else this.#link(timer);
        timer = following;
      }
      next = this.#nextTick();
    }
    if (next.tick !== Number.POSITIVE_INFINITY) this.#setAlarm(next.tick, now);
    due.sort((a, b) => a.wheelDue - b.wheelDue);
    for (const timer of due) {
      if (timer.wheelSlot !== FIRING) continue; // An earlier expiry removed this timer, or set it anew.
      timer.wheelSlot = -1;
      if (timer.isWaiting) timer.expire();
    }
  }

  #setAlarm(tick: number, now: number): void {
    this.#alarm?.cancel();
    this.#alarmTick = tick;
    this.#alarm = this.#clock.setTimer(this.#onWake, Math.max(tick - now, 0));
  }

  /**
   * Called when the wheel is empty. The alarm stays for a while if it need not keep the process alive. Otherwise each of
   * many asks that wait one after the other would cost a macrotask (below) and a round of the event loop: 1 µs of the 45 of
   * a sandboxed run.
   */
  #rest(): void {
    if (this.#alarm?.ref === undefined || this.#alarmTick - this.#tick > LONGEST_REST) {
      this.#tidyLater();
      return;
    }
    this.#isResting = true;
    this.#alarm.unref();
  }

  #rouse(): void {
    this.#isResting = false;
    this.#alarm?.ref?.();
  }

  /** Cancels the alarm of an empty wheel, but only once a turn, so that consecutive asks share one alarm. */
  #tidyLater(): void {
    if (this.#isTidying) return;
    this.#isTidying = true;
    this.#clock.macrotask(() => {
      this.#isTidying = false;
      if (this.#size > 0) return;
      this.#alarm?.cancel();
      this.#alarm = null;
      this.#alarmTick = Number.POSITIVE_INFINITY;
    });
  }
}

/** A tick without its lowest `level` digits of base 64. */
const digits = (tick: number, level: number): number => Math.floor(tick / (WIDTHS[level] ?? 1));

/** A timer with a callback, for code that is not on the hot path. */
export class Timeout implements WheelTimer {
  wheelPrevious: WheelTimer | null = null;
  wheelNext: WheelTimer | null = null;
  wheelSlot = -1;
  wheelDue = 0;
  readonly isWaiting = true;
  readonly delay: number;
  readonly expire: () => void;

  constructor(delay: number, callback: () => void) {
    this.delay = delay;
    this.expire = callback;
  }
}
