import { defineProtocol, Type } from "envoi";

export interface Order {
  readonly item: string;
  readonly quantity: number;
  readonly at: number;
}

const Order = Type.Object({ item: Type.String(), quantity: Type.Number(), at: Type.Number() });

/** The actor that the rows of workers and of NATS send to. */
export const Desk = defineProtocol("desk", {
  say: { payload: Order, reply: Order },
  take: { payload: Order },
  /** The number of orders that were taken since the start. */
  taken: { reply: Type.Number() },
  list: { payload: Type.Number(), stream: Order },
  /** Ends its thread by itself. */
  exit: {},
});

/** An actor that never answers. */
export const Sleeper = defineProtocol("sleeper", { sleep: { reply: Type.Null() } });

/** As many bytes each time, so that floors can send the same. */
export const order = (index: number): Order => ({
  item: "the brown ones",
  quantity: 12,
  at: 100_000 + (index % 100_000),
});

/** The text of an order, as long as that of any other. */
export const ORDER = JSON.stringify(order(0));

export const createDesk = () => {
  let taken = 0;
  return {
    say: (sent: Order) => sent,
    take: () => void taken++,
    taken: () => taken,
    *list(count: number) {
      for (let i = 0; i < count; i++) yield order(i);
    },
    exit: () => process.exit(3),
  };
};

export const createSleeper = () => ({ sleep: () => new Promise<null>(() => {}) });
