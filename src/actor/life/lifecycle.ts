import { quote } from "../../message/address";
import type { HandlerFailedError } from "../../message/delivery-error";
import { sentenceOf } from "../../message/sentence-of";
import { each } from "../../runtime/few";
import { inTurns } from "../../runtime/in-turns";
import { Timeout } from "../../runtime/timer-wheel";
import type { Cell } from "../cell/cell";
import {
  abandonLife,
  beginInstance,
  beginRestart,
  beginStop,
  beginStoppingChildren,
  behave,
  CHILDREN_STOP,
  DRAINING,
  endDraining,
  endHandlers,
  endInstance,
  endLife,
  endRestart,
  endStoppingChildren,
  HANDLERS_END,
  HAS_ENDED,
  IDLE,
  limitHandlers,
  READY,
  RESTARTING,
  type Restart,
  STOPPED,
  STOPPING,
  SUSPENDED,
} from "../cell/transitions";
import type { Behaviour, Envelope } from "../contract";
import { waitsForEnd } from "../envelopes/deadlock";
import { originBehind } from "../envelopes/handed-on";
import { isCausedFromOutside } from "../envelopes/origin";
import { Signal } from "../envelopes/signal";
import type { Ending } from "../observers";
import type { Directive } from "../supervision";
import { decisionFor, type Failure, policyFor, report, tellOfHold, withNote } from "./decision";
import {
  abandonRunning,
  abortLifetime,
  abortSignals,
  discard,
  endStreams,
  restoreStash,
  tellOfAbandoned,
} from "./ending";
import { hasHook, onStopOf, putFirstHooks } from "./hooks";

// The life of an actor. A step that has to wait suspends the actor, and calls proceed(), which decides the next step.

/** Begins to handle messages, hooks first. Messages that came while it was made have waited. */
export function start(cell: Cell, behaviour: Behaviour): void {
  behave(cell, behaviour);
  putFirstHooks(cell, behaviour);
  cell.goOn();
}

// ——— Failing

/** A handler or a hook threw: the supervisor decides about the actor (P9). */
export function failed(
  cell: Cell,
  envelope: Envelope,
  error: HandlerFailedError,
  isTold: boolean,
  observation: Ending | null | undefined,
): void {
  const hook = envelope instanceof Signal ? envelope.hook : undefined;
  const isEnding = hook === "onStop" || !cell.isAlive;
  if (isEnding || (isCausedFromOutside(envelope) && policyFor(cell).outside === "resume")) {
    const directive = !isEnding ? "resume" : cell.life === RESTARTING ? "restart" : "stop";
    const sentence = isEnding ? error.message : withNote(error.message, "; it goes on.");
    report(cell, envelope.type, error.cause, directive, sentence, isTold ? null : "error");
    if (hook !== undefined && cell.life === DRAINING) stop(cell, false); // It did not start: nobody can handle the rest.
    return;
  }
  const origin = originBehind(envelope, cell, observation);
  const failure = { operation: envelope.type, thrown: error.cause, sentence: error.message, origin };
  decide(cell, failure, hook !== undefined, !isTold);
}

/**
 * Applies the supervisor's decision. A failure without a supervisor reaches the system.
 *
 * @returns what was decided in the end, by whom it was escalated to.
 */
function decide(cell: Cell, failure: Failure, isStarting: boolean, isUntold: boolean, who = "it"): Directive {
  const { operation, thrown, sentence, origin } = failure;
  const { directive, delay, isHeld, note, concerned } = decisionFor(cell, thrown, isStarting, who);
  // The asker has been told, so no log is needed; but the consequences for the actor are reported here.
  const isUnhandled = directive === "escalate" && cell.parent === null;
  const level = isUntold || isUnhandled || isHeld ? "error" : directive === "resume" ? null : "warn";
  report(cell, operation, thrown, directive, withNote(sentence, note), level);
  if (directive === "restart") for (const each of concerned) restart(each, { error: thrown, origin, delay, isHeld });
  else if (directive === "stop") for (const each of concerned) stopFailed(each, thrown);
  else if (directive === "escalate") return escalate(cell, failure, isStarting);
  return directive;
}

function escalate(cell: Cell, failure: Failure, isStarting: boolean): Directive {
  const { parent } = cell;
  const { thrown } = failure;
  if (parent === null || !parent.isAlive) {
    stopFailed(cell, thrown);
    return "stop";
  }
  const directive = decide(parent, failure, false, false, parent.address);
  // The parent restarts or ends without it. If the parent resumes, it goes on only if it had started.
  if (directive !== "resume" || isStarting) stopFailed(cell, thrown);
  return directive;
}

