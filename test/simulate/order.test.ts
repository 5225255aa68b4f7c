import { describe, expect, test } from "bun:test";
import { type ActorOptions, type Address, createMessage, defineProtocol, type RefTo, Type } from "../../src/index";
import { type Faults, type SeededRandom, type SimulatedProgram, simulate } from "../../src/testing/index";
import { runs } from "../property/runs";
import { expectBalanced } from "./balanced";

interface Letter {
  readonly from: Address;
  readonly number: number;
}

const Receiver = defineProtocol("receiver", { take: { payload: Type.Unsafe<Letter>({}), reply: Type.Number() } });
const Sender = defineProtocol("sender", { send: {} });

const SENDERS = 4;
const RECEIVERS = 3;
const ROUNDS = 8;

/** What was seen of the letters, outside of the actors: a restart must not turn the order, either. */
interface Seen {
  letters: number;
  ends: number;
}

const optionsOf = (random: SeededRandom): ActorOptions => ({
  ...random.pick<ActorOptions>([
    {},
    {},
    { capacity: 2, overflow: "wait" },
    { capacity: 3, overflow: "drop-oldest" },
    { capacity: 3, overflow: "drop-newest" },
    { capacity: 2, overflow: "reject" },
  ]),
  ...random.pick<ActorOptions>([{}, {}, { concurrency: 3 }, { priority: () => 1 }]),
});

/**
 * Senders write to receivers by all ways that there are, and number their letters to each. Receivers take their time, put
 * letters aside, restart and die; they watch the senders, and have nothing from one after its end.
 */
const correspondence =
  (seen: Seen): SimulatedProgram =>
  async ({ system, random, always, advance, eventually }) => {
    always(() => expectBalanced(system));
    const receivers: RefTo<typeof Receiver>[] = [];
    let waiting = 0;
    const until = async (promise: Promise<unknown>): Promise<void> => {
      waiting++;
      await promise;
      waiting--;
    };

    const senders = Array.from({ length: SENDERS }, (_, own) => {
      const numbers = receivers.map(() => 0);
      return system.spawn(`sender-${own}`, Sender, (ctx) => ({
        async send() {
          for (let count = random.below(4); count > 0; count--) {
            const to = random.below(RECEIVERS);
            const receiver = receivers[to];
            if (receiver === undefined) continue;
            const letter = { from: ctx.self.address, number: (numbers[to] ?? 0) + 1 };
            numbers[to] = letter.number;
            switch (random.below(7)) {
              case 0:
                receiver.tell("take", letter);
                break;
              case 1:
                ctx.tell(receiver, "take", letter);
                break;
              case 2:
                system.router.tell(createMessage(receiver.address, "take", letter, { from: ctx.self.address }));
                break;
              case 3:
                void until(receiver.offer("take", letter, { timeout: 1 + random.below(20) }));
                break;
              case 4:
                void until(receiver.ask("take", letter, { timeout: 1 + random.below(20) }));
                break;
              case 5:
                await until(ctx.ask(receiver, "take", letter));
                break;
              case 6:
                await until(receiver.offer("take", letter));
            }
          }
        },
      }));
    });

    for (let own = 0; own < RECEIVERS; own++) {
      const options = optionsOf(random);
      const most = options.concurrency ?? 1;
      const arrived = new Map<Address, number>();
      const latest = new Map<Address, number>();
      const gone = new Set<Address>();
      let running = 0;
      const receiver = system.spawn(
        `receiver-${own}`,
        Receiver,
        (ctx) => {
          for (const sender of senders) {
            ctx.watch(sender, ({ address }) => {
              gone.add(address);
              seen.ends++;
            });
          }
          let aside = random.below(4);
          ctx.timers.once("unstash", 30, () => {
            aside = 0;
            ctx.unstash();
          });
          return {
            async take({ from, number }) {
              const came = arrived.get(from) ?? 0;
              if (number > came) {
                expect(gone).not.toContain(from); // P2: the end of a sender comes after all that it sent.
                arrived.set(from, number);
              }
              if (aside > 0) {
                const stashed = ctx.stash();
                if (--aside === 0) ctx.unstash();
                return stashed;
              }
              expect(number).toBeGreaterThan(latest.get(from) ?? 0); // P2: first in, first out.
              latest.set(from, number);
              seen.letters++;
              running++;
              expect(running).toBeLessThanOrEqual(most); // P3
              const pause = random.below(4);
              if (pause === 1) await null;
              if (pause === 2) await advance(random.below(5));
              if (pause === 3) await system.router.unregister("@(nobody)");
              running--;
              return number;
            },
          };
        },
        options,
      );
      receivers.push(receiver);
    }

    for (let round = 0; round < ROUNDS; round++) {
      for (const sender of senders) sender.tell("send");
      if (random.chance(0.3)) await advance(random.below(10));
      if (random.chance(0.05)) await system.stop(random.pick(senders));
    }
    eventually(() => expect({ waiting }).toEqual({ waiting: 0 })); // P6
  };

const rows: [name: string, faults: Faults][] = [
  ["without faults", {}],
  ["with turns that come late", { delay: 0.05 }],
  ["with handlers that throw", { throw: 0.03 }],
  ["with actors that die", { stop: 0.005 }],
  ["with waits that expire", { expire: 0.03 }],
  ["with all of that", { throw: 0.02, stop: 0.003, delay: 0.03, expire: 0.02 }],
];

describe("P1, P2, P3, P6: letters are accounted for, in order, one at a time, and nobody waits for ever:", () => {
  for (const [name, faults] of rows) {
    test(name, async () => {
      const seen = { letters: 0, ends: 0 };
      await simulate(correspondence(seen), { seeds: runs(100, 5_000).numRuns, faults, expected: () => false });
      expect(seen.letters).toBeGreaterThan(800);
      expect(seen.ends).toBeGreaterThan(20);
    });
  }
});
