import { expect } from "bun:test";
import type { Supervision } from "../../src/index";

/** The life of the actor at one address, seen from outside: what a restart must not forget, or turn. */
export class Life {
  /** In the order in which they were spawned. */
  readonly children: Life[] = [];
  readonly parent: Life | null;
  supervision: Supervision = {};
  /** When it began anew and when it failed last, on the counter of the run. */
  madeAt = 0;
  failedAt = 0;
  /** Since its parent began anew. */
  instances = 0;
  #state: "made" | "starting" | "started" | "over" = "over";
  #running = 0;
  #latest = 0;
  #failures: number[] = [];

  constructor(parent: Life | null) {
    this.parent = parent;
    parent?.children.push(this);
  }

  made(moment: number, now: number, supervision: Supervision): void {
    // P10: the instance before it has ended; one that had not begun just goes.
    expect(["over", "made"]).toContain(this.#state);
    expect(this.#running).toBe(0);
    const { parent } = this;
    if (parent !== null && parent.madeAt > this.madeAt) {
      this.instances = 0;
      this.#failures = [];
    } else if (parent !== null) this.#expectAllowed(parent.supervision, now);
    this.#state = "made";
    this.instances++;
    this.madeAt = moment;
    this.supervision = supervision;
  }

  /** Whether none of its children fails for one of its own. */
  get isOfLeaves(): boolean {
    return this.children.every(({ children }) => children.length === 0);
  }

  /** P10: of a leaf, no more restarts than the limit without a pause, and not before the backoff. */
  #expectAllowed(
    { strategy, decide, limit = 5, within = 10_000, backoff, beyondLimit }: Supervision,
    now: number,
  ): void {
    if (strategy !== "one-for-one" || decide !== undefined || this.children.length > 0) return;
    const last = this.#failures.at(-1);
    if (last === undefined || this.failedAt < this.madeAt) return; // It failed by another fault than its own.
    const { initial = 0, jitter = 0.2 } = backoff ?? {};
    if (this.#failures.filter((time) => last - time < within).length > limit) {
      expect(beyondLimit).toBe("hold");
      expect(now - last).toBeGreaterThanOrEqual(backoff?.initial ?? 100);
      return;
    }
    expect(now - last).toBeGreaterThanOrEqual(initial * (1 - jitter));
  }

  /** Who restarts already, because of another one, does not decide anything by failing too. */
  failed(moment: number, now: number): void {
    if (this.parent !== null && this.parent.concerning(this) > this.madeAt) return;
    this.failedAt = moment;
    this.#failures.push(now);
  }

  /** Its factory or its onStart threw: it has not begun. */
  unmade(): void {
    this.#state = "over";
  }

  starting(): void {
    expect(this.#state).toBe("made");
    this.#state = "starting";
  }

  started(): void {
    expect(this.#state).toBe("starting");
    this.#state = "started";
  }

  begin(number: number, handled: number): void {
    expect(this.#state).toBe("started"); // Its onStart comes before its first message.
    expect(this.#running).toBe(0); // P3
    expect(number).toBeGreaterThan(this.#latest); // P2, P10: what waited comes in order, and nothing comes again.
    this.#latest = number;
    this.#running++;
    this.#handled = handled === 0 ? 1 : this.#handled + 1;
    expect(handled + 1).toBe(this.#handled);
  }
  #handled = 0;

  end(): void {
    this.#running--;
  }

  stopped(): void {
    expect(this.#state).toBe("started");
    expect(this.#running).toBe(0); // Its onStop comes after its last message.
    this.#state = "over";
  }

  get isAtRest(): boolean {
    return this.#state === "over" || this.#state === "made";
  }

  /**
   * P10: once all is quiet, whoever a failure concerns has begun anew since, by the strategy of its parent; and nobody else. That
   * holds where there were no other failures than those that it knows of.
   */
  expectStrategy(): void {
    const { decide, limit } = this.supervision;
    if (decide !== undefined || limit !== Number.POSITIVE_INFINITY || !this.isOfLeaves) return;
    for (const child of this.children) {
      const lastFailure = this.concerning(child);
      if (lastFailure > this.madeAt) expect(child.madeAt).toBeGreaterThan(lastFailure);
      else expect(child.instances).toBe(1);
    }
  }

  /** When a child failed last whose failures concern another one. */
  concerning(child: Life): number {
    const { strategy } = this.supervision;
    const index = this.children.indexOf(child);
    const concerned = this.children.filter(
      (_, other) => strategy === "one-for-all" || other === index || (strategy === "rest-for-one" && other < index),
    );
    return Math.max(...concerned.map(({ failedAt }) => failedAt));
  }
}
