import type { Message, Metadata } from "../../message/message";
import { sentenceOf } from "../../message/sentence-of";
import type { Envelope, Origin, Recipient } from "../contract";
import type { Ending, HandsOn, ObservedHandling } from "../observers";
import { checkMetadata } from "./call-options";
import { deadlineIn, isSent, metadataOf, sentAs } from "./origin";

// A handler hands on a part of its message's metadata to all that it begins: the inherited part, or what an observer gave in its place.

/**
 * The origin of a message that a handler sends: its actor, with what the message that it handles hands on. Most hand on
 * nothing.
 */
export function originIn(handled: Envelope, sender: Recipient): Origin {
  const { origin } = handled;
  const { chain } = sender.environment.observers;
  if (origin === null && chain === null) return sender;
  const given = chain === null ? null : givenTo(observedIn(sender, handled), sender);
  const mayCarry = origin !== null && (isSent(origin) || (origin as Message).metadata !== undefined); // An actor has none.
  if (given === null && !mayCarry) return sender;
  const metadata = given ?? inheritedOf(handled, sender);
  const deadline = deadlineIn(origin);
  return metadata === null && deadline === null ? sender : sentAs(null, { from: sender, metadata, deadline });
}

/**
 * The origin of what a handler begins and does not wait for: its timers and watches, and the hooks of a restart that it causes.
 * They have the metadata that it hands on, and nothing else of its message: a deadline ends with the handler. Null for most.
 *
 * @param ending the handling, where it has ended.
 */
export function originBehind(handled: Envelope | null, by: Recipient, ending?: Ending | null): Origin {
  if (handled === null) return null;
  const metadata = handedOn(handled, by, ending);
  return metadata === null ? null : sentAs(null, { metadata });
}

/**
 * The metadata that the handler of a message hands on, frozen; null where there are none.
 *
 * @param ending the handling, where it has ended.
 */
export function handedOn(handled: Envelope, by: Recipient, ending?: Ending | null): Metadata | null {
  const { chain } = by.environment.observers;
  if (handled.origin === null && chain === null) return null;
  const observed = chain === null ? null : (ending?.observed ?? observedIn(by, handled));
  return givenTo(observed, by) ?? inheritedOf(handled, by);
}

/** The view that observers have of a message that an actor handles; null where there is none. */
export function observedIn(by: Recipient, handled: Envelope): ObservedHandling | null {
  const { running } = by.environment.observers; // Until its first await, nothing else is recorded of it.
  if (running !== null && running.observed?.ref === by.ref) return running.observed;
  return by.handlingOf(handled)?.observation?.observed ?? null;
}

/** The metadata that an observer gave a handling to hand on; null where it gave none. */
function givenTo(observed: ObservedHandling | null, by: Recipient): Metadata | null {
  const handsOn: HandsOn | null | undefined = observed?.handsOn;
  if (handsOn == null) return null;
  try {
    const { metadata } = handsOn;
    if (Object.isFrozen(metadata) && typeof metadata === "object") return metadata;
    checkMetadata(metadata, "a handling");
    return Object.freeze({ ...metadata });
  } catch (thrown) {
    logThrown(thrown, by); // A tell must not throw (P4).
    return null;
  }
}

function logThrown(cause: unknown, { address, environment }: Recipient): void {
  if (!environment.logLimit.admit()) return;
  const sentence = `What an observer gave ${address} to hand on could not be read: ${sentenceOf(cause)}`;
  environment.logger.error(sentence, { address, cause });
}

function inheritedOf(handled: Envelope, { environment }: Recipient): Metadata | null {
  const all = metadataOf(handled);
  return all === null ? null : inheritedFrom(all, environment.inheritedMetadata);
}

/** Those metadata that are inherited: mostly all or none, which needs no copy. A symbol as a key is for one message alone. */
export function inheritedFrom(metadata: Metadata, names: readonly string[]): Metadata | null {
  let count = 0;
  for (const name of names) if (Object.hasOwn(metadata, name)) count++;
  if (count === 0) return null;
  if (count === Object.keys(metadata).length && Object.getOwnPropertySymbols(metadata).length === 0) return metadata;
  const inherited = names.filter((name) => Object.hasOwn(metadata, name));
  return Object.freeze(Object.fromEntries(inherited.map((name) => [name, metadata[name]])));
}
