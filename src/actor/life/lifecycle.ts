import { quote } from "../../message/address";
import { type HandlerFailedError, sentenceOf } from "../../message/delivery-error";
import { each } from "../../runtime/few";
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
import { isCausedFromOutside } from "../envelopes/cause";
import { waitsForEnd } from "../envelopes/deadlock";
import { Signal } from "../envelopes/signal";
import type { Directive } from "../supervision";
import { decisionFor, policyFor, report, tellOfHold, withNote } from "./decision";
import { abandonRunning, abortLifetime, abortSignals, discard, endStreams, restoreStash } from "./ending";
import { hasHook, hookOf, putFirstHooks } from "./hooks";

// How an actor begins, fails, restarts and ends. Each step that has to wait leaves the actor suspended, and what it waited for
// calls proceed() again: one place decides what comes next.

/** Begins to handle messages, its hooks first; those that came while it was made have waited. */
export function start(cell: Cell, behaviour: Behaviour): void {
  behave(cell, behaviour);
  putFirstHooks(cell, behaviour);
  cell.goOn();
}

// ——— Failing

/** A handler or a hook threw: its supervisor decides what becomes of the actor (P9). */
export function failed(cell: Cell, envelope: Envelope, error: HandlerFailedError, isTold: boolean): void {
  const hook = envelope instanceof Signal ? envelope.hook : undefined;
  const isEnding = hook === "onStop" || !cell.isAlive;
  if (isEnding || (isCausedFromOutside(envelope) && policyFor(cell).outside === "resume")) {
    const directive = !isEnding ? "resume" : cell.life === RESTARTING ? "restart" : "stop";
    const sentence = isEnding ? error.message : withNote(error.message, "; it goes on.");
    report(cell, envelope.type, error.cause, directive, sentence, isTold ? null : "error");
    if (hook !== undefined && cell.life === DRAINING) stop(cell, false); // It did not begin: nobody can handle the rest.
    return;
  }
  decide(cell, envelope.type, error.cause, error.message, hook !== undefined, !isTold);
}

/**
 * Applies what the supervisor of an actor decides; what none is left to decide reaches the system.
 *
 * @returns what was decided in the end, by whom it was escalated to.
 */
function decide(
  cell: Cell,
  operation: string,
  thrown: unknown,
  sentence: string,
  isStarting: boolean,
  isUntold: boolean,
  who = "it",
): Directive {
  const { directive, delay, isHeld, note, concerned } = decisionFor(cell, thrown, isStarting, who);
  // Who asked has been told, and needs no log; but what becomes of the actor for it is told here.
  const isUnhandled = directive === "escalate" && cell.parent === null;
  const level = isUntold || isUnhandled || isHeld ? "error" : directive === "resume" ? null : "warn";
  report(cell, operation, thrown, directive, withNote(sentence, note), level);
  if (directive === "restart") for (const each of concerned) restart(each, { error: thrown, delay, isHeld });
  else if (directive === "stop") for (const each of concerned) stopFailed(each, thrown);
  else if (directive === "escalate") return escalate(cell, operation, thrown, sentence, isStarting);
  return directive;
}

function escalate(cell: Cell, operation: string, thrown: unknown, sentence: string, isStarting: boolean): Directive {
  const { parent } = cell;
  if (parent === null || !parent.isAlive) {
    stopFailed(cell, thrown);
    return "stop";
  }
  const directive = decide(parent, operation, thrown, sentence, false, false, parent.address);
  // Its parent begins anew, or ends, without it; where that goes on, it can only if it had begun.
  if (directive !== "resume" || isStarting) stopFailed(cell, thrown);
  return directive;
}

function stopFailed(cell: Cell, error: unknown): void {
  if (cell.isStopped) return;
  cell.extra.stopError ??= { error }; // Also where its parent has begun to stop it for this.
  if (cell.life !== STOPPING) stop(cell, false);
}

// ——— Restarting

