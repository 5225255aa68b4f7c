import { describe, expect, test } from "bun:test";
import { type Address, address, createMessage, type Message, parseMessage, serializeMessage } from "../../src/index";
import { type Faults, SimulatedFault, type SimulatedProgram, simulate } from "../../src/testing/index";
import { runs } from "../property/runs";
import { expectBalanced } from "./balanced";
import { Family, isOutside, Member, Mishap } from "./family";

interface Seen {
  restarts: number;
  replies: number;
  failures: number;
  holds: number;
}

/** A message as it is sent from within, or as it comes through a door. */
function messageTo(to: Address, number: number): Message {
  const message = createMessage(to, "work", number);
  return isOutside(number) ? parseMessage(serializeMessage(message)._unsafeUnwrap())._unsafeUnwrap() : message;
}

const SENT = 60;
const NAMES = ["root", ...[0, 1, 2].flatMap((a) => [`root/${a}`, ...[0, 1, 2].map((b) => `root/${a}/${b}`)])];

const family =
  (seen: Seen, isExact: boolean): SimulatedProgram =>
  async (simulation) => {
    const { system, random, always, advance, eventually } = simulation;
    always(() => expectBalanced(system));
    const tree = new Family(simulation);
    const ended = new Set<string>();
    system.events.subscribe(({ kind, address: at }) => {
      if (kind === "stopped") ended.add(at);
      if (kind === "restarted") seen.restarts++;
      if (kind === "held") seen.holds++;
    });
    for (let isThere = false; !isThere; ) {
      try {
        const supervision = tree.draw();
        system.spawn("root", Member, tree.factory(2, null, supervision), { supervision });
        isThere = true;
      } catch (thrown) {
        if (!(thrown instanceof Mishap)) throw thrown;
        while (system.router.has(address("root"))) await advance(1); // Its children stop first.
      }
    }
    const unanswered = new Set<string>();
    const asks = Promise.all(
      Array.from({ length: SENT }, async (_, index) => {
        const to = address(random.pick(NAMES));
        if (random.chance(0.2)) {
          system.router.tell(messageTo(to, index + 1));
          return;
        }
        const reply = await system.router.ask(messageTo(to, index + 1), {
          timeout: Number.POSITIVE_INFINITY,
        });
        if (reply.isOk()) {
          expect(reply.value).toBe(index + 1);
          seen.replies++;
        } else if (reply.error.kind === "handler-failed") {
          seen.failures++;
          expect(reply.error.cause instanceof Mishap || reply.error.cause instanceof SimulatedFault).toBe(true);
        } else {
          expect(["stopped", "no-recipient"]).toContain(reply.error.kind);
          unanswered.add(to);
        }
        return;
      }),
    );
    for (let i = 0; i < 10; i++) await advance(random.below(20));
    await asks;
    eventually(() => {
      // P10: a restart loses nothing; only who has stopped answers that.
      for (const at of unanswered) expect([...ended].some((other) => at.startsWith(other.slice(0, -1)))).toBe(true);
      if (!isExact) return;
      const isWhole = (name: string): boolean => system.router.has(address(name)) && !ended.has(address(name));
      for (const name of NAMES) {
        if (NAMES.filter((other) => other.startsWith(name)).every(isWhole)) {
          tree.lives.get(address(name))?.expectStrategy();
        }
      }
    });
  };
const rows: [name: string, faults: Faults][] = [
  ["without faults", {}],
  ["with turns that come late", { delay: 0.1 }],
  ["with more handlers that throw", { throw: 0.05 }],
  ["with actors that die", { stop: 0.003 }],
  ["with all of that", { throw: 0.03, stop: 0.002, delay: 0.05 }],
];

describe("P9, P10: a family of actors that fail lives on, in order and with fresh state, as its supervisors say:", () => {
  for (const [name, faults] of rows) {
    test(name, async () => {
      const seen: Seen = { restarts: 0, replies: 0, failures: 0, holds: 0 };
      await simulate(family(seen, (faults.throw ?? 0) === 0), {
        seeds: runs(60, 3_000).numRuns,
        faults,
        expected: ({ error }) => error instanceof Mishap,
        system: { hookTimeout: Number.POSITIVE_INFINITY },
      });
      const { holds, ...often } = seen;
      for (const count of Object.values(often)) expect(count).toBeGreaterThan(80);
      expect(holds).toBeGreaterThan(8);
    });
  }
});
