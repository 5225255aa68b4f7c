/**
 * Checks what became of durable messages: each that was acknowledged was handled, in order for each sender and receiver, and
 * a second handling was marked. Events are recorded in the order in which they happened.
 */

/** A message: the number counts the messages of one sender to one receiver, from 1. */
export interface Numbered {
  readonly sender: string;
  readonly receiver: string;
  readonly number: number;
}

export type DeliveryEvent = Numbered &
  (
    | { readonly kind: "sent" }
    /** Its sender was told that it is kept. */
    | { readonly kind: "acknowledged" }
    /** Its handler began. */
    | { readonly kind: "handled"; readonly isMarked: boolean }
    /** It was given up with a reason, and stays findable. */
    | { readonly kind: "dead letter" }
  );

export type Fault = Numbered & {
  readonly fault: "lost" | "out of order" | "unmarked repeat" | "never sent";
};

/** @returns the faults of a history; none when all was as promised. */
export function checkDeliveries(events: readonly DeliveryEvent[]): Fault[] {
  const faults: Fault[] = [];
  for (const [, own] of Map.groupBy(events, ({ sender, receiver }) => `${sender} > ${receiver}`))
    checkPair(own, faults);
  return faults;
}

function checkPair(events: readonly DeliveryEvent[], faults: Fault[]): void {
  const sent = new Set<number>();
  const acknowledged = new Set<number>();
  const over = new Set<number>();
  const handled = new Set<number>();
  let highest = 0;
  for (const event of events) {
    const { sender, receiver, number, kind } = event;
    const found = (fault: Fault["fault"]) => faults.push({ sender, receiver, number, fault });
    if (kind === "sent") sent.add(number);
    else if (!sent.has(number)) found("never sent");
    if (kind === "acknowledged") acknowledged.add(number);
    if (kind === "dead letter") over.add(number);
    if (kind !== "handled") continue;
    over.add(number);
    if (handled.has(number)) {
      if (!event.isMarked) found("unmarked repeat");
    } else if (number < highest) found("out of order");
    handled.add(number);
    highest = Math.max(highest, number);
  }
  const [one] = events;
  if (one === undefined) return;
  for (const number of acknowledged) {
    if (!over.has(number)) faults.push({ sender: one.sender, receiver: one.receiver, number, fault: "lost" });
  }
}

/** The events of orders `o-0`, `o-1` and so on that were sent and acknowledged. */
export const sentAll = (of: readonly string[]): DeliveryEvent[] =>
  of.flatMap((id) => [
    { kind: "sent", ...asNumbered(id) },
    { kind: "acknowledged", ...asNumbered(id) },
  ]);

/** An order as a message of the one sender. */
export const asNumbered = (id: string): Numbered => ({
  sender: "o",
  receiver: "orders",
  number: Number(id.slice(2)) + 1,
});
