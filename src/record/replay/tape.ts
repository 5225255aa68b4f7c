import type { EndLine, HeaderLine, MessageLine, RecordingLine } from "../format";

/** A part of a recorded message: the place of its line among all lines, and the time. */
export interface Moment {
  /** Lines with a lower index were written earlier. */
  readonly index: number;
  /** In milliseconds since the recording began. */
  readonly at: number;
}

/** An item of a recorded stream. */
export interface RecordedItem extends Moment {
  readonly value: unknown;
}

/** The end of a recorded message. */
export interface RecordedEnd extends Moment {
  readonly line: EndLine;
}

/** A message of a recording, with all that came of it. Payloads, items and replies are in the form of the file. */
export interface RecordedMessage extends Moment {
  readonly line: MessageLine;
  /**
   * `outside`: it came from outside, and a replay sends it. `world`: it went to an actor outside, and a replay answers it. `inside`: the
   * replayed system sends it itself. `elsewhere`: it went from outside to an actor outside, or to a part of one.
   */
  readonly role: "outside" | "world" | "inside" | "elsewhere";
  /** The message from outside that led to it: itself, where it came from outside. Undefined where the recording does not know. */
  readonly origin: RecordedMessage | undefined;
  readonly items: readonly RecordedItem[];
  /** Undefined when the recording ends before the message does. */
  readonly end: RecordedEnd | undefined;
}

/** A step of a recording, in the order of its lines. */
export type Step = Moment & { readonly kind: "message" | "item" | "end"; readonly message: RecordedMessage };

interface Growing extends RecordedMessage {
  origin: RecordedMessage | undefined;
  readonly items: RecordedItem[];
  end: RecordedEnd | undefined;
}

/** A recording that was read, with its messages in order. */
export class Tape {
  /** Names it in errors: its path. */
  readonly name: string;
  readonly header: HeaderLine;
  readonly steps: readonly Step[];
  /** All messages by their ids. */
  readonly messages: ReadonlyMap<number, RecordedMessage>;
  /** The faults of the recording: a torn line, messages that were dropped. */
  readonly notes: readonly string[];
  readonly #forwarded: ReadonlyMap<number, readonly RecordedMessage[]>;

  /** @throws Error when the lines have no header. */
  constructor(name: string, lines: Iterable<RecordingLine>, notes: readonly string[] = []) {
    const found = [...notes];
    const steps: Step[] = [];
    const messages = new Map<number, Growing>();
    const caused = new Map<number, RecordedMessage[]>();
    let header: HeaderLine | undefined;
    let index = 0;
    let last = 0;
    let strays = 0;
    for (const line of lines) {
      index++;
      if (line.kind === "header") {
        header ??= line;
        continue;
      }
      last = Math.max(last, line.at); // Time does not go back.
      const moment = { index, at: last };
      if (line.kind === "dropped") found.push(`${line.lines} lines with ${line.messages} messages were dropped.`);
      else if (line.kind === "message") {
        if (messages.has(line.id)) {
          strays++;
          continue;
        }
        const cause = line.cause === undefined ? undefined : messages.get(line.cause);
        const role = roleOf(line, cause);
        const message: Growing = { ...moment, line, role, origin: cause?.origin, items: [], end: undefined };
        if (role === "outside") message.origin = message;
        messages.set(line.id, message);
        steps.push({ ...moment, kind: "message", message });
        if (line.cause !== undefined) {
          const group = caused.get(line.cause);
          if (group === undefined) caused.set(line.cause, [message]);
          else group.push(message);
        }
      } else if (line.kind === "item" || line.kind === "end") {
        const message = messages.get(line.of);
        const isLate = message?.end !== undefined && message.end.line.outcome !== "stashed";
        if (message === undefined || isLate) {
          strays++;
          continue;
        }
        if (line.kind === "item") message.items.push({ ...moment, value: line.value });
        else message.end = { ...moment, line };
        steps.push({ ...moment, kind: line.kind, message });
      }
    }
    if (header === undefined)
      throw new Error(`${name} has no header, so it is no recording: make one with recorder().`);
    if (strays > 0) found.push(`${strays} lines belong to no message that is recorded, or to one that was over.`);
    this.name = name;
    this.header = header;
    this.steps = steps;
    this.messages = messages;
    this.notes = found;
    this.#forwarded = caused;
  }

  /** The wall time at the beginning, in milliseconds since 1970. */
  get startedAt(): number {
    const time = Date.parse(this.header.startedAt);
    return Number.isFinite(time) ? time : 0;
  }

  /** The messages that came from outside, in order: those that a replay sends. */
  get fromOutside(): RecordedMessage[] {
    return [...this.messages.values()].filter(({ role }) => role === "outside");
  }

  /** The messages that the world answered, in order. */
  get toWorld(): RecordedMessage[] {
    return [...this.messages.values()].filter(({ role }) => role === "world");
  }

  /** The asks and streams of the world that have no answer: most were under way when the recording ended. */
  get unanswered(): RecordedMessage[] {
    return this.toWorld.filter((message) => message.line.pattern !== "tell" && !isAnswered(this.answeredBy(message)));
  }

  /** The message that a message became by forwarding: the one whose end is the answer. Undefined when it was not recorded. */
  answeredBy(message: RecordedMessage): RecordedMessage | undefined {
    const seen = new Set<RecordedMessage>();
    let at: RecordedMessage | undefined = message;
    while (at?.end?.line.outcome === "forwarded" && !seen.has(at)) {
      seen.add(at);
      at = this.#forwardOf(at);
    }
    return at !== undefined && seen.has(at) ? undefined : at;
  }

  #forwardOf({ line, end }: RecordedMessage): RecordedMessage | undefined {
    return this.#forwarded
      .get(line.id)
      ?.findLast(
        (each) =>
          each.line.forwarded === true &&
          each.line.operation === line.operation &&
          (end === undefined || each.index < end.index),
      );
  }
}

/** True for a message whose sender got an answer, or an error. */
export function isAnswered(message: RecordedMessage | undefined): boolean {
  const outcome = message?.end?.line.outcome;
  return outcome === "handled" || outcome === "failed" || outcome === "dead";
}

/** Tells of calls of actors outside that a replay cannot answer. */
export function unansweredOf(messages: readonly RecordedMessage[]): string {
  const ids = messages.slice(0, MOST_IDS).map(({ line }) => line.id);
  const more = messages.length > ids.length ? ", …" : "";
  const [calls, they] = messages.length === 1 ? ["call of an actor", "it"] : ["calls of actors", "they"];
  const [which, have] = messages.length === 1 ? ["message", "has"] : ["messages", "have"];
  return `${messages.length} ${calls} outside ${have} no end in the recording, so ${they} got no answer: ${which} ${ids.join(", ")}${more}.`;
}

/** Most ids that a sentence lists. */
const MOST_IDS = 10;

/** The role of a message in a replay, by the message whose handler sent it. */
function roleOf(line: MessageLine, cause: RecordedMessage | undefined): RecordedMessage["role"] {
  const isSentByWorld = cause?.role === "world" || cause?.role === "elsewhere";
  const isFromOutside = line.from === undefined && line.cause === undefined;
  if (line.world === true) return isSentByWorld ? "elsewhere" : "world";
  if (!isSentByWorld && !isFromOutside) return "inside";
  // The function that makes an actor outside is not called: what it makes is not there.
  return line.within === undefined ? "outside" : "elsewhere";
}
