import { address, isAddress, type Protocol, type Ref, type System } from "../../index";

import type { World } from "../world";
import { Answers } from "./answers";
import type { Codec } from "./codec";
import { compareValues, type Difference } from "./compare";
import { printable, show, showDifferences } from "./diff";
import { type Call, Library, type Match, worldOf } from "./library";
import { Player } from "./player";
import type { RecordedMessage, Tape } from "./tape";

/** Most names of actors outside that a sentence lists. */
const MOST_NAMES = 20;

/** A call of the world that the recording has no answer to. */
export interface Refusal {
  readonly call: Call;
  /**
   * The id of the recorded call of the same operation whose payload is nearest, and how it differs: in nothing where it was recorded, and
   * has answered. Undefined when the operation was never called.
   */
  readonly nearest: { readonly id: number; readonly differences: readonly Difference[] } | undefined;
}

/**
 * The `cause` of the error of a call that the recording has no answer to.
 *
 * @example
 * const reply = await model.ask("complete", prompt);
 * if (reply.isErr() && reply.error.cause instanceof NotRecorded) console.log(reply.error.cause.refusal.nearest);
 */
export class NotRecorded extends Error {
  override readonly name = "NotRecorded";
  readonly refusal: Refusal;

  constructor(refusal: Refusal, message: string) {
    super(message);
    this.refusal = refusal;
  }
}

/** A call that got a recorded answer by its order, though its payload is another one. */
export interface OtherPayload {
  readonly message: RecordedMessage;
  readonly differences: readonly Difference[];
}

/** A call that the recording has no answer to, and the message from outside that led to it, where that is known. */
export interface Refused {
  readonly error: NotRecorded;
  readonly origin: RecordedMessage | undefined;
}

/** The parts of a recorded world. */
export interface WorldParts {
  readonly tape: Tape;
  readonly codec: Codec;
  readonly match: Match;
  /** True when a replay leads the system: its clock follows the recording, and a report tells what was not the same. */
  readonly follows: boolean;
  /** True to give the last answer again to further equal calls. Default: false, and they are refused. */
  readonly repeats?: boolean | undefined;
}

/** Answers from a recording what goes to actors outside of the system. */
export class RecordedWorld implements World {
  readonly seed: number;
  readonly otherPayloads: OtherPayload[] = [];
  /** The recorded calls that were made again, and have no answer in the recording. */
  readonly unanswered = new Set<RecordedMessage>();
  readonly #refused: Refused[] = [];
  /** The number of calls that were answered. */
  answered = 0;
  readonly #parts: WorldParts;
  readonly #library: Library;
  readonly #attached = new WeakMap<System, Map<string, { readonly ref: unknown; readonly answers: Answers }>>();
  readonly #players = new Map<System, Player>();

  constructor(parts: WorldParts) {
    this.#parts = parts;
    this.seed = parts.tape.header.seed;
    const { tape, match, codec, follows, repeats = false } = parts;
    const options = { match, sharesKey: codec.sharesKey, followsOrigins: follows, repeats };
    this.#library = new Library(tape.toWorld, options);
  }

  /** The replay has come to a line: what was answered there is answered now. */
  reach(index: number): void {
    for (const player of this.#players.values()) player.reach(index);
  }

  /** The calls that the recording has no answer to, with those that it has no answer of their own to. */
  get refused(): Refused[] {
    const extra = this.#library.extra.map(({ call, origin }) => ({ error: this.#errorOf(call), origin }));
    return [...this.#refused, ...extra];
  }

  /** The recorded calls by actors that were not made so far, in their order. Nobody knows who would make the others. */
  get unused(): RecordedMessage[] {
    return this.#library.left.filter(({ line }) => line.from !== undefined || line.cause !== undefined);
  }

  /** Makes the reference that stands for an actor outside. While it is attached, it is made once: an actor that restarts asks again. */
  attach<Signatures>(system: System, name: string, protocol: Protocol<string, Signatures>): Ref<Signatures> {
    const attached = this.#attached.get(system) ?? new Map();
    this.#attached.set(system, attached);
    const known = attached.get(name);
    if (known?.answers.isOver === false) return known.ref as Ref<Signatures>; // The name was given this protocol.
    const { tape, codec, follows } = this.#parts;
    const recorded = tape.toWorld.find(({ line }) => worldOf(line) === name)?.line.to;
    const at = isAddress(recorded) ? recorded : address(name); // An actor that was never called is at its name.
    const player = this.#players.get(system) ?? new Player(system.clock, follows);
    this.#players.set(system, player);
    const answers = new Answers({
      name,
      at,
      tape,
      codec,
      library: this.#library,
      player,
      follows,
      onMatch: (message, call) => this.#compare(message, call),
      onUnanswered: (message) => this.unanswered.add(message),
      refuse: (call, origin) => this.#refuse(call, origin),
    });
    const { ref } = system.attach(at, protocol, answers, { expose: () => true });
    attached.set(name, { ref, answers });
    return ref;
  }

  #compare(message: RecordedMessage, { payload }: Call): void {
    this.answered++;
    if (this.#parts.match === "content") return;
    const { differences } = compareValues(message.line.payload, payload, "payload", [], this.#parts.codec.sharesKey);
    if (differences.length > 0) this.otherPayloads.push({ message, differences });
  }

  #refuse(call: Call, origin: RecordedMessage | undefined): NotRecorded {
    const error = this.#errorOf(call);
    if (this.#parts.follows) this.#refused.push({ error, origin }); // A server of answers may run for long.
    return error;
  }

  #errorOf(call: Call): NotRecorded {
    const nearest = this.#library.nearest(call);
    const near = nearest && { id: nearest.message.line.id, differences: nearest.differences };
    return new NotRecorded({ call, nearest: near }, this.#sentence(call, near));
  }

  #sentence(call: Call, nearest: Refusal["nearest"]): string {
    const { world, pattern, operation, payload } = call;
    const what = `${pattern} ${printable(operation)} of ${printable(world)}`;
    const place = `${this.#parts.tape.name} has`;
    if (nearest === undefined) {
      const known = this.#library.operationsOf(world).map(printable).join(", ");
      return `${what} is not in the recording: ${place} ${known === "" ? this.#noCall() : `only ${known}`}. It got ${show(payload)}`;
    }
    const { used, all } = this.#library.countOf(call);
    const calls = `${all} ${all === 1 ? "such call" : "such calls"}`;
    const { match, follows } = this.#parts;
    if (match === "order" || nearest.differences.length === 0) {
      const which = match === "order" ? "all of them" : "all those that are equal to this one";
      const first = match === "order" ? "" : `: message ${nearest.id} was the first of them`;
      // A replay that leads the system tells one call more, and has no such option.
      const hint = follows ? "" : ' To get the last answer again, give the recorder of mode "replay" repeat: true.';
      return `${what} was called more often than in the recording: ${place} ${calls}, and ${which} are used up${first}.${hint}`;
    }
    const left = used === 0 ? "" : `, ${used} of them made by now`;
    const difference = showDifferences(nearest.differences).trimEnd();
    return `${what} is not in the recording: ${place} ${calls}${left}. The nearest is message ${nearest.id} (-), this is (+):\n${difference}`;
  }

  #noCall(): string {
    const names = this.#library.worlds.slice(0, MOST_NAMES).map(printable).join(", ");
    return names === "" ? "no call of it" : `no call of it; it has calls of ${names}`;
  }
}
