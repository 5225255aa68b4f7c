import { type Address, type AskError, type AskResult, createMessage, err, ok, StreamError } from "../index";
import { show } from "./show";

/** The kinds of delivery errors with which a kit can refuse an ask, an offer or a stream. */
export type Refusal =
  | "timeout"
  | "cancelled"
  | "no-recipient"
  | "stopped"
  | "mailbox-full"
  | "unknown-operation"
  | "invalid-payload"
  | "handler-failed"
  | "ask-cycle"
  | "unreachable";

type Answer = { readonly make: (payload: unknown) => unknown } | { readonly refusal: Refusal };

/** The answers that a test has prepared for the asks of its actor. */
export class KitAnswers {
  readonly #answers = new Map<string, Answer>();
  readonly #asker: Address;

  constructor(asker: Address) {
    this.#asker = asker;
  }

  set(to: Address, operation: string, answer: Answer): void {
    this.#answers.set(`${to} ${operation}`, answer);
  }

  /** The reply to an ask. Throws at once if none is prepared, so that no test waits for ever. */
  reply(to: Address, operation: string, payload: unknown): Promise<AskResult> {
    const answer = this.#of(to, operation);
    if ("refusal" in answer) return Promise.resolve(err(this.#refusal(answer.refusal, to, operation, payload)));
    return Promise.resolve(answer.make(payload)).then((value) => ok(value));
  }

  /** The items of a stream. Throws a StreamError if the test refuses it. */
  items(to: Address, operation: string, payload: unknown): unknown {
    const answer = this.#of(to, operation);
    if ("refusal" in answer) throw new StreamError(this.#refusal(answer.refusal, to, operation, payload));
    return answer.make(payload);
  }

  /** The refusal of an offer, if one is prepared; otherwise null, and the offer is taken. */
  offerRefusal(to: Address, operation: string, payload: unknown): AskError | null {
    const answer = this.#answers.get(`${to} ${operation}`);
    return answer !== undefined && "refusal" in answer ? this.#refusal(answer.refusal, to, operation, payload) : null;
  }

  #of(to: Address, operation: string): Answer {
    const answer = this.#answers.get(`${to} ${operation}`);
    if (answer !== undefined) return answer;
    throw new Error(
      `The actor asks ${to} for ${show(operation)}, and no answer is prepared: write kit.answer(ref, ${show(operation)}, () => …) first.`,
    );
  }

  /** A delivery error as plain data: only a system makes real ones. */
  #refusal(kind: Refusal, to: Address, operation: string, payload: unknown): AskError {
    const shape = {
      message: `${show(operation)} to ${to} was refused by the test: ${kind}`,
      retryable: kind === "timeout" || kind === "mailbox-full" || kind === "unreachable",
      address: to,
      operation,
      undelivered: createMessage(to, operation, payload, { pattern: "ask", timestamp: 0 }),
    };
    const cause = new Error("refused by the test");
    switch (kind) {
      case "timeout":
        return { kind, ...shape, timeout: 5_000 };
      case "cancelled":
        return { kind, ...shape, reason: cause };
      case "mailbox-full":
        return { kind, ...shape, capacity: 1 };
      case "handler-failed":
      case "unreachable":
        return { kind, ...shape, cause };
      case "invalid-payload":
        return { kind, ...shape, issues: [{ path: "", message: "was refused by the test" }] };
      case "ask-cycle":
        return { kind, ...shape, path: [this.#asker, to, this.#asker] };
      case "stopped":
        return { kind, ...shape, hadBegun: false };
      case "no-recipient":
      case "unknown-operation":
        return { kind, ...shape };
    }
  }
}
