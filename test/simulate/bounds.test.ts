import { describe, expect, test } from "bun:test";
import { OVERFLOWS } from "../../src/actor/options";
import { type ActorOptions, defineProtocol, type Overflow, type RefTo, Type } from "../../src/index";
import { type Faults, type SimulatedProgram, simulate } from "../../src/testing/index";
import { runs } from "../property/runs";
import { expectBalanced } from "./balanced";

interface Parcel {
  readonly number: number;
  readonly urgency: number;
}

const Store = defineProtocol("store", { put: { payload: Type.Unsafe<Parcel>({}), reply: Type.Number() } });

const PARCELS = 40;

/** What became of the parcels. */
interface Seen {
  handled: number;
  full: number;
  waited: number;
  givenUp: number;
}

/** Parcels for a store that holds few; it never holds more, whoever waits gets in in order, and what is dropped is told. */
const storing =
  (overflow: Overflow, seen: Seen, isFaultFree: boolean): SimulatedProgram =>
  async ({ system, random, always, advance, eventually }) => {
    const capacity = 1 + random.below(4);
    const options: ActorOptions = {
      capacity,
      overflow,
      ...(random.chance(0.3) ? { priority: (_, parcel) => (parcel as Parcel).urgency } : {}),
      ...(random.chance(0.3) ? { concurrency: 1 + random.below(3) } : {}),
    };
    const waiting = new Set<number>(); // Offers and asks that are not in the mailbox yet, nor have ended.
    const admitted: number[] = [];
    const handled = new Set<number>();
    const dead = new Set<number>();
    system.router.deadLetters.subscribe(({ message, reason }) => {
      if (reason !== "late-reply") dead.add((message.payload as Parcel).number);
    });
    const store: RefTo<typeof Store> = system.spawn(
      "store",
      Store,
      () => ({
        async put({ number }) {
          expect(handled).not.toContain(number);
          handled.add(number);
          if (random.chance(0.6)) await advance(random.below(4));
          return number;
        },
      }),
      options,
    );
    always(() => {
      expectBalanced(system);
      const queued = system.inspect().find(({ address }) => address === store.address)?.queued ?? 0;
      if (overflow !== "wait")
        expect(queued).toBeLessThanOrEqual(capacity); // P11
      else expect(queued).toBeLessThanOrEqual(capacity + waiting.size);
    });

    const sent: Promise<void>[] = [];
    for (let number = 0; number < PARCELS; number++) {
      const parcel = { number, urgency: random.below(3) };
      const way = random.below(3);
      if (way === 0) store.tell("put", parcel);
      else {
        const timeout = random.chance(0.2) ? { timeout: 1 + random.below(5) } : {};
        waiting.add(number);
        const isOffer = way === 1;
        const done = isOffer ? store.offer("put", parcel, timeout) : store.ask("put", parcel, timeout);
        sent.push(
          done.then((result) => {
            waiting.delete(number);
            if (result.isOk()) {
              if (isOffer) admitted.push(number);
              return;
            }
            const { kind } = result.error;
            if (kind === "mailbox-full") {
              seen.full++;
              expect(overflow).not.toBe("wait");
              expect(isOffer && overflow === "drop-oldest").toBe(false); // It takes the place of another one.
            } else if (kind === "timeout") seen.givenUp++;
            else expect(["handler-failed", "stopped", "cancelled"]).toContain(kind);
          }),
        );
      }
      if (random.chance(0.3)) await advance(random.below(4));
    }
    await Promise.all(sent);
    eventually(() => {
      expect(admitted).toEqual([...admitted].sort((a, b) => a - b)); // Waiters get in in their order.
      seen.handled += handled.size;
      seen.waited += admitted.length;
      expect(waiting.size).toBe(0);
      if (!isFaultFree) return;
      for (let number = 0; number < PARCELS; number++) expect(dead.has(number)).toBe(!handled.has(number));
    });
  };

const faultSets: [name: string, faults: Faults][] = [
  ["without faults", {}],
  ["with all faults", { throw: 0.02, delay: 0.05, expire: 0.02, stop: 0.001 }],
];

for (const overflow of OVERFLOWS) {
  describe(`P11: a mailbox with the overflow "${overflow}" holds no more than its capacity, and keeps the order of those that wait`, () => {
    for (const [name, faults] of faultSets) {
      test(name, async () => {
        const seen: Seen = { handled: 0, full: 0, waited: 0, givenUp: 0 };
        await simulate(storing(overflow, seen, Object.keys(faults).length === 0), {
          seeds: runs(150).numRuns,
          faults,
          expected: () => false,
        });
        expect(seen.handled).toBeGreaterThan(1_000);
        expect(seen.waited).toBeGreaterThan(500);
        expect(seen.givenUp).toBeGreaterThan(20);
        expect(seen.full > 500).toBe(overflow !== "wait");
      });
    }
  });
}
