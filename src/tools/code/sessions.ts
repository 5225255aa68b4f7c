import type { Clock } from "../../index";
import { CodeRefusal } from "./code-refusal";
import { Session, type SessionLimits } from "./session";
import type { Tier } from "./tier";

/** The length of a UUID. */
const ID_LENGTH = 36;

/** The open sessions, by ids that nobody can guess. */
export class Sessions {
  readonly #open = new Map<string, Session>();
  readonly #most: number;
  readonly #clock: Clock;

  constructor(most: number, clock: Clock) {
    this.#most = most;
    this.#clock = clock;
  }

  /** The number of open sessions. Lost ones are ended first. */
  get size(): number {
    for (const session of this.#open.values()) session.sweep();
    return this.#open.size;
  }

  open(tier: Tier, limits: SessionLimits): string | CodeRefusal {
    if (this.size >= this.#most) {
      return new CodeRefusal(
        "busy",
        `${this.#most} sessions are open, which are the most; end one, or ask again later.`,
      );
    }
    const id = crypto.randomUUID();
    this.#open.set(id, new Session(limits, tier.open(limits.memory), this.#clock, () => this.#open.delete(id)));
    return id;
  }

  find(id: string): Session | CodeRefusal {
    // An asker may send an id of any length, and a lookup reads all of it.
    return (id.length === ID_LENGTH ? this.#open.get(id) : undefined) ?? unknown;
  }

  async dispose(): Promise<void> {
    await Promise.all(Array.from(this.#open.values(), (session) => session.end("ended with the code actor")));
  }
}

const unknown = new CodeRefusal(
  "unavailable",
  "There is no such session, or not any more: it was ended, idle for too long, or lost with its process; open another one.",
);
