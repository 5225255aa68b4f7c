import { type System, systemClock } from "../../index";
import type { ReplayClock } from "./clock";
import type { Codec } from "./codec";
import { followOrigins } from "./origins";
import { Sender } from "./send";
import { type Ends, Sent, watch } from "./sent";
import type { RecordedMessage, Tape } from "./tape";
import type { RecordedWorld } from "./world";

/** Milliseconds by which timers may be later than in the recording: the timers of a system have ticks of 1 ms. */
const SLACK = 10;
/** The furthest that time moves on behind the last line for a message that has not ended, in milliseconds. */
const FURTHEST = 600_000;
/** Longest pause between two looks at a system that waits for the machine, in milliseconds. */
const LONGEST_PAUSE = 10;
/** How often the whole patience may be used up, before nothing is waited for any more. */
const MOST_WAITS = 3;

/** How a replay is run. */
export interface RunOptions {
  readonly order: "recorded" | "timed";
  /** Milliseconds of the machine's time for which work that no clock rules is waited for. */
  readonly patience: number;
}

/** Sends the messages of a recording to a system, on its clock. */
export class Run {
  readonly sent: Sent[] = [];
  /** The messages that could not be sent, and why. */
  readonly unsent: { readonly message: RecordedMessage; readonly why: string }[] = [];
  readonly #tape: Tape;
  readonly #clock: ReplayClock;
  readonly #options: RunOptions;
  readonly #ends: Ends = { count: 0, now: () => this.#clock.now };
  readonly #byMessage = new Map<RecordedMessage, Sent>();
  #waits = 0;

  constructor(tape: Tape, clock: ReplayClock, options: RunOptions) {
    this.#tape = tape;
    this.#clock = clock;
    this.#options = options;
  }

  /** Sends all, and waits for each message whose end is recorded. */
  async play(system: System, codec: Codec, world: RecordedWorld | undefined): Promise<void> {
    watch(system);
    followOrigins(system);
    const sender = new Sender(system, codec);
    for (const { kind, index, at, message } of this.#tape.steps) {
      if (message.role === "world" && kind !== "message") await this.#clock.advanceBefore(at);
      else await this.#clock.advanceTo(at);
      world?.reach(index);
      if (message.role !== "outside") continue;
      if (kind === "message") {
        this.#send(sender, new Sent(message, codec, this.#ends));
      } else {
        if (kind === "end") this.#byMessage.get(message)?.cancel();
        if (this.#options.order === "recorded") await this.#follow(system, message, index);
      }
    }
    for (const each of this.sent)
      if (this.#isAwaited(each)) await this.#until(() => each.outcome !== undefined, system);
    await this.#clock.settle();
  }

  /** Moves time on until something has happened. False when it does not. */
  async #until(isDone: () => boolean, system?: System): Promise<boolean> {
    const clock = this.#clock;
    await clock.settle();
    const slack = clock.now + SLACK;
    while (!isDone() && (await clock.fireNext(slack))) {}
    if (isDone()) return true;
    if (await this.#waitForMachine(isDone, system)) return true;
    const furthest = clock.now + FURTHEST;
    while (!isDone() && (await clock.fireNext(furthest))) {}
    return isDone() || (await this.#waitForMachine(isDone, system));
  }

  /** Waits for a promise, on the replay's clock. */
  async wait<Value>(begin: () => Promise<Value>): Promise<Value> {
    let isOver = false;
    const promise = begin().finally(() => {
      isOver = true;
    });
    promise.catch(() => {}); // It is awaited below.
    await this.#until(() => isOver);
    return promise;
  }

  #send(sender: Sender, sent: Sent): void {
    try {
      sender.send(sent);
      this.sent.push(sent);
      this.#byMessage.set(sent.recorded, sent);
    } catch (thrown) {
      this.unsent.push({ message: sent.recorded, why: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }

  /** Waits until a message is as far as it was at a line of the recording. */
  async #follow(system: System, message: RecordedMessage, index: number): Promise<void> {
    const sent = this.#byMessage.get(message);
    if (sent === undefined || isAbandoned(message)) return;
    const items = message.items.filter((item) => item.index <= index).length;
    const ends = message.end !== undefined && message.end.index <= index && message.end.line.outcome !== "stashed";
    const isThere = (): boolean => sent.outcome !== undefined || (!ends && sent.items.length >= items);
    if (!isThere()) await this.#until(isThere, system);
  }

  #isAwaited({ recorded, outcome }: Sent): boolean {
    const answered = this.#tape.answeredBy(recorded);
    return outcome === undefined && answered?.end !== undefined && !isAbandoned(answered);
  }

  /** Waits for the machine: for files, processes or the network. Not where no actor has anything to do. */
  async #waitForMachine(isDone: () => boolean, system: System | undefined): Promise<boolean> {
    const { patience } = this.#options;
    const beginning = systemClock.monotonicTime();
    for (let pause = 1; !isDone(); pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      if (this.#waits >= MOST_WAITS || (system !== undefined && !isBusy(system))) return false;
      if (systemClock.monotonicTime() - beginning > patience) {
        this.#waits++;
        return false;
      }
      await new Promise<void>((resolve) => systemClock.setTimer(resolve, pause));
      await this.#clock.settle();
    }
    return true;
  }
}

/** True for a message that a shutdown waited for no longer, or a restart: the first of these comes to no replay. */
const isAbandoned = ({ end }: RecordedMessage): boolean => end?.line.outcome === "abandoned";

function isBusy(system: System): boolean {
  for (const { state, queued, current } of system.actors()) {
    if (queued > 0 || current.length > 0 || (state !== "idle" && state !== "stopping")) return true;
  }
  return false;
}
