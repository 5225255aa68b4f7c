const BLOCK = 4096;
const WIDTH = 8; // 36^8 blocks of 4096: one id a microsecond for 366 years.
// The last three characters of each id, in sorting order: two joins make an id, where formatting it took five times as long.
const LOW: readonly string[] = Array.from({ length: BLOCK }, (_, low) => low.toString(36).padStart(3, "0"));

const ORIGIN = originOfThisProcess();

/** 80 random bits: two of a million processes share them with a probability under 10⁻¹². */
function originOfThisProcess(): string {
  const alphabet = "0123456789abcdefghijklmnopqrstuv";
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => alphabet[byte & 31]).join("");
}

class IdSequence {
  readonly #kind: string;
  #count = 0;
  #block = "";

  constructor(kind: string) {
    this.#kind = kind;
  }

  next(): string {
    const low = this.#count % BLOCK;
    if (low === 0) {
      this.#block = `${this.#kind}-${ORIGIN}-${(this.#count / BLOCK).toString(36).padStart(WIDTH, "0")}`;
    }
    this.#count++;
    return this.#block + LOW[low];
  }
}

const messageIds = new IdSequence("m");
const correlationIds = new IdSequence("c");

/**
 * Makes an id for a message: unique across processes and machines (80 random bits for each process), and sorted by
 * creation within one process.
 *
 * @example
 * generateMessageId() // "m-3v0kq2m8c1d5t7ab-00000000000"
 */
export function generateMessageId(): string {
  return messageIds.next();
}

/**
 * Makes an id that ties a reply to its request; unique and sorted like a message's id.
 *
 * @example
 * generateCorrelationId() // "c-3v0kq2m8c1d5t7ab-00000000000"
 */
export function generateCorrelationId(): string {
  return correlationIds.next();
}
