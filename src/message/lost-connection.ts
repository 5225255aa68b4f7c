/** The detail of a timeout whose cause is known: the connection was lost. */
export class LostConnection {
  readonly #timeout: number;
  readonly cause: unknown;

  constructor(timeout: number, cause: unknown) {
    this.#timeout = timeout;
    this.cause = cause;
  }

  get timeout(): number {
    return this.#timeout;
  }

  /** Looks for the private field. Unlike `instanceof`, this runs no code of a hostile value. */
  static is(value: unknown): value is LostConnection {
    return typeof value === "object" && value !== null && #timeout in value;
  }
}
