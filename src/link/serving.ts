import {
  type Address,
  type AnswerFrame,
  type AnyRef,
  type AskError,
  createResponder,
  type Expose,
  isAddress,
  type MessageFrame,
  type Metadata,
  type OpenDoor,
  operationsOf,
  type Responder,
  type ResponderOptions,
  receive,
  type SystemEvent,
  writeJson,
} from "../index";
import { BEGUN, hadLeft, kindToTell, toldAsDied } from "./died";
import { Doors } from "./doors";
import { type Called, type Exposed, howEnded } from "./exposed";
import { Code } from "./frames";
import type { Outbox } from "./outbox";
import { toldOf } from "./told";
import { Differences, detailWithVersions, type Versions, withVersions } from "./versions";
import type { Writing } from "./writing";

/** The parts of a link that its serving side needs. */
interface ServingOptions {
  readonly exposed: (at: Address) => AnyRef | undefined;
  readonly mostRefs: number;
  readonly metadata: Metadata | undefined;
  readonly tellsErrors: boolean;
  readonly detailOf: ((error: AskError, metadata: Metadata | undefined) => unknown) | undefined;
  readonly responder: Pick<ResponderOptions, "most" | "longest" | "streams">;
  /** Says which addresses in payloads become references. */
  readonly revive: Expose;
  readonly writing: Writing;
  readonly versions: Versions | undefined;
}

/** Lets in what the other side sends to actors of this system. */
export class Serving {
  readonly #options: ServingOptions;
  readonly #outbox: Outbox;
  readonly #exposed = new Map<Address, Exposed>();
  /** Numbers for addresses that were not exposed yet, such as while a worker starts. */
  readonly #early = new Map<Address, Set<number>>();
  readonly #targets = new Map<number, Called>();
  /** The numbers that were opened while there were too many: as many as are let in, at most. */
  readonly #refused = new Set<number>();
  /** The addresses of actors that are exposed under others than their own. */
  readonly #otherNames = new Map<Address, Address[]>();
  readonly #doors = new Doors();
  readonly #differences: Differences;
  #lent = 0;
  #isLeaving = false;
  #responder: Responder;

  constructor(options: ServingOptions, outbox: Outbox) {
    this.#options = options;
    this.#outbox = outbox;
    this.#differences = new Differences(options.versions, (frame) => outbox.fits(frame) && outbox.add(frame));
    this.#responder = this.#respond();
  }

  /** The messages of the other side whose senders wait. */
  get size(): number {
    return this.#responder.size;
  }

  // ——— What the other side may reach

  open(target: number, at: Address, isLent: boolean, version: unknown): void {
    if (!isAddress(at)) return;
    this.release(target); // A number stands for one address.
    const { mostRefs } = this.#options;
    if (this.#targets.size >= mostRefs) {
      if (this.#refused.size < mostRefs) this.#refused.add(target);
      return;
    }
    const found = this.#findSafely(at);
    if (found?.door.isStopped === true || (found === undefined && isLent)) {
      this.#outbox.add(`[${Code.stopped},${target},${howEnded(found?.door)}]`); // It has stopped since it was exposed.
      return;
    }
    this.#targets.set(target, { at, version: typeof version === "string" ? version : undefined });
    const targets = found?.targets ?? this.#early.get(at) ?? new Set<number>();
    if (found === undefined) this.#early.set(at, targets);
    targets.add(target);
  }

  release(target: number): void {
    this.#refused.delete(target);
    const at = this.#targets.get(target)?.at;
    if (at === undefined) return;
    this.#targets.delete(target);
    const early = this.#early.get(at);
    if (early?.delete(target) === true && early.size === 0) this.#early.delete(at);
    const found = this.#exposed.get(at);
    found?.targets.delete(target);
    if (found?.targets.size === 0 && !found.isLent) this.#exposed.delete(at);
  }

  /** Remembers that a reference goes to the other side. False if one did before. */
  lend(ref: AnyRef): boolean {
    const at = ref.address;
    const last = this.#exposed.get(at);
    // The event of its stop is still to come, and another actor may have its address already (P14).
    if (last?.door.isStopped === true) this.#tellStopped(at, last, undefined);
    const known = this.#exposed.get(at);
    if (known?.isLent === true) return false;
    const { mostRefs } = this.#options;
    if (this.#lent >= mostRefs) {
      throw new RangeError(`more than ${mostRefs} references would be with the other side: stop actors that are done`);
    }
    const exposed = known ?? this.#expose(at, ref, true);
    exposed.isLent = true;
    if (!exposed.door.isStopped) this.#lent++;
    return true;
  }

  /** Forgets a reference that was lent and did not go. */
  takeBack(ref: AnyRef): void {
    const exposed = this.#exposed.get(ref.address);
    if (exposed?.isLent !== true) return; // It has stopped, and is told so already.
    exposed.isLent = false;
    this.#lent--;
    if (exposed.targets.size === 0) this.#exposed.delete(ref.address);
  }

  /** The actor of this side that a reference of the other side leads to, if it was exposed. */
  home(at: Address): AnyRef | undefined {
    return this.#find(at)?.ref;
  }

  /** As for a message, an address for which `exposed` throws is that of nobody. */
  #findSafely(at: Address): Exposed | undefined {
    try {
      return this.#find(at);
    } catch {
      return undefined;
    }
  }

