import type { System } from "../../src/index";
import { bankByAsk } from "./bank-by-ask";
import { bankByTell } from "./bank-by-tell";
import { big } from "./big";
import { boundedBuffer } from "./bounded-buffer";
import { chameneos } from "./chameneos";
import { cigaretteSmokers } from "./cigarette-smokers";
import { concurrentDictionary } from "./concurrent-dictionary";
import { counting } from "./counting";
import { diningPhilosophers } from "./dining-philosophers";
import { fibonacci } from "./fibonacci";
import { forkJoinCreate } from "./fork-join-create";
import { forkJoinThroughput } from "./fork-join-throughput";
import { logisticMap } from "./logistic-map";
import { pingPong } from "./ping-pong";
import { sieve } from "./sieve";
import { skynet } from "./skynet";
import { sleepingBarber } from "./sleeping-barber";
import { threadRing } from "./thread-ring";

/**
 * A scenario at one size, and what it must come to under each schedule that keeps the order of a sender's messages to
 * a receiver. Each run needs a system of its own, because its actors keep their names.
 */
export interface ScenarioRun {
  readonly run: (system: System) => Promise<unknown>;
  readonly answer: unknown;
}

/** One problem: `small` takes at most some hundreds of messages, `full` less than about a second. */
export interface Scenario {
  readonly name: string;
  readonly small: ScenarioRun;
  readonly full: ScenarioRun;
}

/** The Savina problems (S. Imam and V. Sarkar, AGERE! 2014, https://doi.org/10.1145/2687357.2687368), and skynet. */
export const scenarios: readonly Scenario[] = [
  scenario("ping-pong", pingPong, {
    small: [{ pings: 50 }, { pings: 50, pongs: 50 }],
    full: [{ pings: 40_000 }, { pings: 40_000, pongs: 40_000 }],
  }),
  scenario("counting", counting, {
    small: [{ messages: 100 }, 100],
    full: [{ messages: 1_000_000 }, 1_000_000],
  }),
  scenario("fork-join throughput", forkJoinThroughput, {
    small: [
      { workers: 5, messages: 20 },
      { handled: 100, outOfOrder: 0 },
    ],
    full: [
      { workers: 60, messages: 10_000 },
      { handled: 600_000, outOfOrder: 0 },
    ],
  }),
  scenario("fork-join create", forkJoinCreate, {
    small: [{ workers: 50 }, { joined: 50, sum: 1_225 }],
    full: [{ workers: 40_000 }, { joined: 40_000, sum: 799_980_000 }],
  }),
  scenario("thread ring", threadRing, {
    small: [{ actors: 7, hops: 100 }, 3],
    full: [{ actors: 503, hops: 500_000 }, 19],
  }),
  scenario("chameneos", chameneos, {
    small: [{ creatures: 5, meetings: 30 }, 60],
    full: [{ creatures: 100, meetings: 100_000 }, 200_000],
  }),
  scenario("big", big, {
    small: [
      { workers: 6, pings: 10 },
      { pings: 60, pongs: 60, wrong: 0 },
    ],
    full: [
      { workers: 120, pings: 2_000 },
      { pings: 240_000, pongs: 240_000, wrong: 0 },
    ],
  }),
  scenario("bounded buffer", boundedBuffer, {
    small: [
      { producers: 4, consumers: 3, items: 10, capacity: 3 },
      { items: 40, sum: 780, overflows: 0 },
    ],
    full: [
      { producers: 40, consumers: 40, items: 1_000, capacity: 50 },
      { items: 40_000, sum: 799_980_000, overflows: 0 },
    ],
  }),
  scenario("dining philosophers", diningPhilosophers, {
    small: [
      { philosophers: 5, rounds: 8 },
      { meals: [8, 8, 8, 8, 8], conflicts: 0 },
    ],
    full: [
      { philosophers: 20, rounds: 2_000 },
      { meals: Array.from({ length: 20 }, () => 2_000), conflicts: 0 },
    ],
  }),
  scenario("sleeping barber", sleepingBarber, {
    small: [
      { customers: 30, seats: 4 },
      { customers: 30, difference: 0, crowded: 0, seatsWereUsed: true },
    ],
    full: [
      { customers: 5_000, seats: 1_000 },
      { customers: 5_000, difference: 0, crowded: 0, seatsWereUsed: true },
    ],
  }),
  scenario("cigarette smokers", cigaretteSmokers, {
    small: [{ rounds: 30 }, { smoked: 30, wrong: 0, isFair: true }],
    full: [{ rounds: 10_000 }, { smoked: 10_000, wrong: 0, isFair: true }],
  }),
  scenario("logistic map", logisticMap, {
    small: [{ series: 4, terms: 15 }, logisticSum(4, 15)],
    full: [{ series: 10, terms: 10_000 }, logisticSum(10, 10_000)],
  }),
  scenario("bank transactions, by ask", bankByAsk, {
    small: [
      { accounts: 6, transactions: 50 },
      { settled: 50, gained: 0, overdrawn: 0 },
    ],
    full: [
      { accounts: 1_000, transactions: 20_000 },
      { settled: 20_000, gained: 0, overdrawn: 0 },
    ],
  }),
  scenario("bank transactions, by tell", bankByTell, {
    small: [
      { accounts: 6, transactions: 50 },
      { settled: 50, gained: 0, overdrawn: 0 },
    ],
    full: [
      { accounts: 1_000, transactions: 50_000 },
      { settled: 50_000, gained: 0, overdrawn: 0 },
    ],
  }),
  scenario("concurrent dictionary", concurrentDictionary, {
    small: [
      { workers: 5, operations: 20, keys: 4, writePercentage: 30 },
      { operations: 100, lostWrites: 0, stale: 0 },
    ],
    full: [
      { workers: 20, operations: 5_000, keys: 512, writePercentage: 10 },
      { operations: 100_000, lostWrites: 0, stale: 0 },
    ],
  }),
  scenario("sieve of Eratosthenes", sieve, {
    small: [{ limit: 100, room: 4 }, 25],
    full: [{ limit: 10_000, room: 50 }, 1_229],
  }),
  scenario("Fibonacci", fibonacci, {
    small: [{ n: 9 }, 34],
    full: [{ n: 20 }, 6_765],
  }),
  scenario("skynet", skynet, {
    small: [{ leaves: 100 }, 4_950],
    full: [{ leaves: 100_000 }, 4_999_950_000],
  }),
];

function scenario<Sizes, Answer>(
  name: string,
  solve: (system: System, sizes: Sizes) => Promise<Answer>,
  { small, full }: Record<"small" | "full", [sizes: Sizes, answer: Answer]>,
): Scenario {
  const at = ([sizes, answer]: [Sizes, Answer]): ScenarioRun => ({ run: (system) => solve(system, sizes), answer });
  return { name, small: at(small), full: at(full) };
}

/** What the logistic map comes to in a plain loop. */
function logisticSum(series: number, terms: number): number {
  let sum = 0;
  for (let index = 0; index < series; index++) {
    const rate = 3.46 + index * 0.0025;
    let x = (index + 1) * 0.0025;
    for (let i = 0; i < terms; i++) x = rate * x * (1 - x);
    sum += x;
  }
  return sum;
}
