import { type Address, operationsOf, type Pattern, quote, type System } from "../../index";
import type { Codec } from "./codec";
import { compareValues, type Ignored, ignoredPath } from "./compare";
import { type Deviation, noteOf } from "./deviation";
import type { Outcome, Sent } from "./sent";
import type { RecordedMessage, Tape } from "./tape";

/** A recorded value and the one of the replay, which a comparison function looks at. */
export interface Pair {
  readonly part: "reply" | "item" | "error";
  /** The index of an item, from 0; undefined for a reply or an error. */
  readonly index: number | undefined;
  readonly to: Address;
  readonly operation: string;
  readonly pattern: Pattern;
  /** Values that were redacted, or written by size and hash, are what stands for them in the file. */
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** Compares two values: true when they count as the same, or a sentence that says why not; false says no more. */
export type Comparison = (pair: Pair) => boolean | string;

export interface JudgeOptions {
  readonly compare: "exact" | "schema" | Comparison;
  readonly ignore: readonly string[];
}

/** Compares what came of each message with the recording. */
export class Judge {
  readonly deviations: Deviation[] = [];
  /** The number of messages that were compared. */
  compared = 0;
  /** The number of values that nobody can compare, since they are redacted. */
  unreadable = 0;
  readonly #tape: Tape;
  readonly #codec: Codec;
  readonly #compare: JudgeOptions["compare"];
  readonly #ignored: readonly Ignored[];

  constructor(tape: Tape, codec: Codec, { compare, ignore }: JudgeOptions) {
    this.#tape = tape;
    this.#codec = codec;
    this.#compare = compare;
    this.#ignored = ignore.map(ignoredPath);
  }

  /** Judges a message that was sent again, once the replay is over. */
  judge(sent: Sent, system: System): void {
    const answered = this.#tape.answeredBy(sent.recorded);
    if (answered?.end === undefined) return; // The recording does not know how it ended.
    const message = noteOf(sent.recorded);
    const recorded: Outcome = answered.end.line;
    const { outcome: replayed } = sent;
    this.compared++;
    this.#judgeItems(sent, answered, system);
    if (replayed === undefined) {
      if (recorded.outcome === "abandoned") return;
      this.deviations.push({ kind: "never", message });
      return;
    }
    if (recorded.outcome !== replayed.outcome || reasonOf(recorded) !== reasonOf(replayed)) {
      // A stream that was left when it was recorded, is left.
      const isSame = recorded.outcome === replayed.outcome && recorded.reason === "left";
      if (!isSame) this.deviations.push({ kind: "outcome", message, recorded, replayed });
    } else if (replayed.outcome === "failed") this.#judgeError(sent, recorded, replayed);
    else if (recorded.outcome === "handled") {
      this.#judgeValue(sent, "reply", undefined, recorded.value, replayed.value, system);
    }
  }

  /** Finds the messages that ended behind others to the same actor which they were before. */
  judgeOrder(all: readonly Sent[]): void {
    if (this.#ignored.some((path) => path[0] === "order")) return;
    for (const group of Map.groupBy(all, ({ recorded }) => recorded.line.to).values()) {
      // The moment of a dead letter is that at which it is noticed.
      const ended = group.filter(({ outcome, recorded: { end } }) =>
        [outcome, end?.line].every((each) => each !== undefined && each.outcome !== "dead"),
      );
      ended.sort((a, b) => (a.recorded.end?.index ?? 0) - (b.recorded.end?.index ?? 0));
      let last: Sent | undefined;
      for (const sent of ended) {
        if (last === undefined || sent.place > last.place) last = sent;
        else if (!isByMachine(last, sent))
          this.deviations.push({ kind: "order", message: noteOf(last.recorded), behind: noteOf(sent.recorded) });
      }
    }
  }

  #judgeItems(sent: Sent, { items, end }: RecordedMessage, system: System): void {
    const isLeft = end?.line.reason === "left"; // Its producer may have been ahead of the reader.
    const count = Math.min(items.length, sent.items.length);
    for (let index = 0; index < count; index++) {
      this.#judgeValue(sent, "item", index, items[index]?.value, sent.items[index], system);
    }
    const counts = { message: noteOf(sent.recorded), recorded: items.length, replayed: sent.items.length };
    if (sent.items.length > count && !isLeft) {
      this.deviations.push({ kind: "extra-items", ...counts, items: sent.items.slice(count) });
    } else if (items.length > count) {
      const missing = items.slice(count).map(({ value }) => value);
      this.deviations.push({ kind: "missing-items", ...counts, items: missing });
    }
  }

