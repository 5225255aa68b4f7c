import { expect, test } from "bun:test";
import fc from "fast-check";
import { OVERFLOWS } from "../../src/actor/options";
import {
  createSystem,
  type DeadLetter,
  type DeliveryError,
  defineProtocol,
  type Overflow,
  type Result,
  Type,
} from "../../src/index";
import { createManualClock } from "../../src/testing/index";
import { runs } from "./runs";

const Work = defineProtocol("work", { work: { payload: Type.Number(), reply: Type.Number() } });

type Way = "tell" | "ask" | "offer";
interface Sent {
  readonly number: number;
  readonly way: Way;
  isGivenUp: boolean;
}

/** A bounded mailbox in front of an actor that handles one message at a time, as the table of Overflow has it. */
class Model {
  readonly begun: number[] = [];
  readonly dead: string[] = [];
  readonly told = new Map<number, string>();
  readonly #capacity: number;
  readonly #overflow: Overflow;
  #running: Sent | null = null;
  #queue: Sent[] = [];
  #waiting: Sent[] = [];
  #accepted = 0;
  #handled = 0;

  constructor(capacity: number, overflow: Overflow) {
    this.#capacity = capacity;
    this.#overflow = overflow;
  }

  get audit() {
    return {
      accepted: this.#accepted,
      handled: this.#handled,
      failed: 0,
      dead: this.dead.length,
      queued: this.#queue.length + this.#waiting.length,
      running: this.#running === null ? 0 : 1,
    };
  }

  send(number: number, way: Way): void {
    const sent = { number, way, isGivenUp: false };
    this.#accepted++;
    if (this.#queue.length >= this.#capacity) this.#sweep();
    if (this.#queue.length < this.#capacity) this.#enter(sent);
    else if (this.#overflow === "wait" && way !== "tell") this.#waiting.push(sent);
    else if (this.#overflow === "drop-oldest") {
      const oldest = this.#queue.shift();
      if (oldest !== undefined) this.#bury(oldest, "mailbox-full");
      this.#enter(sent);
    } else this.#bury(sent, "mailbox-full");
  }

  giveUp(number: number): void {
    if (this.#tell(number, "cancelled") === false) return;
    const waiting = this.#waiting.find((sent) => sent.number === number);
    if (waiting !== undefined) {
      this.#waiting = this.#waiting.filter((sent) => sent !== waiting);
      this.#bury(waiting, "cancelled");
    }
    const queued = this.#queue.find((sent) => sent.number === number);
    if (queued !== undefined) queued.isGivenUp = true;
  }

  /** What happens by itself. */
  settle(): void {
    this.#handleNext();
    if (this.#waiting.length === 0) return;
    this.#sweep(); // Whoever still waits then gets the places of those that were given up.
    this.#handleNext();
  }

  #handleNext(): void {
    while (this.#running === null) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#refill();
      if (next.isGivenUp) {
        this.#bury(next, "cancelled");
        continue;
      }
      this.#running = next;
      this.begun.push(next.number);
    }
  }

  /** The running handler ends. */
  end(): void {
    const ended = this.#running;
    if (ended === null) return;
    this.#running = null;
    this.#handled++;
    if (ended.way === "ask" && this.#tell(ended.number, "ok") === false) {
      this.#accepted++;
      this.dead.push(`${ended.number} late-reply`);
    }
  }

  get pending(): number[] {
    return [...this.#queue, ...this.#waiting].map(({ number }) => number);
  }

  #enter(sent: Sent): void {
    this.#queue.push(sent);
    if (sent.way === "offer") this.#tell(sent.number, "ok");
  }

  #refill(): void {
    while (this.#queue.length < this.#capacity) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#enter(next);
    }
  }

  #sweep(): void {
    for (const gone of this.#queue.filter((sent) => sent.isGivenUp)) this.#bury(gone, "cancelled");
    this.#queue = this.#queue.filter((sent) => !sent.isGivenUp);
    this.#refill();
  }

  #bury(sent: Sent, reason: string): void {
    this.dead.push(`${sent.number} ${reason}`);
    if (sent.way !== "tell") this.#tell(sent.number, reason);
  }

  #tell(number: number, what: string): boolean {
    if (this.told.has(number)) return false;
    this.told.set(number, what);
    return true;
  }
}

const steps = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ do: "send" as const, way: "tell" as Way }) },
  { weight: 4, arbitrary: fc.constantFrom<Way>("ask", "offer").map((way) => ({ do: "send" as const, way })) },
  { weight: 2, arbitrary: fc.nat(20).map((back) => ({ do: "give up" as const, back })) },
  { weight: 2, arbitrary: fc.constant({ do: "end" as const }) },
  { weight: 3, arbitrary: fc.constant({ do: "settle" as const }) },
);

for (const overflow of OVERFLOWS) {
  test(`P1 and P11: a bounded mailbox with ${overflow} is the table of Overflow, whatever comes`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(steps, { maxLength: 60, size: "max" }),
        async (capacity, program) => {
          const clock = createManualClock();
          const system = createSystem({ clock, logger: { warn: () => undefined, error: () => undefined } });
          const model = new Model(capacity, overflow);
          const begun: number[] = [];
          const dead: DeadLetter[] = [];
          const told = new Map<number, string>();
          const stops: AbortController[] = [];
          let end: () => void = () => undefined;
          system.router.deadLetters.subscribe((letter) => dead.push(letter));
          const ref = system.spawn(
            "worker",
            Work,
            () => ({
              async work(number) {
                begun.push(number);
                await new Promise<void>((resolve) => {
                  end = resolve;
                });
                return number;
              },
            }),
            { capacity, overflow },
          );
          const note = (number: number, result: Promise<Result<unknown, DeliveryError>>): void => {
            void result.then((it) => told.set(number, it.isOk() ? "ok" : it.error.kind));
          };
          const settle = async (): Promise<void> => {
            await clock.settle();
            model.settle();
          };
          for (const step of program) {
            const number = stops.length;
            switch (step.do) {
              case "send": {
                const stop = new AbortController();
                stops.push(stop);
                if (step.way === "tell") ref.tell("work", number);
                else note(number, ref[step.way]("work", number, { signal: stop.signal, timeout: 1_000 }));
                model.send(number, step.way);
                break;
              }
              case "give up": {
                const which = stops.length - 1 - step.back;
                if (which < 0) break;
                stops[which]?.abort();
                // Nothing tells of a tell's signal: the model knows it by the way.
                if (!isTell(program, which)) model.giveUp(which);
                break;
              }
              case "end":
                await settle(); // A handler begins before it ends.
                end();
                model.end();
                await settle();
                break;
              case "settle":
                await settle();
                break;
            }
            expect(system.router.audit()).toEqual(model.audit);
            expect(system.inspect()[0]?.queued).toBe(model.pending.length);
          }
          for (;;) {
            await settle();
            if (model.audit.running === 0) break;
            end();
            model.end();
          }
          expect(begun).toEqual(model.begun);
          expect(told).toEqual(model.told);
          const reasons = dead.map(({ message, reason }) => `${message.payload} ${reason}`);
          expect(reasons.toSorted()).toEqual(model.dead.toSorted());
          expect(system.router.audit()).toEqual(model.audit);
          await clock.advance(1_000); // The log's window.
          expect(clock.timers).toBe(0);
        },
      ),
      runs(60),
    );
  });
}

function isTell(program: readonly { readonly do: string; readonly way?: Way }[], number: number): boolean {
  return program.filter((step) => step.do === "send")[number]?.way === "tell";
}
