import type { ActorStream, Ref } from "../../index";
import { refusalIn } from "../refusals";
import type { PromptResponse, SessionUpdate } from "../schema/types";
import type { SessionSignatures, Workspace } from "./session";

/** An item of a turn: an update, or the response that ends it. */
type Item = SessionUpdate | PromptResponse;

const END_TURN: PromptResponse = Object.freeze({ stopReason: "end_turn" });
const CANCELLED: PromptResponse = Object.freeze({ stopReason: "cancelled" });

export const isUpdate = (item: object): item is SessionUpdate => "sessionUpdate" in item;

/** One prompt of a session, from its arrival to its response. */
export class Turn {
  readonly #items: ActorStream<Item>;
  #isCancelled = false;

  constructor(items: ActorStream<Item>) {
    this.#items = items;
  }

  /** Cancels the turn: no more updates are sent, and its response is `cancelled`. */
  cancel(): void {
    this.#isCancelled = true;
    void this.#items.return(); // A read that waits comes to the end.
  }

  /**
   * Passes its updates on, in order, and returns its response.
   *
   * @param send sends an update. When the client takes no more for now, it sends nothing and returns a promise of room.
   */
  async run(send: (update: SessionUpdate) => Promise<void> | undefined): Promise<PromptResponse> {
    const items = this.#items;
    try {
      for (let step = await items.next(); step.done !== true; step = await items.next()) {
        let item: Item | undefined = step.value;
        // Items that have arrived already are taken without a promise for each.
        for (const ready = items.ready().values(); item !== undefined; item = ready.next().value) {
          if (this.#isCancelled) return CANCELLED;
          if (!isUpdate(item)) return item;
          // Again once there is room: another turn may have taken it.
          for (let room = send(item); room !== undefined; room = send(item)) {
            await room;
            if (this.#isCancelled) return CANCELLED;
          }
        }
      }
    } catch (error) {
      if (!this.#isCancelled) throw refusalIn(error); // A handler that was given up may fail.
    } finally {
      void items.return(); // Items after the response are not wanted.
    }
    return this.#isCancelled ? CANCELLED : END_TURN;
  }
}

/** A session that a client has open. */
export class OpenSession {
  readonly id: string;
  readonly ref: Ref<SessionSignatures>;
  readonly workspace: Workspace;
  readonly #turns = new Set<Turn>();
  /** Settles when all turns that have come have ended. Never rejects. */
  #last: Promise<unknown> | undefined;

  constructor(id: string, ref: Ref<SessionSignatures>, workspace: Workspace) {
    this.id = id;
    this.ref = ref;
    this.workspace = workspace;
  }

  /** Its turns under way: one, and those that wait for it. */
  get turns(): number {
    return this.#turns.size;
  }

  /** Runs a turn after those that came before it. */
  async take(turn: Turn, send: (update: SessionUpdate) => Promise<void> | undefined): Promise<PromptResponse> {
    const before = this.#last;
    this.#turns.add(turn);
    const running = before === undefined ? turn.run(send) : before.then(() => turn.run(send));
    const ended = running.then(ignore, ignore);
    this.#last = ended;
    try {
      return await running;
    } finally {
      this.#turns.delete(turn);
      if (this.#last === ended) this.#last = undefined;
    }
  }

  /** Ends all its turns. */
  cancel(): void {
    for (const turn of this.#turns) turn.cancel();
  }

  /** Resolves once its turns have ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

const ignore = (): void => {};
