import type { AnyRef } from "../message/address";
import { type OptionChecks, option } from "../message/option";

/**
 * The decision for an actor that failed: it goes on with its state (`resume`), begins anew (`restart`), ends (`stop`),
 * or its parent's supervisor decides, as if the parent had failed (`escalate`).
 */
export type Directive = "resume" | "restart" | "stop" | "escalate";

/**
 * The children that a restart or a stop concerns: the one that failed; all children; or that one and those spawned
 * after it. Actors without a parent are siblings: with "one-for-all", one of them beyond its limit holds them all.
 */
export type Strategy = "one-for-one" | "one-for-all" | "rest-for-one";

/**
 * The decision for an actor that fails beyond its limit: it restarts after a pause that grows (`hold`), ends (`stop`),
 * or its parent's supervisor decides (`escalate`).
 */
export type BeyondLimit = "hold" | "stop" | "escalate";

/** The wait before a restart: longer each time, until the actor has been well for a while. */
export interface Backoff {
  /** Before the first restart, in milliseconds. Default: 100. */
  readonly initial?: number;
  /** The longest wait before jitter, in milliseconds. Default: 10,000. */
  readonly max?: number;
  /** The factor by which each wait grows. Default: 2. */
  readonly factor?: number;
  /**
   * The random part of a wait, from 0 to 1, so that many actors do not return at once. Default: 0.2, which is ±20 %.
   */
  readonly jitter?: number;
  /** The time without a failure, in milliseconds, after which the next wait is `initial` again. Default: 10,000. */
  readonly resetAfter?: number;
}

/**
 * The supervision of an actor's children.
 *
 * | what happened | what to write |
 * | --- | --- |
 * | a handler threw, and its state may be wrong | nothing: `restart` is the default |
 * | a handler refused a bad input, and its state is well | `decide: () => "resume"`, or reply with the refusal instead of throwing |
 * | the failure cannot be mended by beginning anew, such as a wrong key | `decide: () => "stop"`; `ctx.watch` tells who needs to know |
 * | what it needs is away for a while, such as a database | `backoff: { initial: 100 }` |
 * | the children share state, and none is right without the others | `strategy: "one-for-all"` |
 * | each child builds on those spawned before it | `strategy: "rest-for-one"` |
 * | the parent's own state is in doubt | `decide: () => "escalate"` |
 * | it restarts more often than `limit` in `within` (5 in 10 s) | nothing: that escalates; without a parent, the actor is held back: it restarts after a pause, from 100 ms up to 30 s |
 * | a message from outside (`parseMessage`, `receive`, a tool call), or what its handler asked by `ctx.ask` or `ctx.stream`, made it throw | nothing: that message fails alone; `outside: "restart"` if its state may be wrong then |
 */
export interface Supervision {
  /** Default: `"one-for-one"`. */
  readonly strategy?: Strategy;
  /**
   * Chooses a directive by the error and the child. Default: `restart`, always. It runs synchronously while the actor
   * fails. If it throws, the failure escalates.
   */
  readonly decide?: (error: unknown, child: AnyRef) => Directive;
  /**
   * Most restarts of one child in `within`; `beyondLimit` decides about the next failure. A whole number from 0, or
   * `Infinity`. Default: 5.
   */
  readonly limit?: number;
  /**
   * The decision for a child that fails beyond `limit`. With `"hold"` it restarts after a pause. The pause begins at
   * `backoff.initial` (or 100 ms), doubles with each failure up to 30 s, and starts over once the child has been well
   * for `within`. Meanwhile its mailbox takes messages as ever, `inspect` shows it as `held`, and a stop ends it at
   * once. Default: `"escalate"`; for an actor without a parent `"hold"`.
   */
  readonly beyondLimit?: BeyondLimit;
  /** The window of `limit`, in milliseconds. Default: 10,000. */
  readonly within?: number;
  /** Default: none, a restart is immediate. */
  readonly backoff?: Backoff;
  /**
   * The decision for a child whose handler threw for a message from outside. Such a message came through `parseMessage`
   * or `receive`, or from a tool call by code, or was an ask or a stream by `ctx` of a handler of such a message; a
   * tell of that handler counts as from within. With `"resume"` the message fails alone: the child goes on, and nothing
   * counts against its limit. With `"restart"` it is a failure like any other. Default: `"resume"`, so that a stranger
   * cannot take an actor from others.
   */
  readonly outside?: "resume" | "restart";
}

/** A supervision with its defaults. */
export interface Policy extends Required<Omit<Supervision, "backoff" | "beyondLimit">> {
  readonly backoff: Required<Backoff> | null;
  /** Null for the default, which depends on the child having a parent. */
  readonly beyondLimit: BeyondLimit | null;
}

