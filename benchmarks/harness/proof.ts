import type { Prepared } from "./suite";

/** A row that does not do its work: its figures would be worthless, so none are given. */
export class RefusedRow extends Error {
  constructor(row: string, reason: string) {
    super(`Row "${row}" is refused: ${reason}.`);
    this.name = "RefusedRow";
  }
}

/** Keeps the account of a row's work: what was called, and what should be complete by now. */
export class Proof {
  private calls = 0;

  constructor(
    private readonly row: string,
    private readonly operations: number,
    private readonly prepared: Prepared,
  ) {
    if (prepared.run.length !== 0) throw new RefusedRow(row, "its run() must take no argument");
    if (!(Number.isSafeInteger(operations) && operations > 0)) {
      throw new RefusedRow(row, `one call must do a whole number of operations, at least 1, not ${operations}`);
    }
  }

  /** Calls `run` once and checks at once that all its operations are complete; a row may not return before its work is done. */
  async call(): Promise<void> {
    const returned = this.prepared.run();
    if (returned instanceof Promise) await returned;
    this.expect(1);
  }

  /** Checks the account after `calls` more calls of `run`. */
  expect(calls: number): void {
    this.calls += calls;
    const completed = this.prepared.completed();
    if (completed === 0) throw new RefusedRow(this.row, "it did nothing: no operation was completed");
    if (completed !== this.calls * this.operations) {
      const due = `${this.calls} × ${this.operations} were due`;
      throw new RefusedRow(this.row, `${completed} operations were complete when ${due}`);
    }
    try {
      this.prepared.verify?.(this.calls);
    } catch (error) {
      throw new RefusedRow(this.row, error instanceof Error ? error.message : String(error));
    }
  }
}
