import { redactedAs } from "../transforms/redacted";

/** Hashes of redacted texts that are remembered: a session's token comes with each of its messages. */
const MOST = 256;
/** The longest text whose hash is remembered. */
const LONGEST = 1_024;

/**
 * Hashes by HMAC-SHA-256 (RFC 2104), so that who has a recording cannot try which password has a hash. With one key, equal values have
 * equal hashes.
 */
export class Digest {
  /** Fed with the key. A copy of it takes less than half the time of a new one. */
  readonly #keyed: Bun.CryptoHasher;
  readonly #known = new Map<string, string>();

  /** @param key the key; a random one where there is none. */
  constructor(key: string | Uint8Array = crypto.getRandomValues(new Uint8Array(32))) {
    this.#keyed = new Bun.CryptoHasher("sha256", key);
  }

  /** The text in place of a secret. */
  redacted(secret: string): string {
    const known = this.#known.get(secret);
    if (known !== undefined) return known;
    const redacted = redactedAs(this.#keyed.copy().update(secret).digest("base64url"));
    if (secret.length <= LONGEST) {
      if (this.#known.size >= MOST) this.#known.clear();
      this.#known.set(secret, redacted);
    }
    return redacted;
  }

  /** The hash of a whole value, in hex. */
  hash(data: string | Uint8Array): string {
    return this.#keyed.copy().update(data).digest("hex");
  }
}