/** Fills in the defaults of a supervision that was checked. */
export function policyOf({ backoff, beyondLimit, ...given }: Supervision): Policy {
  const { strategy = "one-for-one", decide = () => "restart", limit = 5, within = 10_000, outside = "resume" } = given;
  return {
    strategy,
    decide,
    limit,
    within,
    outside,
    backoff: backoff === undefined ? null : fullBackoff(backoff),
    beyondLimit: beyondLimit ?? null,
  };
}

function fullBackoff(backoff: Backoff): Required<Backoff> {
  const { initial = 100, max = 10_000, factor = 2, jitter = 0.2, resetAfter = 10_000 } = backoff;
  return { initial, max: Math.max(max, initial), factor, jitter, resetAfter };
}

const DIRECTIVES: readonly unknown[] = ["resume", "restart", "stop", "escalate"] satisfies Directive[];

export const isDirective = (value: unknown): value is Directive => DIRECTIVES.includes(value);

const isFrom = (least: number, value: unknown): boolean => Number.isFinite(value) && Number(value) >= least;
const TIME = option.rule("is a number of milliseconds above 0", (value) => isFrom(Number.MIN_VALUE, value), RangeError);

const BACKOFF: OptionChecks<Backoff> = {
  initial: TIME,
  max: TIME,
  factor: option.rule("is a number from 1", (value) => isFrom(1, value), RangeError),
  jitter: option.rule("is a number from 0 to 1", (value) => isFrom(0, value) && Number(value) <= 1, RangeError),
  resetAfter: TIME,
};

const SUPERVISION: OptionChecks<Supervision> = {
  strategy: option.oneOf<Strategy>("one-for-one", "one-for-all", "rest-for-one"),
  decide: option.function(` that returns one of ${DIRECTIVES.join(", ")}`),
  limit: option.rule(
    "is a whole number of restarts from 0, or Infinity",
    (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && isFrom(0, value)),
    RangeError,
  ),
  within: option.duration,
  beyondLimit: option.oneOf<BeyondLimit>("hold", "stop", "escalate"),
  backoff: option.group(BACKOFF, "{ initial: 100 }"),
  outside: option.oneOf("resume", "restart"),
};

/** Throws on an invalid supervision, and says what to write. */
export const checkSupervision = option.group(SUPERVISION, '{ strategy: "one-for-all" }');

/** The first pause of a held actor whose supervision has no backoff. Milliseconds. */
const FIRST_HOLD = 100;
/** The longest pause of such an actor. Milliseconds. */
const LONGEST_HOLD = 30_000;

/** The restarts of one child: the recent ones, and those since it was last well for a while. */
export class RestartHistory {
  #holds = 0;
  /** The start of the instance after the last hold; null until then. Milliseconds. */
  #wellSince: number | null = null;
  #times: number[] = [];
  #attempts = 0;
  #last = Number.NEGATIVE_INFINITY;

  /**
   * Counts a restart, unless it is beyond the limit.
   *
   * @returns how many milliseconds to wait before it; null where it is too many.
   */
  next({ limit, within, backoff }: Policy, now: number, random: () => number): number | null {
    if (this.isHeld(now, within)) return null;
    if (limit !== Number.POSITIVE_INFINITY) {
      this.#times = this.#times.filter((time) => now - time < within);
      if (this.#times.length >= limit) return null;
      this.#times.push(now);
    }
    if (backoff === null) return 0;
    if (now - this.#last >= backoff.resetAfter) this.#attempts = 0;
    const wait = Math.min(backoff.initial * backoff.factor ** this.#attempts, backoff.max);
    this.#attempts++;
    this.#last = now + wait;
    return wait * (1 + backoff.jitter * (2 * random() - 1));
  }

  /** True when it was held and has not been well for `within` since: the next failure is then beyond the limit, too. */
  isHeld(now: number, within: number): boolean {
    if (this.#holds === 0) return false;
    if (this.#wellSince === null || now - this.#wellSince < within) return true;
    this.#holds = 0;
    return false;
  }

  /** Counts a failure beyond the limit. Returns the wait before the restart, in milliseconds. */
  hold({ backoff }: Policy): number {
    const first = backoff?.initial ?? FIRST_HOLD;
    const wait = Math.min(first * 2 ** this.#holds, Math.max(first, LONGEST_HOLD));
    this.#holds++;
    this.#wellSince = null;
    return wait;
  }

  /** Its next instance begins. */
  begin(now: number): void {
    this.#wellSince ??= now;
  }
}
