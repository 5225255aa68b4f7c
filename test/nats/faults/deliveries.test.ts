import { describe, expect, test } from "bun:test";
import { checkDeliveries, type DeliveryEvent } from "./deliveries";

const of = (number: number, sender = "a", receiver = "r") => ({ sender, receiver, number });
const sent = (number: number, sender?: string): DeliveryEvent[] => [
  { kind: "sent", ...of(number, sender) },
  { kind: "acknowledged", ...of(number, sender) },
];
const handled = (number: number, isMarked = false, sender?: string): DeliveryEvent => ({
  kind: "handled",
  isMarked,
  ...of(number, sender),
});
const two = [...sent(1), ...sent(2)];

describe("the checker of durable deliveries", () => {
  test("takes messages that were handled in order, and repeats that are marked", () => {
    expect(checkDeliveries([...two, handled(1), handled(2)])).toEqual([]);
    expect(checkDeliveries([...two, handled(1), handled(2), handled(1, true), handled(2, true)])).toEqual([]);
  });

  test("finds a message that was acknowledged and never handled", () => {
    expect(checkDeliveries([...two, handled(1)])).toEqual([{ ...of(2), fault: "lost" }]);
  });

  test("takes a message whose sender knows nothing, handled or not", () => {
    const unknown: DeliveryEvent[] = [{ kind: "sent", ...of(1) }];
    expect(checkDeliveries(unknown)).toEqual([]);
    expect(checkDeliveries([...unknown, handled(1)])).toEqual([]);
  });

  test("takes a dead letter as the end of its message, and finds one that overtakes", () => {
    const dead: DeliveryEvent = { kind: "dead letter", ...of(1) };
    expect(checkDeliveries([...two, handled(1), dead, handled(2)])).toEqual([]);
    expect(checkDeliveries([...two, dead, handled(2)])).toEqual([]);
  });

  test("finds messages out of order, for each sender alone", () => {
    expect(checkDeliveries([...two, handled(2), handled(1)])).toEqual([{ ...of(1), fault: "out of order" }]);
    expect(checkDeliveries([...sent(1, "b"), ...two, handled(1), handled(2), handled(1, false, "b")])).toEqual([]);
  });

  test("finds a repeat that is not marked", () => {
    expect(checkDeliveries([...two, handled(1), handled(1), handled(2)])).toEqual([
      { ...of(1), fault: "unmarked repeat" },
    ]);
  });

  test("finds a message that nobody sent", () => {
    expect(checkDeliveries([handled(3)])).toEqual([{ ...of(3), fault: "never sent" }]);
  });
});
