import type { AskResult, Clock, ClockTimer, TraceContext } from "../../index";
import { FOREVER } from "../connection";
import type { AcpAgentRef } from "../methods";
import { replyOf } from "../refusals";
import type { PromptRequest, PromptResponse, SessionUpdate } from "../schema/types";
import type { UpdateLog, UpdateReader } from "./update-log";

/** The parts of the session that a turn needs. */
export interface TurnParts {
  readonly sessionId: string;
  readonly agent: AcpAgentRef;
  readonly log: UpdateLog;
  /** Resolves once all earlier updates are in the log. */
  readonly settled: () => Promise<unknown>;
  /** Tells the agent to end its turns, and cancels their questions to the user. It belongs to a trace, if it has one. */
  readonly cancel: (trace?: TraceContext) => void;
}

/** Milliseconds that an agent has to end a turn that was left. */
const TO_END = 30_000;

/** One prompt at an agent elsewhere. */
export class RemoteTurn {
  readonly #parts: TurnParts;
  readonly #clock: Clock;
  /** The trace that its prompt belongs to. */
  readonly #trace: TraceContext | undefined;
  readonly #over = Promise.withResolvers<void>();
  readonly #left = Promise.withResolvers<void>();
  #isLeft = false;
  #isAnswered = false;
  /** Undefined before the agent was asked. */
  #reader: UpdateReader | undefined;
  #giveUp: ((reason: unknown) => void) | undefined;
  #timer: ClockTimer | undefined;

  constructor(parts: TurnParts, clock: Clock, trace: TraceContext | undefined) {
    this.#parts = parts;
    this.#clock = clock;
    this.#trace = trace;
  }

  /** Settles when the agent has answered, or was not asked. Never rejects. */
  get ended(): Promise<void> {
    return this.#over.promise;
  }

  /** Cancels the turn at the agent, because its reader has gone. */
  leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.#left.resolve();
    this.#reader?.end();
    if (this.#reader === undefined) this.#over.resolve();
    if (this.#reader === undefined || this.#isAnswered) return;
    this.#parts.cancel(this.#trace);
    this.#timer = this.#clock.setTimer(() => this.#giveUp?.("the agent has not ended its turn"), TO_END);
  }

  /**
   * Asks the agent, and yields the updates and at last the response.
   *
   * @param before settles when the turn before has ended.
   * @throws the error of the request.
   */
  async *items(
    prompt: Omit<PromptRequest, "sessionId">,
    before: Promise<void>,
  ): AsyncGenerator<SessionUpdate | PromptResponse, void, undefined> {
    try {
      await Promise.race([before, this.#left.promise]);
      if (this.#isLeft) return;
      const reader = this.#parts.log.read();
      this.#reader = reader;
      const answered = this.#ask(prompt, reader);
      yield* reader;
      if (!this.#isLeft) yield replyOf(await answered);
    } finally {
      this.leave();
    }
  }

  async #ask(prompt: Omit<PromptRequest, "sessionId">, reader: UpdateReader): Promise<AskResult<PromptResponse>> {
    const { agent, sessionId, settled } = this.#parts;
    const canceller = (cancel: (reason: unknown) => void): void => {
      this.#giveUp = cancel;
    };
    const metadata = this.#trace;
    const beside = metadata === undefined ? {} : { metadata };
    const result = await agent.ask("prompt", { ...prompt, sessionId }, { ...FOREVER, canceller, ...beside });
    await settled(); // Updates that the agent sent before its response belong to the turn.
    this.#isAnswered = true;
    this.#timer?.cancel();
    reader.end();
    this.#over.resolve();
    return result;
  }
}