function stopFailed(cell: Cell, error: unknown): void {
  if (cell.isStopped) return;
  cell.extra.stopError ??= { error }; // Also when its parent has already begun to stop it for this.
  if (cell.life !== STOPPING) stop(cell, false);
}

// ——— Restarting

/** Restarts an actor once its running message has ended. The messages in its mailbox are kept (P10). */
function restart(cell: Cell, why: Restart): void {
  if (!cell.isAlive || cell.factory === null) return;
  beginRestart(cell, why); // Its turn ends here; proceed() continues.
  if (why.isHeld) tellOfHold(cell, why);
  if (cell.activity === IDLE) cell.schedule();
  abortSignals(cell);
  if (cell.envelopes().length === 0) {
    abortLifetime(cell);
    return;
  }
  endStreams(cell);
  waitsForEnd(cell);
  waitForHandlers(cell);
}

/** Gives the running handlers as long as a hook has. Those that have not ended then are abandoned. */
function waitForHandlers(cell: Cell): void {
  const { hookTimeout } = cell.environment;
  if (hookTimeout === Number.POSITIVE_INFINITY) return;
  limitHandlers(cell);
  setTimer(cell, hookTimeout, () => {
    endHandlers(cell);
    const running = cell.envelopes().map(({ type }) => quote(type));
    tellOfAbandoned(cell, running, "end");
    abandonRunning(cell);
    if (cell.activity !== READY) cell.goOn();
  });
}

/** Makes the next instance. */
function renew(cell: Cell): void {
  const { extra, environment, address } = cell;
  restoreStash(cell);
  beginInstance(cell);
  extra.history?.begin(environment.clock.monotonicTime());
  let behaviour: Behaviour;
  try {
    behaviour = environment.engine.makeBehaviour(cell);
  } catch (thrown) {
    endInstance(cell, null); // No instance began, so none ends.
    const sentence = `${address} could not be made anew: ${sentenceOf(thrown)}`;
    const origin = extra.restart?.origin ?? null;
    if (cell.isAlive) decide(cell, { operation: "factory", thrown, sentence, origin }, true, true);
    else {
      report(cell, "factory", thrown, "stop", sentence, "error");
      stop(cell, false); // Its factory was told to stop it. Nobody can handle the rest, so nothing is drained.
    }
    cell.schedule(); // By the dispatcher, so that an actor that fails for ever starves nobody.
    return;
  }
  extra.restarts++;
  environment.counts.restarts++;
  if (environment.events.hasSubscribers) {
    environment.events.publish({ kind: "restarted", address, error: extra.restart?.error, restarts: extra.restarts });
  }
  start(cell, behaviour);
  endRestart(cell);
}

// ——— Ending

/**
 * Stops after the running message. The rest is drained, or dead-lettered. Then its children stop, then the actor (P13).
 */
export function stop(cell: Cell, isDraining: boolean, whenStopped?: () => void): void {
  if (cell.life === STOPPED) {
    whenStopped?.();
    return;
  }
  if (cell.activity === IDLE && hasNothingToEnd(cell)) {
    terminate(cell); // Most: recording the waiter would take 700 bytes.
    whenStopped?.();
    return;
  }
  if (whenStopped !== undefined) {
    const { extra } = cell;
    extra.whenStopped ??= new Set();
    extra.whenStopped.add(whenStopped);
  }
  if (cell.life === STOPPING || (cell.life === DRAINING && isDraining)) return;
  const { extras } = cell;
  beginStop(cell, isDraining);
  abortSignals(cell);
  if (cell.current !== null || cell.isConcurrent) endStreams(cell);
  if (cell.life === STOPPING) discard(cell);
  if (cell.activity === IDLE) cell.goOn();
  else if (cell.activity === SUSPENDED && extras !== null && extras.timer !== null && extras.ending !== HANDLERS_END) {
    endTimer(cell); // It waited to restart, for its backoff or its children. A stop waits for the children too, without a limit.
    if (extras.ending !== CHILDREN_STOP) proceed(cell);
  }
}

/** The next step of an actor that restarts or stops. */
type Step = "wait" | "stopChildren" | "runOnStop" | "pause" | "renew" | "terminate";

