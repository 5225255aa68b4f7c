import type { Address, Outgoing, Transport } from "../../index";
import type { Codec } from "./codec";
import { failAs } from "./errors";
import type { Call, Library } from "./library";
import { originIn } from "./origins";
import type { Player } from "./player";
import { isAnswered, type Moment, type RecordedEnd, type RecordedMessage, type Tape } from "./tape";

/** The parts of the answers of one actor outside. */
export interface AnswersParts {
  /** The name by which the actor was declared. */
  readonly name: string;
  readonly at: Address;
  readonly tape: Tape;
  readonly codec: Codec;
  readonly library: Library;
  readonly player: Player;
  /** True when the clock follows the recording. */
  readonly follows: boolean;
  /** Told of each call that has its recorded answer. */
  readonly onMatch: (message: RecordedMessage, call: Call) => void;
  /** Told of each ask and stream whose answer is not in the recording. */
  readonly onUnanswered: (message: RecordedMessage) => void;
  /** Makes the error of a call that the recording has no answer to. @param origin the message from outside that led to it. */
  readonly refuse: (call: Call, origin: RecordedMessage | undefined) => Error;
}

/** A stream that is being played. */
interface Playing {
  readonly message: RecordedMessage;
  /** True to play it without waiting for its lines. */
  readonly isEarly: boolean;
  /** The number of items that were handed over. */
  next: number;
  /** The number of items that its reader has room for. */
  credit: number;
  /** True while its next item or its end waits for its time. */
  isPlanned: boolean;
}

/** Stands for one actor outside, and answers from the recording. */
export class Answers implements Transport {
  readonly #parts: AnswersParts;
  readonly #streams = new Map<Outgoing, Playing>();
  /** True once its attachment has ended. */
  isOver = false;

  constructor(parts: AnswersParts) {
    this.#parts = parts;
  }

  send(out: Outgoing): void {
    const { name, at, codec, library, tape, onMatch, onUnanswered, refuse } = this.#parts;
    const { pattern, type: operation } = out;
    const payload =
      out.payload === undefined ? undefined : codec.write(out.payload, { address: at, operation, part: "payload" });
    const call: Call = { world: name, pattern, operation, payload };
    const origin = originIn(out.metadata);
    const message = library.take(call, origin);
    if (message === undefined) {
      out.fail("handler-failed", refuse(call, origin));
      return;
    }
    onMatch(message, call);
    if (pattern === "tell") {
      out.complete();
      return;
    }
    const answered = tape.answeredBy(message);
    if (!isAnswered(answered)) onUnanswered(message);
    if (answered === undefined) return; // It was handed on to somebody who was not recorded: nobody knows the answer.
    const isEarly = message.origin !== origin && isBehind(answered, origin);
    if (pattern === "ask") this.#answer(out, answered, isEarly);
    else {
      const playing: Playing = { message: answered, isEarly, next: 0, credit: out.credit, isPlanned: false };
      this.#streams.set(out, playing);
      this.#planNext(out, playing);
    }
  }

  cancel(out: Outgoing): void {
    this.#streams.delete(out);
  }

  credit(out: Outgoing, count: number): void {
    const playing = this.#streams.get(out);
    if (playing === undefined) return;
    playing.credit += count;
    this.#planNext(out, playing);
  }

  close(): void {
    this.isOver = true;
    this.#streams.clear();
  }

  /** Answers an ask. One that had no answer, or only after the time that this asker has, waits until that time is over. */
  #answer(out: Outgoing, answered: RecordedMessage, isEarly: boolean): void {
    const { player, follows, codec } = this.#parts;
    const { at, end } = answered;
    if (end === undefined || !isAnswered(answered)) return;
    if (!follows && end.at - at >= out.timeLeft) return;
    player.plan(isEarly ? AT_ONCE : end, () => {
      if (end.line.outcome === "handled") out.complete(codec.read(end.line.value));
      else failAs(out, end.line);
    });
  }

  /** Plans the next item of a stream if its reader has room, or its end. */
  #planNext(out: Outgoing, playing: Playing): void {
    if (playing.isPlanned) return;
    const { player, codec } = this.#parts;
    const { items, end } = playing.message;
    const item = items[playing.next];
    if (item === undefined ? !isAnswered(playing.message) : playing.credit === 0) return;
    playing.isPlanned = true;
    const plan = (moment: RecordedEnd | (typeof items)[number], play: () => void): void =>
      player.plan(playing.isEarly ? AT_ONCE : moment, () => {
        playing.isPlanned = false;
        if (this.#streams.get(out) === playing) play(); // Its reader may have left.
      });
    if (item !== undefined) {
      plan(item, () => {
        playing.next++;
        playing.credit--;
        out.produce([codec.read(item.value)]);
        this.#planNext(out, playing);
      });
    } else if (end !== undefined) {
      plan(end, () => {
        this.#streams.delete(out);
        if (end.line.reason === "left") out.fail("handler-failed", new Error(LEFT));
        else if (end.line.outcome === "handled") out.end();
        else failAs(out, end.line);
      });
    }
  }
}

/** A moment that every replay has come to. */
const AT_ONCE: Moment = { index: 0, at: 0 };

/** True for an answer that came behind the end of another request: that one would wait for ever where it is given the answer. */
const isBehind = ({ end }: RecordedMessage, origin: RecordedMessage | undefined): boolean =>
  end !== undefined && origin?.end !== undefined && end.index > origin.end.index;

/** A reader that reads on has other code than the one that left. */
const LEFT = "The recording has no more items: its reader left when it was recorded.";
