import type { Limits } from "../contract";
import { refuse } from "../problem";
import { countedAs, type Visitor } from "./rate-limit";

/** Counts the streams, sockets and requests that each caller has at one time. */
export class Shares {
  readonly #limits: Pick<Limits, "streams" | "sockets" | "requests">;
  readonly #taken = {
    streams: new Map<string, number>(),
    sockets: new Map<string, number>(),
    requests: new Map<string, number>(),
  };

  constructor(limits: Pick<Limits, "streams" | "sockets" | "requests">) {
    this.#limits = limits;
  }

  /** Takes one for a caller. Gives the function that gives it back, or the refusal. */
  take(visitor: Visitor, what: "streams" | "sockets" | "requests"): (() => void) | Response {
    const owner = countedAs(visitor);
    const taken = this.#taken[what];
    const count = taken.get(owner) ?? 0;
    if (count >= this.#limits[what]) {
      return refuse("too-many-requests", `There are ${count} ${what} of this caller: end one of them first.`, AGAIN);
    }
    taken.set(owner, count + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (taken.get(owner) ?? 1) - 1;
      if (left > 0) taken.set(owner, left);
      else taken.delete(owner);
    };
  }
}

const AGAIN = { "retry-after": "1" };
