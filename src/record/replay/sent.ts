import {
  type AskResult,
  type HandlingOutcome,
  isDeliveryError,
  type Metadata,
  type ObservedHandling,
  StreamError,
  type System,
} from "../../index";
import type { EndLine } from "../format";
import type { Place } from "../transforms/transform";
import type { Codec } from "./codec";
import { errorFrom } from "./errors";
import type { RecordedMessage } from "./tape";

/** The end of a replayed message, in the form of the file. */
export type Outcome = Pick<EndLine, "outcome" | "value" | "error" | "reason">;

/** Travels in the metadata of a message that is sent again. */
const MARK = Symbol("replayed");

/** The shortest limit, in milliseconds: a message without any time left is given up at once. */
const SHORTEST = 0.001;

/** Counts the ends of all messages of one replay. */
export interface Ends {
  count: number;
  /** The time of the replay, in milliseconds since the recording began. */
  readonly now: () => number;
}

/** A message that was sent again, and what has come of it so far. */
export class Sent {
  readonly recorded: RecordedMessage;
  /** The items that its actor has produced. */
  readonly items: unknown[] = [];
  /** Undefined until it has ended. */
  outcome: Outcome | undefined;
  /** The number of messages that had ended before this one. */
  place = 0;
  /** The time of the replay at its end. */
  endedAt = 0;
  /** True once a handler or a transport has it: then its own end counts, and not what its sender was told. */
  isBegun = false;
  /** Set for one whose sender gave it up by a signal. */
  readonly canceller: AbortController | undefined;
  readonly #codec: Codec;
  readonly #ends: Ends;

  constructor(recorded: RecordedMessage, codec: Codec, ends: Ends) {
    this.recorded = recorded;
    this.#codec = codec;
    this.#ends = ends;
    const isCancelled = recorded.end?.line.reason === "cancelled" || isCancelledWhileHandled(recorded);
    this.canceller = isCancelled && recorded.line.pattern !== "tell" ? new AbortController() : undefined;
  }

  /** Its sender gives it up while it is handled, where it did so when it was recorded. */
  cancel(): void {
    const message = String(this.recorded.end?.line.error?.message);
    const [, name = "Error", text = ""] = /by its signal: ([\w$.]+): (.*)/s.exec(message) ?? []; // The sentence alone has the reason.
    this.canceller?.abort(errorFrom({ name, message: text }));
  }

  /** The milliseconds after which its sender gives it up; Infinity where nothing is known. */
  get limit(): number {
    const { at, line, end } = this.recorded;
    const { timeLeft = end?.line.reason === "timeout" ? end.at - at : Number.POSITIVE_INFINITY } = line;
    return Math.max(timeLeft, SHORTEST);
  }

  /** Metadata by which the observers of the system know the message. */
  marked(metadata: Metadata): Metadata {
    return { ...metadata, [MARK]: this };
  }

  ended(outcome: Outcome): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    this.place = this.#ends.count++;
    this.endedAt = this.#ends.now();
  }

  handled(outcome: HandlingOutcome): void {
    const { pattern } = this.recorded.line;
    if (outcome.kind === "failed") this.failed(outcome.error);
    else if (outcome.kind === "abandoned") this.ended({ outcome: "abandoned" });
    else if (outcome.kind === "sent") this.ended({ outcome: "sent" });
    else if (outcome.kind === "handled") {
      const { result } = outcome;
      const hasReply = pattern === "ask" && result !== undefined;
      this.ended({ outcome: "handled", ...(hasReply && { value: this.#write(result, "reply") }) });
    } // One that was forwarded or stashed goes on.
  }

  failed(error: unknown): void {
    const written = this.#write(error, "error");
    // It is written as an error, whatever was thrown.
    this.ended({ outcome: "failed", error: written as NonNullable<Outcome["error"]> });
  }

  pulled(outcome: HandlingOutcome): void {
    if (outcome.kind !== "handled") return;
    const step = outcome.result as Partial<IteratorResult<unknown>> | null | undefined; // An iterator may give anything.
    if (typeof step === "object" && step !== null && step.done !== true) this.produced(step.value);
  }

  produced(item: unknown): void {
    this.items.push(this.#write(item, "item"));
  }

  /** The result that its sender got. It counts where no handler was observed: the message died, or left by a transport. */
  answered(result: AskResult): void {
    if (this.isBegun) return;
    if (result.isOk()) this.handled({ kind: "handled", result: result.value });
    else this.refused(result.error);
  }

  /** The error that its sender got. */
  refused(thrown: unknown): void {
    if (this.isBegun) return;
    const error = thrown instanceof StreamError ? thrown.error : thrown;
    if (!isDeliveryError(error)) this.failed(error);
    else if (error.kind === "handler-failed") this.failed(error.cause);
    else if (error.kind === "timeout" || error.kind === "cancelled")
      return; // Its dead letter comes when its turn does.
    else this.ended({ outcome: "dead", reason: error.kind });
  }

  #write(value: unknown, part: Place["part"]): unknown {
    const { to, operation } = this.recorded.line;
    return this.#codec.write(value, { address: to, operation, part });
  }
}

/** True where the handler ended by the cancellation of its own message. It may also fail by that of another one, which it sent. */
function isCancelledWhileHandled({ line, end }: RecordedMessage): boolean {
  const { kind, address, operation }: Readonly<Record<string, unknown>> = { ...end?.line.error };
  return kind === "cancelled" && address === line.to && operation === line.operation;
}

/** The message that was sent again with this metadata. Undefined for any other one. */
export const sentIn = (metadata: Metadata | undefined): Sent | undefined => {
  const mark: unknown = metadata === undefined ? undefined : Reflect.get(metadata, MARK);
  return mark instanceof Sent ? mark : undefined;
};

/** Watches what becomes of the messages that are sent again. */
export function watch(system: System): void {
  system.onSend((sending) => {
    const { handling, isForwarded, metadata } = sending;
    if (handling === undefined || isForwarded || sentIn(metadata) === undefined) return;
    sending.metadata = { ...metadata, [MARK]: undefined }; // A handler gave all of its own metadata to what it sends.
  });
  system.around((handling: ObservedHandling, run) => {
    const sent = sentIn(handling.metadata);
    if (sent === undefined) run();
    else if (handling.kind === "message" || handling.kind === "relay") {
      sent.isBegun = true;
      run((outcome) => sent.handled(outcome));
    } else if (handling.kind === "pull") run((outcome) => sent.pulled(outcome));
    else run();
  });
  system.router.deadLetters.subscribe(({ message, reason }) => {
    if (reason !== "late-reply") sentIn(message.metadata)?.ended({ outcome: "dead", reason });
  });
}
