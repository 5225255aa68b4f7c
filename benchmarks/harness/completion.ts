/** Tells when a number of operations, each of which reports itself, have all come in. */
export class Completion {
  private left = 0;
  private total = 0;
  private finish = (): void => {};

  /** How many operations have come in since the beginning. */
  readonly completed = (): number => this.total;

  /** Resolves once `count` more operations have come in. */
  expect(count: number): Promise<void> {
    this.left = count;
    return new Promise((resolve) => {
      this.finish = resolve;
    });
  }

  /** Reports one operation, and returns whether more are due. */
  readonly arrive = (): boolean => {
    this.total++;
    if (--this.left > 0) return true;
    this.finish();
    return false;
  };
}