/** Makes an actor anew once its running message is finished; what waits in its mailbox is kept (P10). */
function restart(cell: Cell, why: Restart): void {
  if (!cell.isAlive || cell.factory === null) return;
  beginRestart(cell, why); // Its turn ends here, and goes on in proceed().
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

/** Gives the handlers that still run as long as a hook has; what has not ended then is abandoned. */
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

function tellOfAbandoned(cell: Cell, late: readonly string[], verb: "end" | "stop"): void {
  const { environment, address, life } = cell;
  const goesOn = life === RESTARTING ? "restarts" : "stops";
  environment.logger.warn(
    `${address} ${goesOn} without waiting longer for ${late.join(", ")}, which did not ${verb} within ` +
      `${environment.hookTimeout} ms: abandoned.`,
    { address, unfinished: late },
  );
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
    endInstance(cell, null); // Nothing began that could end.
    const sentence = `${address} could not be made anew: ${sentenceOf(thrown)}`;
    if (cell.isAlive) decide(cell, "factory", thrown, sentence, true, true);
    else {
      report(cell, "factory", thrown, "stop", sentence, "error");
      stop(cell, false); // Its factory was told to stop it. Nobody can handle the rest, so nothing is drained.
    }
    cell.schedule(); // By the dispatcher, so that one that fails for ever starves nobody.
    return;
  }
  extra.restarts++;
  if (environment.events.hasSubscribers) {
    environment.events.publish({ kind: "restarted", address, error: extra.restart?.error, restarts: extra.restarts });
  }
  start(cell, behaviour);
  endRestart(cell);
}

// ——— Ending

/** Stops after the running message: the rest is drained, or dead-lettered; then its children stop, then it (P13). */
export function stop(cell: Cell, isDraining: boolean, whenStopped?: () => void): void {
  if (cell.life === STOPPED) {
    whenStopped?.();
    return;
  }
  if (cell.activity === IDLE && hasNothingToEnd(cell)) {
    terminate(cell); // Most: to write down who waits for it would take 700 bytes.
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
    endTimer(cell); // It waited to restart: by its backoff, or for its children, as a stop does without a limit.
    if (extras.ending !== CHILDREN_STOP) proceed(cell);
  }
}

/** What comes next of an actor that restarts or stops. */
type Step = "wait" | "stopChildren" | "runOnStop" | "pause" | "renew" | "terminate";

/** Its handlers end, then its children stop, then its `onStop` runs; then it begins anew, or is gone. */
function nextStep(cell: Cell): Step {
  const { extras, life, behaviour } = cell;
  if (extras === null) return hasHook(behaviour, "onStop") ? "runOnStop" : "terminate";
  if (extras.children !== null && extras.children.size > 0) {
    return extras.ending === CHILDREN_STOP ? "wait" : "stopChildren";
  }
  if (extras.ending !== HAS_ENDED) {
    // Most parents have nothing to run: then nothing can begin that would have to be refused, and no instance is made for it.
    const isPlain = life !== RESTARTING && extras.instance === null;
    if (!isPlain || hasHook(behaviour, "onStop")) return "runOnStop";
  }
  if (life !== RESTARTING) return "terminate";
  return (extras.restart?.delay ?? 0) > 0 ? "pause" : "renew";
}

/** Goes on with an actor that restarts or stops, as far as it goes without waiting. */
export function proceed(cell: Cell): void {
  if ((cell.extras?.concurrency?.running.size ?? 0) > 0) return; // The last of them comes by here again.
  endWaiting(cell);
  endDraining(cell);
  for (;;) {
    if (cell.life === STOPPING) discard(cell); // What a handler stashed since, and signals that came.
    switch (nextStep(cell)) {
      case "wait":
        return;
      case "stopChildren":
        cell.instance.end(); // Made where there is none, so that what begins now is refused.
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

/** The limit of what it waited for has no meaning any more. */
function endWaiting(cell: Cell): void {
  if (cell.extras === null || cell.extras.ending !== HANDLERS_END) return;
  endHandlers(cell);
  endTimer(cell);
}

/** Of what its factory returned: what it became has no hooks. */
const onStopOf = (cell: Cell): Signal | null =>
  hookOf(cell, cell.extras?.instance?.behaviours[0] ?? cell.behaviour, "onStop");

/** Whether it has neither children, watches, a stash and the like, nor a hook that is to run at its end. */
const hasNothingToEnd = ({ extras, behaviour }: Cell): boolean => extras === null && !hasHook(behaviour, "onStop");

function stopChildren(cell: Cell): void {
  const { extra, environment } = cell;
  const children = extra.children?.all() ?? [];
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
  for (const child of children) stop(child, extra.isDraining);
  waitsForEnd(cell);
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
  const hasBegun = cell.behaviour !== null || cell.generation > 0; // Not where its first factory threw.
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

/** Ends an actor without waiting for its handler: the running message counts as failed, its asker gets `stopped`. */
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
