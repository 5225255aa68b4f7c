import { AsyncLocalStorage } from "node:async_hooks";
import type {
  Clock,
  DeadLetter,
  HandlingOutcome,
  Metadata,
  ObservedHandling,
  ObservedSending,
  OnEnd,
  Pattern,
  System,
} from "../index";
import { Mark, NOT_CHOSEN, UNWRITTEN } from "./mark";
import { Correspondents, Route } from "./routes";
import type { Sink, Values } from "./sink";

/** The parts of a capture. */
export interface CaptureParts {
  readonly system: System;
  readonly sink: Sink;
  readonly values: Values;
  /** True for the address of an actor whose messages are recorded, both those that it gets and those that it sends. */
  readonly isIncluded: (address: string) => boolean;
  /** True for a message that begins something and is to be recorded, with all that it causes. */
  readonly choose: (() => boolean) | null;
  /** The start of the recording, in milliseconds of the system's clock (`monotonicTime`). */
  readonly startedAt: number;
}

/** Observes a system, and writes a line for each message, each item of a stream and each end. */
export class Capture {
  /** The messages whose end is not written. */
  open = 0;
  readonly correspondents: Correspondents;
  readonly #system: System;
  readonly #clock: Clock;
  readonly #sink: Sink;
  readonly #values: Values;
  readonly #choose: CaptureParts["choose"];
  readonly #startedAt: number;
  /** One for each recording, so that several of one process do not mistake each other's. */
  readonly #key = Symbol("recorded");
  /** The marks of handlings whose message was handed on: it has the mark of the next handling by now. */
  readonly #handedOn = new WeakMap<ObservedHandling, Mark>();
  /** The mark of the message whose handler runs: for what it sends by a reference or a door, without its context. */
  readonly #handled = new AsyncLocalStorage<Mark>();
  #lastId = 0;
  #removers: (() => void)[] = [];

  constructor({ system, sink, values, isIncluded, choose, startedAt }: CaptureParts) {
    this.#system = system;
    this.#clock = system.clock;
    this.#sink = sink;
    this.#values = values;
    this.#choose = choose;
    this.#startedAt = startedAt;
    this.correspondents = new Correspondents(isIncluded);
  }

