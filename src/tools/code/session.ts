import type { Clock, ClockTimer } from "../../index";
import { GONE, unlessAborted } from "./approval";
import { CodeRefusal } from "./code-refusal";
import type { ExecuteRequest } from "./protocol";
import type { Ended, Isolation, Room, Run } from "./tier";

/** What a session is opened with, none of it left out. */
export interface SessionLimits {
  readonly isolation: Isolation;
  readonly memory: number;
  readonly timeout: number;
  readonly maxOutput: number;
  readonly idleTimeout: number;
}

/** A room, the turns of those who want to run something there, and its end. */
export class Session {
  readonly limits: SessionLimits;
  readonly #room: Room;
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  readonly #ended = new AbortController();
  /** Why nothing runs here any more. */
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

  /** Aborted with the asker, and with the session. */
  signalFor(asker: AbortSignal): AbortSignal {
    return AbortSignal.any([asker, this.#ended.signal]);
  }

  /** What is wrong with a request that this session is to serve. */
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

  /** Works once all has ended that came before. */
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

  /** Runs something, unless it was ended meanwhile. */
  async run(run: Run): Promise<Ended> {
    const { fate } = this;
    return fate === null
      ? this.#room.run(run)
      : { kind: "unavailable", message: fate.error.message, logs: [], durationMs: 0 };
  }

  /** Ends it where it is lost. */
  sweep(): void {
    if (this.#room.isLost) void this.end("was lost with its process");
  }

  /** Ends it, and what runs or waits there; resolves when no process of it is left. */
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