/** Its handlers end, then its children stop, then its `onStop` runs. Then it begins anew, or is gone. */
function nextStep(cell: Cell): Step {
  const { extras, life, behaviour } = cell;
  if (extras === null) return hasHook(behaviour, "onStop") ? "runOnStop" : "terminate";
  if (extras.children !== null && extras.children.size > 0) {
    return extras.ending === CHILDREN_STOP ? "wait" : "stopChildren";
  }
  if (extras.ending !== HAS_ENDED) {
    // Most parents have no hook to run: then nothing can begin that must be refused, and no instance is made for it.
    const isPlain = life !== RESTARTING && extras.instance === null;
    if (!isPlain || hasHook(behaviour, "onStop")) return "runOnStop";
  }
  if (life !== RESTARTING) return "terminate";
  return (extras.restart?.delay ?? 0) > 0 ? "pause" : "renew";
}

/** Takes the next steps of an actor that restarts or stops, until one has to wait. */
export function proceed(cell: Cell): void {
  if ((cell.extras?.concurrency?.running.size ?? 0) > 0) return; // The last handler to end calls this again.
  endWaiting(cell);
  endDraining(cell);
  for (;;) {
    if (cell.life === STOPPING) discard(cell); // Messages stashed since, and new signals.
    switch (nextStep(cell)) {
      case "wait":
        return;
      case "stopChildren":
        cell.instance.end(); // Made if there is none, so that new timers and watches are refused.
        stopChildren(cell);
        return;
      case "runOnStop":
        cell.instance.end();
        endInstance(cell, onStopOf(cell));
        if (cell.extra.hook === null) continue;
        cell.schedule();
        return;
      case "pause":
        setTimer(cell, cell.extra.restart?.delay ?? 0, () => renew(cell));
        return;
      case "renew":
        renew(cell);
        return;
      case "terminate":
        terminate(cell);
        return;
    }
  }
}

/** Its handlers have ended: their time limit is removed. */
function endWaiting(cell: Cell): void {
  if (cell.extras === null || cell.extras.ending !== HANDLERS_END) return;
  endHandlers(cell);
  endTimer(cell);
}

/** True when it has no children, watches, stash or the like, and no `onStop`. */
const hasNothingToEnd = ({ extras, behaviour }: Cell): boolean => extras === null && !hasHook(behaviour, "onStop");

function stopChildren(cell: Cell): void {
  const { extra, environment } = cell;
  beginStoppingChildren(cell);
  if (cell.life === RESTARTING && environment.hookTimeout !== Number.POSITIVE_INFINITY) {
    setTimer(cell, environment.hookTimeout, () => {
      const late = extra.children?.all() ?? [];
      tellOfAbandoned(
        cell,
        late.map((child) => child.address),
        "stop",
      );
      for (const child of late) abandon(child);
    });
  }
  const stopOne = (child: Cell): void => stop(child, extra.isDraining);
  inTurns(environment.dispatcher, extra.children?.all() ?? [], stopOne, () => waitsForEnd(cell));
}

function childStopped(parent: Cell, child: Cell): void {
  const { extras } = parent;
  if (extras === null || extras.children === null) return;
  extras.children.drop(child);
  if (extras.children.size > 0 || extras.ending !== CHILDREN_STOP) return;
  endStoppingChildren(parent);
  endTimer(parent);
  if (parent.activity === SUSPENDED) proceed(parent);
}

function setTimer(cell: Cell, delay: number, callback: () => void): void {
  const { extra, environment } = cell;
  extra.timer = new Timeout(delay, () => {
    extra.timer = null;
    callback();
  });
  environment.timers.add(extra.timer);
}

function endTimer({ extras, environment }: Cell): void {
  if (extras === null || extras.timer === null) return;
  environment.timers.remove(extras.timer);
  extras.timer = null;
}

function terminate(cell: Cell): void {
  const { extras, environment, parent } = cell;
  const hasBegun = cell.behaviour !== null || cell.generation > 0; // False when its first factory threw.
  endLife(cell);
  environment.directory.remove(cell);
  const stopError = extras?.stopError ?? null;
  if (hasBegun && environment.events.hasSubscribers) {
    environment.events.publish({ kind: "stopped", address: cell.address, ...stopError });
  }
  if (extras !== null && extras.watchers !== null) each(extras.watchers, (watch) => watch.tell(stopError?.error));
  if (parent !== null) childStopped(parent, cell);
  if (extras !== null && extras.whenStopped !== null) for (const callback of extras.whenStopped) callback();
}

/** Ends an actor without waiting for its handler. The running message counts as failed, and its asker gets `stopped`. */
export function abandon(cell: Cell): void {
  if (cell.life === STOPPED) return;
  abandonLife(cell);
  for (const child of cell.extras?.children?.all() ?? []) abandon(child);
  discard(cell);
  endTimer(cell);
  cell.extras?.instance?.end();
  abortSignals(cell);
  abandonRunning(cell);
  if (!cell.isStopped) terminate(cell);
}
