import { join } from "node:path";
import type { Build } from "./build";
import type { Answer, Answers, Order } from "./orders";
import type { Workshop } from "./workshop";

/** For an order to be followed, in milliseconds: the longest probe takes a minute or two. */
const PATIENCE = 600_000;
/** Of a process that died, the end of what it said, in characters. */
const LAST_WORDS = 500;

/** A process that measures rows with one build. */
export class BuildProcess {
  readonly #child: ReturnType<Workshop["start"]>;
  #answered = Promise.withResolvers<Answer>();
  #hasEnded = false;

  constructor(
    private readonly workshop: Workshop,
    readonly build: Build,
  ) {
    const program = join(build.folder, "benchmarks/compare/worker.ts");
    // Its temporary files go where they end with the workshop.
    const env = { TMPDIR: join(build.folder, "tmp") };
    const onMessage = (message: unknown): void => this.#answered.resolve(message as Answer); // Sent by `worker.ts`.
    this.#child = workshop.start(build.folder, [program], env, onMessage);
    void this.#watch();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async #watch(): Promise<void> {
    const [text] = await Promise.all([new Response(this.#child.stderr).text(), this.#child.exited]);
    this.#hasEnded = true;
    const { exitCode, signalCode } = this.#child;
    const words = text.trim().slice(-LAST_WORDS);
    this.#answered.resolve({ failed: `its process ended (${signalCode ?? exitCode})${words && `: ${words}`}` });
  }

  /** @throws Error with the reason that the process gave, or the signal's reason once that is aborted. */
  async ask<Name extends Order["order"]>(order: Extract<Order, { order: Name }>): Promise<Answers[Name]> {
    this.workshop.signal.throwIfAborted();
    if (!this.#hasEnded) {
      this.#answered = Promise.withResolvers();
      this.#child.send(order);
    }
    const timer = setTimeout(() => {
      this.#answered.resolve({ failed: `it took longer than ${PATIENCE / 1_000} s` });
      void this.stop();
    }, PATIENCE);
    const answer = await this.#answered.promise;
    clearTimeout(timer);
    this.workshop.signal.throwIfAborted();
    if ("failed" in answer) throw new Error(answer.failed);
    return answer.value as Answers[Name]; // `worker.ts` answers an order with what is its answer.
  }

  stop(): Promise<void> {
    return this.workshop.end(this.#child);
  }
}