  #judgeError(sent: Sent, { error: recorded }: Outcome, { error: replayed }: Outcome): void {
    if (this.#compare !== "schema") {
      this.#judgeValue(sent, "error", undefined, recorded, replayed, undefined);
      return;
    }
    // No schema says what an error is: its class and its kind are enough.
    const [a, b] = [recorded, replayed].map((error) => ({ name: error?.name, kind: error?.kind }));
    this.#add(sent, "error", undefined, compareValues(a, b, "error", this.#ignored, this.#codec.sharesKey));
  }

  #judgeValue(
    sent: Sent,
    part: Pair["part"],
    index: number | undefined,
    recorded: unknown,
    replayed: unknown,
    system: System | undefined,
  ): void {
    if (typeof this.#compare === "function") this.#judgeBy(this.#compare, sent, part, index, recorded, replayed);
    else if (this.#compare === "schema" && system !== undefined)
      this.#judgeBySchema(sent, part, index, replayed, system);
    else {
      this.#add(sent, part, index, compareValues(recorded, replayed, part, this.#ignored, this.#codec.sharesKey));
    }
  }

  #judgeBy(
    compare: Comparison,
    { recorded: message }: Sent,
    part: Pair["part"],
    index: number | undefined,
    recorded: unknown,
    replayed: unknown,
  ): void {
    const { to, operation, pattern } = message.line;
    const [a, b] = [this.#codec.read(recorded), this.#codec.read(replayed)];
    // The address was one when the message was sent.
    const said = sayOf(() => compare({ part, index, to: to as Address, operation, pattern, recorded: a, replayed: b }));
    if (said === true) return;
    const why = typeof said === "string" ? said : undefined;
    const { differences } = compareValues(recorded, replayed, part, [], this.#codec.sharesKey);
    this.deviations.push({ kind: "value", message: noteOf(message), part, index, differences, why });
  }

  #judgeBySchema(
    { recorded: { line }, recorded: message }: Sent,
    part: Pair["part"],
    index: number | undefined,
    replayed: unknown,
    system: System,
  ): void {
    const operation = operationAt(system, line.to, line.operation);
    if (operation === undefined || (part === "reply" && line.pattern !== "ask")) return;
    const parsed = (part === "item" ? operation.item : operation.reply).parse(this.#codec.read(replayed));
    if (parsed.isOk()) return;
    const issues = parsed.error().map((issue) => `${part}${issue.path} ${issue.message}`);
    const why = `it does not fit the protocol: ${issues.join("; ")}`;
    this.deviations.push({ kind: "value", message: noteOf(message), part, index, differences: [], why });
  }

  #add(
    { recorded }: Sent,
    part: Pair["part"],
    index: number | undefined,
    found: ReturnType<typeof compareValues>,
  ): void {
    const { differences, unreadable } = found;
    this.unreadable += unreadable;
    if (differences.length === 0) return;
    this.deviations.push({ kind: "value", message: noteOf(recorded), part, index, differences, why: undefined });
  }
}

/** The verdict of a comparison. One that throws, or gives something else, fails its pair and not the whole report. */
function sayOf(compare: () => unknown): boolean | string {
  try {
    const said = compare();
    if (typeof said === "boolean" || typeof said === "string") return said;
    return `the comparison function gives true, false or a sentence, at once; it gave ${quote(said)}`;
  } catch (error) {
    return `the comparison function threw ${String(error)}`;
  }
}

/** The reason of an end. Whether an actor has stopped or is not there, only a reference to it from its lifetime knows. */
const reasonOf = ({ reason }: Outcome): string | undefined => (reason === "stopped" ? "no-recipient" : reason);

/** Milliseconds by which timers of a machine may overtake each other. */
const JITTER = 5;

/** True when timers of the machine may have ended two messages in the recorded order, and exact ones ended them in the other. */
const isByMachine = (first: Sent, second: Sent): boolean =>
  first.endedAt > second.endedAt &&
  first.endedAt - second.endedAt <= JITTER &&
  Math.abs((second.recorded.end?.at ?? 0) - (first.recorded.end?.at ?? 0)) <= JITTER;

function operationAt(system: System, to: string, name: string) {
  for (const { ref } of system.actors()) if (ref.address === to) return operationsOf(ref)?.[name];
  return undefined;
}
