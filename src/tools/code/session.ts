import type { Clock, ClockTimer } from "../../index";
import { GONE, unlessAborted } from "./approval";
import { CodeRefusal } from "./code-refusal";
import type { ExecuteRequest } from "./protocol";
import type { Ended, Isolation, Room, Run } from "./tier";

/** The options of a session, with the defaults filled in. */
export interface SessionLimits {
  readonly isolation: Isolation;
  readonly memory: number;
  readonly timeout: number;
  readonly maxOutput: number;
  readonly idleTimeout: number;
}

/** A session: its room, the order of its runs, and its end. */
export class Session {
  readonly limits: SessionLimits;
  readonly #room: Room;
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  readonly #ended = new AbortController();
  /** The reason why nothing runs here any more, or null while the session is open. */
  fate: CodeRefusal | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;
  #timer: ClockTimer | undefined;

  constructor(limits: SessionLimits, room: Room, clock: Clock, onEnd: () => void) {
    this.limits = limits;
    this.#room = room;
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#rest();
  }

  /** Returns a signal that is aborted when the asker gives up or the session ends. */
  signalFor(asker: AbortSignal): AbortSignal {
    return AbortSignal.any([asker, this.#ended.signal]);
  }

  /** Returns the reason why this session cannot serve a request, or null. */
  refuse({ isolation, memory }: Pick<ExecuteRequest, "isolation" | "memory">): CodeRefusal | null {
    const { limits } = this;
    if (isolation !== undefined && isolation !== limits.isolation) {
      const message = `This session runs code as "${limits.isolation}", and not as "${isolation}"; leave the isolation out.`;
      return new CodeRefusal("unavailable", message);
    }
    if (memory !== undefined && memory < limits.memory) {
      const message = `This session has ${limits.memory} bytes of memory for all that it holds; open one with less.`;
      return new CodeRefusal("unavailable", message);
    }
    return null;
  }

  /** Does the work once all earlier work has ended. */
  async inOrder<Value>(asker: AbortSignal, work: () => Promise<Value>): Promise<Value | CodeRefusal> {
    this.#timer?.cancel();
    this.#count++;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = before.then(() => promise);
    try {
      const turn = await unlessAborted(before, asker);
      this.sweep();
      return turn === GONE ? GONE : await work();
    } finally {
      this.sweep();
      resolve();
      if (--this.#count === 0 && this.fate === null) this.#rest();
    }
  }

  /** Runs code, unless the session has ended. */
  async run(run: Run): Promise<Ended> {
    const { fate } = this;
    return fate === null
      ? this.#room.run(run)
      : { kind: "unavailable", message: fate.error.message, logs: [], durationMs: 0 };
  }

  /** Ends the session if its room is lost. */
  sweep(): void {
    if (this.#room.isLost) void this.end("was lost with its process");
  }

  /** Ends the session, and all runs that are active or waiting there. Resolves when no process of it is left. */
  async end(how: string): Promise<void> {
    if (this.fate === null) {
      this.fate = new CodeRefusal("unavailable", `The session ${how}, and what it held is gone; open another one.`);
      this.#timer?.cancel();
      this.#onEnd();
      this.#ended.abort();
    }
    await this.#room.close();
  }

  #rest(): void {
    const { idleTimeout } = this.limits;
    this.#timer = this.#clock.setTimer(() => void this.end(`was idle for ${idleTimeout} ms`), idleTimeout);
    this.#timer.unref();
  }
}
