import { defineProtocol, type RefTo, refSchema, type Static, type System, Type } from "../../src/index";
import { answered } from "./answered";

const Outcome = Type.Union([Type.Literal("served"), Type.Literal("turned away")]);
type Outcome = Static<typeof Outcome>;

const Customer = defineProtocol("customer", { arrive: {}, turnedAway: {}, haircut: {} });
const WaitingRoom = defineProtocol("waiting-room", {
  enter: { payload: refSchema(Customer) },
  leave: { payload: Outcome },
  next: {},
});
const Barber = defineProtocol("barber", {
  cut: { payload: refSchema(Customer) },
  finish: {},
  counts: { reply: Type.Object({ haircuts: Type.Number(), crowded: Type.Number() }) },
});

export interface SleepingBarberAnswer {
  /** Those who left, served or turned away. */
  readonly customers: number;
  /** Those who left with a haircut, less those whose hair the barber cut. */
  readonly difference: number;
  /** How often somebody came to the chair while another one sat in it. */
  readonly crowded: number;
  /** Whether at least those were served who found the chair or a seat when all came at once. */
  readonly seatsWereUsed: boolean;
}

/**
 * A barber sleeps until a customer comes; who comes while he works takes a seat, and who finds none is turned away. How
 * many are served is open; but everybody leaves once, and the barber cuts the hair of all who leave served, and of
 * nobody else.
 */
export async function sleepingBarber(
  system: System,
  { customers = 5_000, seats = 1_000 }: { readonly customers?: number; readonly seats?: number } = {},
): Promise<SleepingBarberAnswer> {
  const done = Promise.withResolvers<Record<Outcome, number>>();

  const room: RefTo<typeof WaitingRoom> = system.spawn("waiting-room", WaitingRoom, (ctx) => {
    const waiting: RefTo<typeof Customer>[] = [];
    const left = { served: 0, "turned away": 0 };
    let isBarberAsleep = true;
    const closeWhenEmpty = (): void => {
      if (isBarberAsleep && left.served + left["turned away"] === customers) done.resolve(left);
    };
    return {
      enter(customer) {
        if (isBarberAsleep) {
          isBarberAsleep = false;
          ctx.tell(barber, "cut", customer);
        } else if (waiting.length < seats) waiting.push(customer);
        else ctx.tell(customer, "turnedAway");
      },
      next() {
        const customer = waiting.shift();
        if (customer === undefined) isBarberAsleep = true;
        else ctx.tell(barber, "cut", customer);
        closeWhenEmpty();
      },
      leave(outcome) {
        left[outcome]++;
        closeWhenEmpty();
      },
    };
  });

  const barber: RefTo<typeof Barber> = system.spawn("barber", Barber, (ctx) => {
    const counts = { haircuts: 0, crowded: 0 };
    let inChair: RefTo<typeof Customer> | null = null;
    return {
      cut(customer) {
        if (inChair !== null) counts.crowded++;
        inChair = customer;
        ctx.tell(ctx.self, "finish"); // A haircut lasts until then: others may have their turns meanwhile.
      },
      finish() {
        if (inChair === null) return;
        counts.haircuts++;
        ctx.tell(inChair, "haircut");
        inChair = null;
        ctx.tell(room, "next");
      },
      counts: () => counts,
    };
  });

  for (let index = 0; index < customers; index++) {
    const customer = system.spawn(`customer-${index}`, Customer, (ctx) => ({
      arrive: () => ctx.tell(room, "enter", ctx.self),
      turnedAway: () => ctx.tell(room, "leave", "turned away"),
      haircut: () => ctx.tell(room, "leave", "served"),
    }));
    customer.tell("arrive");
  }

  const left = await done.promise;
  const { haircuts, crowded } = answered(await barber.ask("counts"));
  return {
    customers: left.served + left["turned away"],
    difference: left.served - haircuts,
    crowded,
    seatsWereUsed: left.served >= Math.min(customers, seats + 1),
  };
}
