import { isAddress, quote } from "../../message/address";
import { type DeliveryError, isDeliveryError } from "../../message/delivery-error";
import type { Environment } from "../contract";
import { deadLetterOf } from "../envelopes/envelope";
import type { PublishedEvent } from "../events";

/** Publishes an event of code beside the system. */
export function publish({ events }: Environment, event: PublishedEvent): void {
  const kind: unknown = event?.kind;
  if (typeof kind !== "string" || !kind.includes(":")) {
    throw new TypeError(
      `The kind of a published event has a colon behind its owner, as "nats:connected" has; got ${quote(kind)}.`,
    );
  }
  if (!isAddress(event.address)) {
    throw new TypeError(`The event ${quote(kind)} has the address that it is about; got ${quote(event.address)}.`);
  }
  if (events.hasSubscribers) events.publish(event);
}

/** Counts and publishes a dead letter of code beside the system. */
export function publishDeadLetter(environment: Environment, error: DeliveryError, asked: boolean): void {
  if (!isDeliveryError(error)) {
    throw new TypeError(
      `A dead letter has a delivery error; make one with createDeliveryError(); got ${quote(error)}.`,
    );
  }
  environment.counts.accepted++;
  environment.counts.dead++;
  if (environment.meters !== null) environment.meters.nobody.dead++;
  environment.deadLetter(deadLetterOf(error, asked), false);
}
