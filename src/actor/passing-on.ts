import type { Address } from "../message/address";
import { deliveryError } from "../message/delivery-error";
import type { PassedOn } from "../protocol/signatures";
import type { Cell } from "./cell";
import { type Envelope, EnvelopeSource, messageIn, Tell } from "./envelope";
import type { Handling } from "./handling";
import { Signal } from "./signal";

// Nothing looks at it: the handling knows.
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

/** Puts what was stashed before all that waits, in the order in which it came. */
export function unstash(cell: Cell): void {
  const { extras } = cell;
  if (extras === null || extras.instance === null) return;
  const { stash } = extras.instance;
  extras.instance.stash = [];
  cell.mailbox.putFirst(stash);
  if (extras.flow !== null) extras.flow.size += stash.length;
}

/** Where a message has been, in order; kept only of those that were forwarded. */
const routes = new WeakMap<Envelope, Address[]>();

/** Hands the present message to another actor, as if it had been sent there: who asked gets that one's reply. */
export function forward(cell: Cell, to: Cell): PassedOn {
  const { handling, envelope } = presentOf(cell, "forward");
  const route = [...(routes.get(envelope) ?? []), cell.address];
  handling.passedOn = "forwarded";
  // A tell is sent anew: its own envelope is still that of this handling.
  const passed =
    envelope.pattern === "tell"
      ? new Tell(envelope.type, envelope.payload, envelope.origin ?? messageIn(envelope, cell))
      : envelope;
  passed.moveTo(to);
  routes.set(passed, route);
  const { maxHops, counts } = cell.environment;
  if (route.length <= maxHops) to.accept(passed, to.operation(passed.type));
  else {
    counts.accepted++;
    to.refuse(passed, deliveryError("no-recipient", new EnvelopeSource(passed, to), route));
  }
  return PASSED_ON;
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
    throw new Error(`"${envelope.type}" to ${cell.address} was ${handling.passedOn} already, and can go one way only.`);
  }
  return { handling, envelope };
}
