import { type Address, quote } from "../../message/address";
import { type DeliveryError, deliveryError } from "../../message/delivery-error";
import type { PassedOn } from "../../protocol/signatures";
import type { Cell } from "../cell/cell";
import { IDLE } from "../cell/transitions";
import type { Envelope, Recipient, Wait } from "../contract";
import { PendingAsk } from "../envelopes/ask";
import { circleOf } from "../envelopes/deadlock";
import { EnvelopeSource, poolsBehind, recipientsOf, routes, tellFrom } from "../envelopes/envelope";
import type { Handling } from "../envelopes/handling";
import { isFromOutside, messageIn, senderOf } from "../envelopes/origin";
import { Signal } from "../envelopes/signal";
import { PendingStream } from "../envelopes/stream";
import { announce } from "../refs/announce";
import { operationFor, pickRecipient } from "../refs/sending";

// Nobody reads it: the handling records that the message was passed on.
const PASSED_ON = Object.freeze({}) as PassedOn;

/** Keeps the present message for later: it counts as queued, and its sender goes on waiting. */
export function stash(cell: Cell): PassedOn {
  const { handling, envelope } = presentOf(cell, "stash");
  const { instance, extra } = cell;
  if (instance.stash.length >= extra.stashCapacity) {
    throw new Error(
      `The stash of ${cell.address} is full (${extra.stashCapacity} messages); unstash earlier, or spawn it with a larger stashCapacity.`,
    );
  }
  handling.passedOn = "stashed";
  instance.stash.push(envelope);
  return PASSED_ON;
}

/** Puts the stashed messages before all that wait, in the order in which they came. */
export function unstash(cell: Cell): void {
  const { extras } = cell;
  if (extras === null || extras.instance === null) return;
  const { stash } = extras.instance;
  if (stash.length === 0) return;
  extras.instance.stash = [];
  for (const envelope of stash) cell.environment.meters?.enter(envelope);
  cell.mailbox.putFirst(stash);
  if (extras.bound !== null) extras.bound.size += stash.length;
  if (cell.activity === IDLE) cell.schedule(); // unstash() may be called between two messages.
}

/** Hands the present message to another actor, as if it had been sent there. The asker gets that actor's reply. */
export function forward(cell: Cell, target: Cell): PassedOn {
  const { handling, envelope } = presentOf(cell, "forward");
  const before = routes.get(envelope);
  const hops = [...(before?.hops ?? []), cell.address];
  const fits = cell.isStrict ? (cell.operation(envelope.type) ?? null) : (before?.fits ?? null);
  handling.passedOn = "forwarded";
  // A pool chooses the worker for a stranger's message itself, once the payload fits its schema: its key function may
  // not see any other payload (P18). No handler waits for such a message, so a circle that the worker may close need
  // not be known here.
  const to = isFromOutside(envelope) ? target : pickRecipient(target, envelope.type, envelope.payload);
  // A tell is sent anew: its own envelope still belongs to this handling.
  let passed = envelope;
  if (envelope.pattern === "tell") {
    messageIn(envelope, cell); // Both actors read the same message.
    passed = tellFrom(envelope.type, envelope.payload, envelope.origin);
    if (envelope.context !== undefined) passed.context = envelope.context;
  }
  passed.moveTo(to);
  routes.set(passed, { hops, fits, pools: poolsBehind(before, cell) });
  if (cell.environment.observers.onSend !== null) announce(target, passed, cell, true);
  const error = objectionTo(passed, to, hops);
  if (error === null) to.accept(passed, operationFor(to, passed));
  else {
    to.environment.counts.accepted++;
    to.refuse(passed, error);
  }
  return PASSED_ON;
}

/** The reason why a message may not go to another actor; null when it may. */
function objectionTo(envelope: Envelope, to: Recipient, route: readonly Address[]): DeliveryError | null {
  if (route.length > to.environment.maxHops) {
    return deliveryError("no-recipient", new EnvelopeSource(envelope, to), route);
  }
  if (!(envelope instanceof PendingAsk || envelope instanceof PendingStream)) return null;
  const asker = senderOf(envelope, to.environment);
  const waits = asker?.handlings.flatMap((each) => [...each.waits()]) ?? [];
  const moved = waits.find((wait) => isOrHas(wait, envelope));
  if (asker === undefined || moved === undefined || moved.waiter === null) return null;
  const circle = circleOf(asker, to, moved.waiter, moved); // The asker waits for another actor from now on (P8).
  return circle === null ? null : deliveryError("ask-cycle", new EnvelopeSource(envelope, to), circle);
}

/** True when a wait is for this envelope, or for a fan that has this envelope as a part, at any depth. */
function isOrHas(wait: Wait, envelope: Envelope & Wait): boolean {
  if (wait === envelope) return true;
  for (const part of recipientsOf(wait.cell, wait)?.parts ?? []) {
    if (part.wait !== null && isOrHas(part.wait, envelope)) return true;
  }
  return false;
}

function presentOf(cell: Cell, verb: "stash" | "forward"): { handling: Handling; envelope: Envelope } {
  const { handling } = cell;
  if (handling === null || handling.envelope instanceof Signal) {
    throw new Error(
      `${cell.address} handles no message now that it could ${verb}; call ctx.${verb}() inside a handler.`,
    );
  }
  const { envelope } = handling;
  if (handling.passedOn !== null) {
    throw new Error(
      `${quote(envelope.type)} to ${cell.address} was ${handling.passedOn} already, and can go one way only.`,
    );
  }
  return { handling, envelope };
}
