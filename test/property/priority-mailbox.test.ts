import { expect, test } from "bun:test";
import fc from "fast-check";
import { PriorityMailbox } from "../../src/runtime/priority-mailbox";
import { runs } from "./runs";

interface Letter {
  readonly number: number;
  /** Null of a signal. */
  readonly urgency: number | null;
}

/** A list that is kept sorted: what comes goes behind all that are at least as urgent. */
class SortedModel {
  readonly entries: { readonly letter: Letter; readonly priority: number }[] = [];

  put(letter: Letter): void {
    const priority = letter.urgency ?? Math.min(...this.entries.map((entry) => entry.priority));
    const index = this.entries.findIndex((entry) => entry.priority < priority);
    this.entries.splice(index < 0 ? this.entries.length : index, 0, { letter, priority });
  }

  putFirst(letters: readonly Letter[]): void {
    this.entries.unshift(...letters.map((letter) => ({ letter, priority: Number.POSITIVE_INFINITY })));
  }

  take(): Letter | null {
    return this.entries.shift()?.letter ?? null;
  }

  remove(letter: Letter): void {
    this.entries.splice(
      this.entries.findIndex((entry) => entry.letter === letter),
      1,
    );
  }

  /** The first of the last block of equals among those that may be taken. */
  takeOldest(mayBe: (letter: Letter) => boolean): Letter | null {
    const candidates = this.entries.filter(({ letter }) => mayBe(letter));
    const lowest = candidates.at(-1)?.priority;
    const found = candidates.find(({ priority }) => priority === lowest)?.letter ?? null;
    if (found !== null) this.remove(found);
    return found;
  }
}

const urgencies = fc.constantFrom(0, 1, 1, 2, -1, 0.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null);
const steps = fc.oneof(
  { weight: 6, arbitrary: urgencies.map((urgency) => ({ do: "put" as const, urgency })) },
  { weight: 4, arbitrary: fc.constant({ do: "take" as const }) },
  { weight: 1, arbitrary: fc.array(urgencies, { maxLength: 3 }).map((first) => ({ do: "putFirst" as const, first })) },
  { weight: 1, arbitrary: fc.constant({ do: "takeOldest" as const }) },
  { weight: 1, arbitrary: fc.integer({ min: 2, max: 5 }).map((by) => ({ do: "removeAll" as const, by })) },
);

test("P2: a priority mailbox is a stably sorted list", () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 150, size: "max" }), (program) => {
      const mailbox = new PriorityMailbox<Letter>((letter) => letter.urgency);
      const model = new SortedModel();
      let number = 0;
      const make = (urgency: number | null): Letter => ({ number: number++, urgency });
      const isMessage = (letter: Letter): boolean => letter.urgency !== null;
      for (const step of program) {
        switch (step.do) {
          case "put": {
            const letter = make(step.urgency);
            mailbox.put(letter);
            model.put(letter);
            break;
          }
          case "take":
            expect(mailbox.take()).toBe(model.take());
            break;
          case "putFirst": {
            const letters = step.first.map(make);
            mailbox.putFirst(letters);
            model.putFirst(letters);
            break;
          }
          case "takeOldest":
            expect(mailbox.takeOldest(isMessage)).toBe(model.takeOldest(isMessage));
            break;
          case "removeAll": {
            const isOut = (letter: Letter): boolean => letter.number % step.by === 0;
            const removed = mailbox.removeAll(isOut);
            const expected = model.entries.map(({ letter }) => letter).filter(isOut);
            expect(new Set(removed)).toEqual(new Set(expected));
            for (const letter of expected) model.remove(letter);
            break;
          }
        }
        expect(mailbox.isEmpty).toBe(model.entries.length === 0);
        expect([...mailbox]).toHaveLength(model.entries.length);
      }
      while (model.entries.length > 0) expect(mailbox.take()).toBe(model.take());
      expect(mailbox.take()).toBeNull();
    }),
    runs(300),
  );
});