  #reach(at: Address): AnyRef | undefined {
    try {
      return this.#options.exposed(at);
    } catch {
      return undefined;
    }
  }

  #find(at: Address): Exposed | undefined {
    const known = this.#exposed.get(at);
    if (known !== undefined) return known;
    const ref = this.#options.exposed(at);
    return ref === undefined ? undefined : this.#expose(at, ref, false);
  }

  #expose(at: Address, ref: AnyRef, isLent: boolean): Exposed {
    const door = this.#doorOf(ref);
    const exposed: Exposed = { door, ref, isLent, targets: this.#early.get(at) ?? new Set() };
    if (door.isStopped) {
      if (!isLent) this.#tellStopped(at, exposed, undefined);
      return exposed; // Somebody else may get the address.
    }
    this.#early.delete(at);
    this.#exposed.set(at, exposed);
    if (at === ref.address) return exposed;
    const others = this.#otherNames.get(ref.address) ?? [];
    if (!others.includes(at)) this.#otherNames.set(ref.address, [...others, at]); // It may have been released since.
    return exposed;
  }

  /** More actors can be reached: the numbers that stood for nobody lead to them, and their ends are told. */
  lookAgain(): void {
    for (const at of [...this.#early.keys()]) this.#findSafely(at);
  }

  #doorOf(ref: AnyRef): OpenDoor {
    const { revive, metadata } = this.#options;
    return receive(ref, metadata === undefined ? { expose: revive } : { expose: revive, metadata });
  }

  /** Tells the other side that an actor has stopped. Events come after all that the actor did in its turn (P2). */
  heard(event: SystemEvent): void {
    if (event.kind !== "stopped") return;
    const { address, error } = event;
    for (const at of [address, ...(this.#otherNames.get(address) ?? [])]) {
      const exposed = this.#exposed.get(at);
      // A reference by address goes on.
      if (exposed?.ref.address === address && exposed.door.isStopped) this.#tellStopped(at, exposed, error);
    }
    this.#otherNames.delete(address);
    if (this.#early.has(address)) this.#findSafely(address); // It may have been reachable since, and nobody has looked.
  }

  #tellStopped(at: Address, { door, targets, isLent }: Exposed, error: unknown): void {
    this.#exposed.delete(at);
    this.#early.delete(at);
    if (isLent) this.#lent--;
    const isTold = error !== undefined && this.#options.tellsErrors;
    const detail = isTold ? writeJson(toldOf(error)) : undefined;
    for (const target of targets) {
      this.#targets.delete(target);
      this.#addWith(`[${Code.stopped},${target},${howEnded(door)}`, detail);
    }
  }

  // ——— Messages

  message(target: unknown, frame: Omit<MessageFrame, "kind" | "to">): boolean {
    const { id, pattern, isAwaited, type, payload, metadata, timeLeft, credit, wantsProgress } = frame as MessageFrame; // The rest of one.
    if (id !== "" && this.#refused.size > 0 && this.#refused.has(target as number)) {
      const { mostRefs } = this.#options;
      this.#fail(
        id,
        "unreachable",
        `the other side lets in ${mostRefs} references at once (mostRefs): end some, and make this one anew`,
      );
      return true;
    }
    // A number that stands for nothing is no recipient: its actor may have stopped meanwhile.
    const called = typeof target === "number" ? this.#targets.get(target) : this.#pass(target);
    const to = called?.at as Address;
    const versions = called?.version === undefined ? undefined : this.#versionsOf(called.at, called.version);
    const beside = {
      metadata: versions === undefined ? metadata : withVersions(metadata, versions),
      timeLeft,
      credit,
      wantsProgress,
    };
    return this.#responder.take({
      kind: "message",
      id,
      to,
      pattern,
      isAwaited,
      type,
      payload,
      ...beside,
    } as MessageFrame);
  }

  /** Looks for the actor of an address without a number: it is not remembered for long, since there are ever more of them. */
  #pass(place: unknown): Called | undefined {
    const [id, version] = Array.isArray(place) ? place : [place, undefined];
    const at: Address = `@(${id})`;
    if (!isAddress(at)) return undefined;
    const called = { at, version: typeof version === "string" ? version : undefined };
    if (this.#exposed.has(at) || this.#doors.isOpen(at)) return called;
    const ref = this.#reach(at);
    if (ref === undefined) return undefined;
    this.#doors.add(at, this.#doorOf(ref), ref);
    return called;
  }

  #versionsOf(at: Address, called: string): string | undefined {
    const ref = this.#exposed.get(at)?.ref ?? this.#doors.get(at)?.ref;
    const operations = ref === undefined ? null : operationsOf(ref);
    return operations === null ? undefined : this.#differences.sentence(called, operations);
  }

  cancel(id: string): void {
    this.#responder.take({ kind: "cancel", id });
  }

  credit(id: string, count: number): void {
    this.#responder.take({ kind: "credit", id, count });
  }

  #respond(): Responder {
    const { responder, tellsErrors, detailOf } = this.#options;
    return createResponder({
      ...responder,
      doorTo: (at) => this.#exposed.get(at)?.door ?? this.#doors.get(at)?.door ?? this.#find(at)?.door,
      send: (frame) => this.#answer(frame),
      detailOf: (error, { metadata }, usual) => {
        if (tellsErrors && error.kind === "handler-failed") return toldOf(error.cause);
        if (error.kind === "unreachable" && hadLeft(error.cause)) return toldAsDied(String(usual));
        if (error.kind === "stopped" && error.hadBegun) return BEGUN;
        return detailOf?.(error, metadata) ?? detailWithVersions(error, metadata, usual);
      },
    });
  }

  #answer(frame: AnswerFrame): void {
    const { id } = frame;
    switch (frame.kind) {
      case "reply":
        this.#put(id, `[${Code.reply},"${id}"`, frame.payload);
        return;
      case "failure":
        this.#fail(id, kindToTell(frame.error, frame.detail, this.#isLeaving), frame.detail);
        return;
      case "items":
        for (const item of frame.items) this.#put(id, `[${Code.items},"${id}"`, item, true);
        return;
      default: {
        const { done, total = null, note = null } = frame;
        const whole = JSON.stringify([Code.progress, id, done, total, note]);
        if (this.#outbox.fits(whole)) this.#outbox.add(whole); // A note that is too large is lost: its ask goes on.
      }
    }
  }

  /** Writes a reply or an item. One that cannot travel ends its message, and its sender is told why. */
  #put(id: string, head: string, value: unknown, isItem = false): void {
    const { writing } = this.#options;
    const part = writing.write(value);
    if ("text" in part) {
      const frame = part.text === "" ? `${head}]` : `${head},${part.text}]`;
      if (this.#outbox.fits(frame)) {
        if (!isItem) this.#outbox.put(frame, part.beside, null);
        else if (part.text === "") this.#outbox.add(frame, null, true);
        else this.#outbox.putItem(id, head, part.text, part.beside);
        return;
      }
    }
    writing.unwrite();
    const reason = "message" in part ? part.message : "It is larger than what may be sent at once.";
    this.#fail(id, "handler-failed", `its reply or item cannot be sent: ${reason}`);
    this.#responder.take({ kind: "cancel", id }); // Of a stream, nothing more comes.
  }

  #fail(id: string, kind: string, detail: unknown): void {
    this.#addWith(`[${Code.failure},"${id}","${kind}"`, detail === undefined ? undefined : writeJson(detail));
  }

  /** Adds a frame with a detail at its end, or without it where that cannot be sent. */
  #addWith(frame: string, detail: ReturnType<typeof writeJson> | undefined): void {
    const whole = detail?.isOk() === true ? `${frame},${detail.value}]` : `${frame}]`;
    this.#outbox.add(this.#outbox.fits(whole) ? whole : `${frame}]`);
  }

  // ——— The end of the connection

  /** Gives up what is under way, and forgets what the other side had. */
  lose(cause: unknown): void {
    this.#responder.close(cause);
    const all = [this.#exposed, this.#doors, this.#otherNames, this.#early, this.#targets, this.#refused];
    for (const each of all) each.clear();
    this.#lent = 0;
  }

  leave(): void {
    this.#isLeaving = true;
  }

  resume(): void {
    this.#responder = this.#respond();
  }
}
