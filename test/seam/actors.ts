import type { RefTo, System } from "../../src/index";
import { deliveryOf } from "../../src/nats/index";
import { type Log, Narrow, Subject } from "./protocols";

/** The actors far away, wherever that is. */
export function start(system: System, log: RefTo<typeof Log>) {
  const subject = system.spawn(
    "subject",
    Subject,
    (ctx) => {
      const noted: string[] = [];
      return {
        note: (text) => void noted.push(text),
        echo: (text) => text,
        wait(text) {
          log.tell("note", text);
          return new Promise((_, reject) => ctx.onAbort(() => reject(ctx.signal.reason)));
        },
        pay(text) {
          if (deliveryOf(ctx.metadata)?.mayRepeat === true) return void noted.push(text);
          log.tell("note", "paying");
          return new Promise<void>(() => undefined);
        },
        async *items() {
          yield 1;
          await new Promise((_, reject) => ctx.onAbort(() => reject(ctx.signal.reason)));
        },
        noted: () => noted,
        stop: () => void system.stop(ctx.self),
        end: () => process.exit(7),
      };
    },
    { concurrency: 10 },
  );
  const narrow = system.spawn(
    "narrow",
    Narrow,
    () => ({
      take(text) {
        log.tell("note", text);
        return new Promise<void>(() => undefined);
      },
    }),
    { capacity: 1, overflow: "wait" },
  );
  return { subject, narrow };
}