  begin(): void {
    this.#removers = [
      this.#system.onSend((sending) => this.#sent(sending)),
      this.#system.around((handling, run) => {
        const mark = this.#begun(handling);
        if (mark === undefined) run();
        else this.#handled.run(mark, run, this.#onEnd(mark, handling));
      }),
      this.#system.router.deadLetters.subscribe((letter) => this.#died(letter)),
    ];
  }

  /** Observes nothing any more. */
  end(): void {
    for (const remove of this.#removers.splice(0)) remove();
  }

  // ——— A message

  #sent(sending: ObservedSending): void {
    const { handling, metadata } = sending;
    // Metadata may be a copy of what came with the message that is handled, together with its mark.
    let by = (handling === undefined ? undefined : this.#markOfHandling(handling)) ?? this.#markOf(metadata);
    by ??= this.#markOfContext(sending);
    if (by === undefined && this.#choose !== null) by = this.#choose() ? UNWRITTEN : NOT_CHOSEN;
    if (by?.isSampled === false) {
      sending.mark(this.#key, NOT_CHOSEN);
      return;
    }
    const to = this.correspondents.of(sending.ref);
    const { sender } = sending;
    const from = sender === undefined ? undefined : this.correspondents.of(sender);
    if (!to.isIncluded && to.world === undefined && from?.isIncluded !== true) {
      if (by !== undefined) sending.mark(this.#key, by.unwritten);
      return;
    }
    const { pattern, isForwarded } = sending;
    const cause = by?.cause ?? 0;
    const route = to.route(sending.operation);
    let rest = this.#metadataText(metadata, route);
    if (from !== undefined) rest += `,"from":${from.text}`;
    if (cause !== 0) rest += `,"cause":${cause}`;
    else if (from === undefined) rest += limitText(sending.timeLeft);
    if (isForwarded) rest += ',"forwarded":true';
    if (sending.isFromOutside) rest += ',"door":true';
    rest += to.worldText;
    const id = this.#message(pattern, route, sending.payload, rest);
    if (isForwarded && handling !== undefined && by !== undefined) this.#handedOn.set(handling, by);
    if (id !== 0) sending.mark(this.#key, new Mark(id, id, true, route, pattern === "ask"));
    else sending.mark(this.#key, (by ?? UNWRITTEN).unwritten);
  }

  /** Writes the line of a message. Returns its id; 0 when the line was dropped. */
  #message(pattern: Pattern, route: Route, payload: unknown, rest: string): number {
    const id = this.#lastId + 1;
    const value = payload === undefined ? "" : `,"payload":${this.#values.text(payload, route.payload)}`;
    const line = `{"kind":"message","id":${id},"at":${this.#at()},"pattern":"${pattern}",${route.text}${value}${rest}}`;
    if (!this.#sink.append(line, true)) return 0;
    this.#lastId = id;
    this.open++;
    return id;
  }

  #metadataText(metadata: Metadata, route: Route): string {
    for (const _ in metadata) return `,"metadata":${this.#values.text(metadata, route.metadata)}`;
    return "";
  }

  // ——— Its end

  /** The mark that a handler runs with; undefined where it handles nothing that this recording knows of. */
  #begun(handling: ObservedHandling): Mark | undefined {
    try {
      const mark = this.#markOf(handling.metadata);
      const { kind } = handling;
      if (mark === undefined || mark.id === 0 || (kind !== "message" && kind !== "relay")) return mark;
      return this.#ownMark(mark, handling);
    } catch {
      return undefined; // A stranger's metadata may be a proxy that throws. The handler runs all the same.
    }
  }

  /** Writes what comes of a handling; undefined where no line tells that. */
  #onEnd(mark: Mark, handling: ObservedHandling): OnEnd | undefined {
    const { kind } = handling;
    if (mark.id === 0) return undefined;
    if (kind === "pull") return (outcome) => this.#pulled(mark, outcome);
    if (kind === "message" || kind === "relay") return (outcome) => this.#ended(mark, handling, outcome);
    return undefined;
  }

  /** A pool that broadcasts gives its message to several workers: each but the first has a line of its own, which the pool's message caused. */
  #ownMark(mark: Mark, handling: ObservedHandling): Mark {
    const { address } = handling;
    if (mark.holder === null || mark.holder === address) {
      mark.holder = address;
      return mark;
    }
    const to = this.correspondents.of(handling.ref);
    const route = to.routeBehind((mark.route as Route).address, handling.operation);
    const id = this.#message(handling.pattern, route, handling.payload, `,"cause":${mark.id}${to.worldText}`);
    const own = new Mark(id, id === 0 ? mark.id : id, true, route, mark.isAsk);
    own.holder = address;
    handling.metadata = { ...handling.metadata, [this.#key]: own };
    return own;
  }

  #ended(mark: Mark, handling: ObservedHandling, outcome: HandlingOutcome): void {
    const route = mark.route as Route; // A mark with an id has one.
    // A pool is at another address than its worker that handles the message.
    if (mark.id === 0 || mark.isOver) return;
    let by = handling.address === route.address ? "" : `,"by":${JSON.stringify(handling.address)}`;
    if (handling.kind === "relay") by += ',"carried":true';
    if (outcome.kind === "failed") {
      this.#end(mark, `"failed","error":${this.#values.text(outcome.error, route.error)}${by}`);
    } else if (outcome.kind === "handled") {
      const { result } = outcome;
      const value = mark.isAsk && result !== undefined ? `,"value":${this.#values.text(result, route.reply)}` : "";
      // A transport does not say whether its stream has ended or was left.
      const isLeft = handling.pattern === "stream" && handling.kind !== "relay" && !mark.isDone;
      this.#end(mark, `"handled"${value}${isLeft ? ',"reason":"left"' : ""}${by}`);
    } else if (outcome.kind === "stashed") {
      this.#line("end", mark.id, `"outcome":"stashed"${by}`); // It will be handled again.
    } else this.#end(mark, `"${outcome.kind}"${by}`);
  }

  #pulled(mark: Mark, outcome: HandlingOutcome): void {
    if (outcome.kind !== "handled") return; // The stream's own end says it.
    const step = outcome.result as Partial<IteratorResult<unknown>> | null | undefined;
    if (typeof step !== "object" || step === null) return;
    if (step.done === true) {
      mark.isDone = true;
      return;
    }
    const text = this.#values.text(step.value, (mark.route as Route).item); // A mark with an id has one.
    this.#line("item", mark.id, `"value":${text}`);
  }

  #died(letter: DeadLetter): void {
    const { reason, message } = letter;
    const mark = this.#markOf(message.metadata);
    const outcome = `"dead","reason":"${reason}"`;
    if (mark !== undefined) {
      if (mark.id !== 0 && !mark.isOver && reason !== "late-reply") this.#end(mark, outcome);
      return;
    }
    if (reason === "late-reply") return;
    this.#diedUnseen(letter, outcome);
  }

  /** Writes a message that died before it was sent: to an address where nobody is, or an ask that would have closed a circle. */
  #diedUnseen({ message, address, operation }: DeadLetter, outcome: string): void {
    const { isIncluded } = this.correspondents;
    const { from } = message;
    if (!isIncluded(address) && (from === undefined || !isIncluded(from))) return;
    if (this.#choose?.() === false) return;
    const route = new Route(address, undefined, operation);
    const sender = from === undefined ? "" : `,"from":${JSON.stringify(from)}`;
    const rest = `${this.#metadataText(message.metadata ?? {}, route)}${sender}`;
    const id = this.#message(message.pattern, route, message.payload, rest);
    if (id !== 0) this.#end(new Mark(id, id, true, route, false), outcome);
  }

  #end(mark: Mark, outcome: string): void {
    this.open--;
    mark.isOver = true;
    this.#line("end", mark.id, `"outcome":${outcome}`);
  }

  #line(kind: "item" | "end", of: number, rest: string): void {
    this.#sink.append(`{"kind":"${kind}","of":${of},"at":${this.#at()},${rest}}`, false);
  }

  // ——— Marks and times

  #markOf(metadata: Metadata | undefined): Mark | undefined {
    if (metadata === undefined || metadata === null) return undefined;
    const mark = (metadata as { readonly [key: symbol]: unknown })[this.#key]; // Their type has no symbols.
    return mark instanceof Mark ? mark : undefined;
  }

  #markOfHandling(handling: ObservedHandling): Mark | undefined {
    return this.#handedOn.get(handling) ?? this.#markOf(handling.metadata);
  }

  /** The mark of the handler in whose context something is sent. A door that a handler left open is one for strangers. */
  #markOfContext({ isFromOutside }: ObservedSending): Mark | undefined {
    const mark = this.#handled.getStore();
    return isFromOutside && mark?.isOver === true ? undefined : mark;
  }

  /** The time since the start, in milliseconds with three digits. */
  #at(): string {
    const microseconds = Math.max(0, Math.round((this.#clock.monotonicTime() - this.#startedAt) * 1000));
    const rest = microseconds % 1000;
    const whole = (microseconds - rest) / 1000;
    return rest === 0 ? `${whole}` : `${whole}${THOUSANDTHS[rest]}`;
  }
}

/** The limit of a message that a replay sends; others get theirs from the code that is replayed. */
const limitText = (timeLeft: number): string =>
  timeLeft === Number.POSITIVE_INFINITY ? "" : `,"timeLeft":${Math.round(timeLeft * 1000) / 1000}`;

/** ".000" to ".999": `toFixed` takes four times as long. */
const THOUSANDTHS: readonly string[] = Array.from({ length: 1000 }, (_, rest) => (rest / 1000).toFixed(3).slice(1));
