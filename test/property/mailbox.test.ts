import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Mail, Mailbox } from "../../src/runtime/mailbox";
import { runs } from "./runs";

class Letter implements Mail {
  next: Mail | null = null;
  constructor(readonly number: number) {}
}

test("P2: a mailbox is a queue: first in, first out, and it knows its size", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("put", "put", "take"), { maxLength: 200, size: "max" }), (operations) => {
      const mailbox = new Mailbox<Letter>();
      const model: number[] = [];
      operations.forEach((operation, number) => {
        if (operation === "put") {
          mailbox.put(new Letter(number));
          model.push(number);
        } else {
          expect(mailbox.take()?.number).toBe(model.shift() as number);
        }
        expect([...mailbox].length).toBe(model.length);
        expect(mailbox.isEmpty).toBe(model.length === 0);
      });
      for (const number of model) expect(mailbox.take()?.number).toBe(number);
      expect(mailbox.take()).toBeNull();
    }),
    runs(300),
  );
});

/** Enough of what comes first that the mailbox may be opened. */
const CROWD = 20;

type Step =
  | "put"
  | "add a"
  | "add b"
  | "add both"
  | "add c"
  | "take"
  | "take all"
  | "put first"
  | "close"
  | "remove"
  | "look";
const step = fc.constantFrom<Step>(
  "put",
  "add a",
  "add a",
  "add b",
  "add both",
  "add c",
  "take",
  "take all",
  "put first",
  "close",
  "remove",
  "look",
);
const steps = fc.array(fc.tuple(step, fc.integer({ min: 1, max: 150 })), { maxLength: 40, size: "max" });

/** The messages between two that are timed: none are, all are, some are. */
const gaps = fc.constantFrom(null, 0, 1, 7, 100);

class Note implements Mail {
  next: Mail | null = null;
  constructor(
    readonly type: string,
    readonly payload: unknown,
  ) {}
}

test("P1, P2: what was added without an envelope keeps its place among the others, and each is counted once", () => {
  fc.assert(
    fc.property(steps, gaps, (all, gap) => {
      const sampling = gap === null ? null : { interval: () => gap, now: () => 0 };
      const make = (type: string, payload: unknown): Note => new Note(type, payload);
      const mailbox = new Mailbox<Note>();
      const counts = { accepted: 0 };
      const model: { type: string; payload: unknown }[] = [];
      let put = 0;
      let sent = 0;
      let added = 0;
      const tell = (type: string): void => {
        const payload = sent++;
        model.push({ type, payload });
        if (mailbox.add(type, payload) || mailbox.append(type, payload, make, counts, false, sampling)) {
          added++;
          return;
        }
        put++;
        mailbox.put(new Note(type, payload));
      };
      const contents = (): unknown[] => [...mailbox].map(({ type, payload }) => ({ type, payload }));
      for (let i = 0; i < CROWD; i++) tell("a");
      for (const [each, count] of all) {
        for (let i = 0; i < count; i++) {
          if (each === "add a" || each === "add b" || each === "add c") tell(each.slice(-1));
          else if (each === "add both") tell(i % 2 === 0 ? "a" : "b");
          else if (each === "put") {
            const payload = sent++;
            model.push({ type: "put", payload });
            mailbox.put(new Note("put", payload));
          } else if (each === "take") {
            const note = mailbox.take();
            const wanted = model.shift();
            expect(note === null ? undefined : { type: note.type, payload: note.payload }).toEqual(wanted);
            expect(note?.next ?? null).toBeNull();
          }
        }
        if (each === "take all") while (mailbox.take() !== null) model.shift();
        else if (each === "close") mailbox.close();
        else if (each === "put first") {
          const payload = sent++;
          model.unshift({ type: "first", payload });
          mailbox.putFirst([new Note("first", payload)]);
        } else if (each === "remove") {
          const removed = mailbox.removeAll(({ payload }) => typeof payload === "number" && payload % 3 === 0);
          const isOut = (payload: unknown): boolean => typeof payload === "number" && payload % 3 === 0;
          expect(removed).toHaveLength(model.filter(({ payload }) => isOut(payload)).length);
          model.splice(0, model.length, ...model.filter(({ payload }) => !isOut(payload)));
        } else if (each === "look") expect(contents()).toEqual(model);
        expect(counts.accepted + mailbox.uncounted).toBe(added);
        if (mailbox.isEmpty) expect(model).toEqual([]);
      }
      expect(contents()).toEqual(model);
      expect(put).toBeGreaterThan(0);
    }),
    runs(300),
  );
});
