import { expect, test } from "bun:test";
import fc from "fast-check";
import { address, createMessage, createRouter, drop, ok, type Passage } from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { expectBalance, recordIn } from "../actor/test-system";
import { runs } from "./runs";

const addresses = [address("a"), address("b")] as const;

const sending = fc.record({
  to: fc.constantFrom(...addresses),
  pattern: fc.constantFrom("tell", "ask", "offer"),
  /** What the interceptor does, once its delay is over. */
  does: fc.constantFrom("pass", "pass", "pass", "drop", "answer", "fail", "never"),
  /** In milliseconds; 0 is at once. */
  delay: fc.constantFrom(0, 0, 1, 5, 50),
  /** Time that passes before the next one is sent. */
  pause: fc.constantFrom(0, 0, 1, 10),
});

test("P1, P2, P6: whatever interceptors do and when, messages stay in order, asks settle, and the audit balances", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sending, { maxLength: 25 }), async (sendings) => {
      const clock = createManualClock();
      const router = createRouter({ clock, logger: recordIn([]), askTimeout: 30 });
      const seen = new Map<string, number[]>(addresses.map((to) => [to, []]));
      for (const to of addresses) {
        router.register(to, (message) => seen.get(to)?.push(Number(message.payload)));
      }
      router.use(async (_, next) => next());
      router.use((message, next) => {
        const sent = sendings[Number(message.payload)];
        if (sent === undefined) throw new Error("no such message");
        const act = (): Passage | Promise<Passage> => {
          if (sent.does === "pass") return next();
          if (sent.does === "fail") throw new Error("as it says");
          return sent.does === "drop" ? drop("as it says") : ok(undefined);
        };
        if (sent.does === "never") return new Promise(() => undefined);
        if (sent.delay === 0) return act();
        const later = Promise.withResolvers<void>();
        clock.setTimer(later.resolve, sent.delay);
        return later.promise.then<Passage>(act);
      });
      let waiting = 0;
      for (const [index, { to, pattern, pause }] of sendings.entries()) {
        const message = createMessage(to, "say", index);
        if (pattern === "tell") router.tell(message);
        else {
          waiting++;
          void router[pattern](message).then(() => waiting--);
        }
        expectBalance(router.audit());
        if (pause > 0) await clock.advance(pause);
        expectBalance(router.audit());
      }
      await clock.advance(2_000);
      expect(waiting).toBe(0);
      const { accepted, queued, running } = router.audit();
      expectBalance(router.audit());
      expect({ queued, running, timers: clock.timers }).toEqual({ queued: 0, running: 0, timers: 0 });
      expect(accepted).toBeGreaterThanOrEqual(sendings.length);
      for (const order of seen.values()) expect(order).toEqual(order.toSorted((a, b) => a - b));
    }),
    runs(100),
  );
});
