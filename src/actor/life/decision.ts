import { quote } from "../../message/address";
import { sentenceOf } from "../../message/sentence-of";
import { hearRejection } from "../../runtime/thenable";
import type { Cell } from "../cell/cell";
import type { Restart } from "../cell/transitions";
import type { Origin } from "../contract";
import { type AnySignatures, refTo } from "../refs/ref";
import { type Directive, isDirective, type Policy, RestartHistory } from "../supervision";

/** The failure of a handler, a hook or a factory. */
export interface Failure {
  readonly operation: string;
  readonly thrown: unknown;
  readonly sentence: string;
  /** The metadata that the failed message hands on. */
  readonly origin: Origin;
}

/** A supervisor's decision about an actor. */
interface Decision {
  readonly directive: Directive;
  /** The wait before a restart, in milliseconds. */
  readonly delay: number;
  /** True for a restart beyond the limit. */
  readonly isHeld: boolean;
  /** The end of the log sentence. */
  readonly note: string;
  /** The actors it concerns, in the order in which they were spawned. */
  readonly concerned: readonly Cell[];
}

/**
 * Asks the supervisor of an actor what becomes of it; a restart counts against its limit.
 *
 * @param who it is, in a sentence about the actor that failed: it, or the one above it that this was escalated to.
 */
export function decisionFor(cell: Cell, thrown: unknown, isStarting: boolean, who: string): Decision {
  const policy = policyFor(cell);
  // Both are read before decide is called: it may stop the actor, which then has neither a place among its siblings nor
  // a factory.
  const concerned = policy.strategy === "one-for-one" ? [cell] : concernedBy(cell, policy);
  const hasFactory = cell.factory !== null;
  let { directive, why } = directiveOf(policy, cell, thrown);
  if (directive === "restart" && !hasFactory) directive = "resume"; // It has no state to make anew.
  if (directive === "resume" && isStarting) directive = "stop"; // There is no instance to go on with.
  let delay = 0;
  let isHeld = false;
  if (directive === "restart" && cell.isAlive) {
    const { environment, extra } = cell;
    extra.history ??= new RestartHistory();
    const now = environment.clock.monotonicTime();
    why = extra.history.isHeld(now, policy.within)
      ? `it failed again before it was well for ${policy.within} ms`
      : `it has been restarted ${policy.limit} ${policy.limit === 1 ? "time" : "times"} within ${policy.within} ms`;
    const wait = extra.history.next(policy, now, environment.random);
    const beyond = policy.beyondLimit ?? (cell.parent === null ? "hold" : "escalate");
    if (wait !== null) {
      why = "";
      delay = wait;
    } else if (beyond === "hold") {
      isHeld = true;
      delay = extra.history.hold(policy);
    } else directive = beyond;
  }
  return { directive, delay, isHeld, note: noteOf(directive, cell, why, delay, who), concerned };
}

/** The supervision of an actor: its parent's, or the system's. */
export const policyFor = ({ parent, environment }: Cell): Policy => parent?.extras?.policy ?? environment.policy;

function directiveOf(policy: Policy, cell: Cell, thrown: unknown): { directive: Directive; why: string } {
  try {
    const directive: unknown = cell.environment.enter(policy.decide, thrown, refTo<AnySignatures>(cell));
    if (isDirective(directive)) return { directive, why: "" };
    hearRejection(directive, () => {}); // A promise is no directive; its outcome is ignored.
    return { directive: "escalate", why: `decide returned ${quote(directive)}, which is no directive` };
  } catch (error) {
    return { directive: "escalate", why: `decide threw ${sentenceOf(error)}` };
  }
}

/** The siblings that a failure concerns, itself included, in the order in which they were spawned. */
function concernedBy(cell: Cell, { strategy }: Policy): readonly Cell[] {
  const { parent, environment } = cell;
  const all =
    parent === null
      ? environment.directory.roots().filter((other) => other === cell || other.factory !== null)
      : (parent.extras?.children?.all() ?? []);
  return strategy === "one-for-all" ? all : all.slice(all.indexOf(cell));
}

function noteOf(directive: Directive, cell: Cell, why: string, delay: number, who: string): string {
  const because = why === "" ? "" : `${why}, so `;
  switch (directive) {
    case "resume":
      return "";
    case "restart":
      if (!cell.isAlive) return `; ${who} is stopped already, by decide.`;
      if (why !== "") return `; ${because}${who} is held for ${Math.round(delay)} ms before it restarts.`;
      return delay > 0 ? `; ${who} restarts in ${Math.round(delay)} ms.` : `; ${who} restarts.`;
    case "stop":
      return `; ${because}${who} is stopped.`;
    case "escalate":
      return cell.parent === null
        ? `; ${because}${who} is stopped: no supervisor is left to decide.`
        : `; ${because}the supervisor of ${cell.parent.address} decides.`;
  }
}

/** A sentence with its note. A thrown message may end with a full stop, which is removed. */
export const withNote = (sentence: string, note: string): string =>
  note === "" ? sentence : `${sentence.replace(/\.$/, "")}${note}`;

/** Logs a failure, unless the level is null, and publishes it. */
export function report(
  cell: Cell,
  operation: string,
  error: unknown,
  directive: Directive,
  sentence: string,
  level: "warn" | "error" | null,
): void {
  const { environment, address, parent } = cell;
  if (level !== null) environment.logger[level](sentence, { address, operation, cause: error });
  if (!environment.events.hasSubscribers) return;
  const isUnhandled = directive === "escalate" && parent === null;
  environment.events.publish({ kind: "failed", address, operation, error, directive, isUnhandled });
}

/** Publishes that an actor is held. */
export function tellOfHold({ environment: { events }, address }: Cell, { error, delay }: Restart): void {
  if (events.hasSubscribers) events.publish({ kind: "held", address, error, delay });
}
