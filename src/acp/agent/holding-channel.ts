import { CLIENT_METHODS } from "../methods";
import { PacedChannel } from "../paced-channel";

/** The part of a sent message that is read here. A request and a notification have a method; a response may have a result. */
interface Sent {
  readonly method?: string;
  readonly params?: { readonly sessionId?: unknown } | null;
  readonly result?: { readonly sessionId?: unknown } | null;
}

/** Most updates of a session that are held back. Once there are as many, they are all sent. */
const MOST_HELD = 1_000;

/**
 * Holds the updates of new sessions back until the client has been told their ids. A client could not assign earlier ones to a session.
 */
export class HoldingChannel extends PacedChannel {
  /** The texts that wait, by the ids of sessions. */
  readonly #held = new Map<string, string[]>();

  override send(text: string): boolean {
    const id = this.#held.size === 0 ? undefined : this.#heldIn(text);
    if (id === undefined) return super.send(text);
    const { method, params, result } = JSON.parse(text) as Sent;
    if (method === CLIENT_METHODS.update && params?.sessionId === id) return this.#hold(id, text);
    const isSent = super.send(text);
    if (result?.sessionId === id) this.release(id);
    return isSent;
  }

  /** Holds the updates of a session back from now on, until the response that has its id was sent. */
  hold(id: string): void {
    this.#held.set(id, []);
  }

  /** Sends the updates of a session. */
  release(id: string): void {
    const texts = this.#held.get(id) ?? [];
    this.#held.delete(id);
    for (const text of texts) super.send(text);
  }

  /** Forgets the updates of a session that could not be opened. */
  drop(id: string): void {
    this.#held.delete(id);
  }

  #hold(id: string, text: string): boolean {
    if (this.#held.get(id)?.push(text) === MOST_HELD) this.release(id);
    return true;
  }

  #heldIn(text: string): string | undefined {
    for (const id of this.#held.keys()) if (text.includes(id)) return id;
    return undefined;
  }
}
