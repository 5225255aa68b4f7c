import { quote } from "../../message/address";
import { type HandlerFailedError, sentenceOf } from "../../message/delivery-error";
import { each } from "../../runtime/few";
import { PriorityMailbox } from "../../runtime/priority-mailbox";
import { Timeout } from "../../runtime/timer-wheel";
import type { Cell } from "../cell/cell";
import type { Children } from "../cell/directory";
import { DRAINING, HANDLING, IDLE, READY, RESTARTING, type Restart, STOPPED, STOPPING, SUSPENDED } from "../cell/state";
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
  cell.behaviour = behaviour;
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
  cell.live(RESTARTING);
  cell.extra.restart = why;
  if (why.isHeld) tellOfHold(cell, why);
  if (cell.activity === IDLE) cell.schedule();
  else if (cell.activity === HANDLING) cell.activity = SUSPENDED; // Its turn ends here, and goes on in proceed().
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
  const { extra, environment } = cell;
  if (environment.hookTimeout === Number.POSITIVE_INFINITY) return;
  extra.isWaitingForHandlers = true;
  setTimer(cell, environment.hookTimeout, () => {
    extra.isWaitingForHandlers = false;
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
  extra.generation++;
  extra.hasEnded = false;
  extra.isUnstarted = false;
  restoreStash(cell);
  extra.instance = null;
  cell.behaviour = null; // The next instance goes back to nothing of this one.
  cell.live(extra.aliveAs);
  extra.history?.begin(environment.clock.monotonicTime());
  let behaviour: Behaviour;
  try {
    behaviour = environment.engine.makeBehaviour(cell);
  } catch (thrown) {
    extra.hasEnded = true; // Nothing began that could end.
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
  extra.restart = null;
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
  // One that waits to restart has nobody to drain its mailbox.
  cell.live(isDraining && cell.life !== RESTARTING ? DRAINING : STOPPING);
  abortSignals(cell);
  if (isDraining || extras !== null) cell.extra.isDraining = isDraining; // The later word counts, for its children too.
  if (cell.current !== null || cell.isConcurrent) endStreams(cell);
  if (cell.life === STOPPING) discard(cell);
  if (cell.activity === IDLE) cell.goOn();
  else if (cell.activity === SUSPENDED && extras !== null && extras.timer !== null && !extras.isWaitingForHandlers) {
    endTimer(cell); // It waited to restart: by its backoff, or for its children, as a stop does without a limit.
    if (!extras.isStoppingChildren) proceed(cell);
  }
}

/**
 * The next step of an actor that restarts or stops: its handlers are done, then its children stop, then `onStop` runs, then
 * it begins anew or is gone.
 */
export function proceed(cell: Cell): void {
  if (hasNothingToEnd(cell)) {
    terminate(cell);
    return;
  }
  const extras = cell.extra;
  if (extras.concurrency !== null && extras.concurrency.running.size > 0) return;
  if (extras.isWaitingForHandlers) {
    extras.isWaitingForHandlers = false;
    endTimer(cell);
  }
  if (cell.life === DRAINING) cell.live(STOPPING); // All that waited is handled.
  if (cell.life === STOPPING) discard(cell); // What a handler stashed since, and signals that came.
  const isLast = cell.life === STOPPING && extras.instance === null && (extras.children?.size ?? 0) === 0;
  if (isLast && !hasHook(cell.behaviour, "onStop")) {
    terminate(cell); // Most parents: with nothing to run before it, nothing can begin that would have to be refused.
    return;
  }
  cell.instance.end(); // Made where there is none, so that what onStop begins is refused.
  if (extras.children !== null && extras.children.size > 0) {
    if (!extras.isStoppingChildren) stopChildren(cell, extras.children);
    return;
  }
  if (!extras.hasEnded) {
    extras.hasEnded = true;
    const behaviour = extras.instance?.behaviours[0] ?? cell.behaviour; // What it became has no hooks.
    if (!extras.isUnstarted) extras.hook = hookOf(cell, behaviour, "onStop");
    if (extras.hook !== null) {
      cell.schedule();
      return;
    }
  }
  if (cell.life === STOPPING) terminate(cell);
  else beginAnew(cell);
}

/** Whether it has neither children, watches, a stash and the like, nor a hook that is to run at its end. */
const hasNothingToEnd = ({ extras, behaviour }: Cell): boolean => extras === null && !hasHook(behaviour, "onStop");

function stopChildren(cell: Cell, children: Children<Cell>): void {
  const { extra, environment } = cell;
  extra.isStoppingChildren = true;
  if (cell.life === RESTARTING && environment.hookTimeout !== Number.POSITIVE_INFINITY) {
    setTimer(cell, environment.hookTimeout, () => {
      const late = children.all().map((child) => child.address);
      tellOfAbandoned(cell, late, "stop");
      for (const child of children.all()) abandon(child);
    });
  }
  for (const child of children.all()) stop(child, extra.isDraining);
  waitsForEnd(cell);
}

function childStopped(parent: Cell, child: Cell): void {
  const { extras } = parent;
  if (extras === null || extras.children === null) return;
  extras.children.drop(child);
  if (extras.children.size > 0 || !extras.isStoppingChildren) return;
  extras.isStoppingChildren = false;
  endTimer(parent);
  if (parent.activity === SUSPENDED) proceed(parent);
}

/** Makes the next instance, after the backoff. */
function beginAnew(cell: Cell): void {
  const delay = cell.extras?.restart?.delay ?? 0;
  if (delay > 0) setTimer(cell, delay, () => renew(cell));
  else renew(cell);
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
  cell.live(STOPPED);
  cell.activity = SUSPENDED;
  // A reference to a stopped actor keeps nothing of it alive (P14).
  cell.behaviour = null;
  cell.factory = null;
  cell.extras = null;
  if (cell.queue instanceof PriorityMailbox) cell.queue = null; // It has the priority function of its owner.
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
  cell.live(STOPPING);
  for (const child of cell.extras?.children?.all() ?? []) abandon(child);
  discard(cell);
  endTimer(cell);
  cell.extras?.instance?.end();
  abortSignals(cell);
  abandonRunning(cell);
  if (!cell.isStopped) terminate(cell);
}
