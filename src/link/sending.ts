import {
  type Address,
  type AnyRef,
  type AskError,
  type Attachment,
  address,
  defineProtocol,
  type Expose,
  type Outgoing,
  type Protocol,
  type Ref,
  type System,
} from "../index";
import type { Attached, Kind } from "./attached";
import type { Beside } from "./bytes";
import { Died } from "./died";
import { Code, codeOf, timeText, writePart } from "./frames";
import { LateAsks } from "./late-asks";
import type { Outbox } from "./outbox";
import { Room } from "./room";
import { Transients } from "./transients";
import type { Versions } from "./versions";
import type { Writing, Written } from "./writing";

/** The parts of a link that its sending side needs. */
interface SendingOptions {
  readonly system: System;
  readonly prefix: string;
  readonly mostRefs: number;
  readonly maxBytes: number;
  readonly mostUnread: number;
  /** Says which addresses in replies and items become references. */
  readonly revive: Expose;
  readonly writing: Writing;
  readonly withheldBy: (() => unknown) | undefined;
  /** Gives the version of a protocol; undefined where both sides have the same. */
  readonly versionOf: Versions["of"] | undefined;
}

/** The cause for a message by a transient reference: the next one finds another actor at the address. */
const STOPPED = new Error("its actor stopped before it was handled");
const ANY: Protocol = defineProtocol("any", {});

/** Hands on what this system sends to actors of the other side. */
export class Sending {
  readonly #options: SendingOptions;
  readonly #outbox: Outbox;
  /** By the address on the other side: mostly one for each, and one more for each further protocol. */
  readonly #attached = new Map<Address, Attached[]>();
  readonly #byTarget = new Map<number, Attached>();
  /** By the address here. */
  readonly #byAddress = new Map<Address, Attached>();
  /** The messages whose senders wait, by id. */
  readonly #sent = new Map<string, Outgoing>();
  readonly #ids = new Map<Outgoing, string>();
  readonly #late: LateAsks;
  /** Null where what the other side has not read is not bounded. */
  readonly #room: Room | null;
  readonly #transients = new Transients<Attached>((one) => {
    this.#detach(one);
    one.attachment.end("stopped");
  });
  #lastId = 0;
  #lastTarget = 0;
  #lent = 0;
  /** Set while the other side's actors are gone: the reason. */
  #goneBy: { readonly cause: unknown } | null = null;
  /** Set while nothing can leave: the reason. */
  #lostBy: { readonly cause: unknown } | null = null;

  constructor(options: SendingOptions, outbox: Outbox) {
    this.#options = options;
    this.#outbox = outbox;
    this.#late = new LateAsks(options.system.clock);
    const { mostUnread } = options;
    this.#room = mostUnread === Number.POSITIVE_INFINITY ? null : new Room(mostUnread);
  }

  /** The messages whose senders wait. */
  get size(): number {
    return this.#sent.size;
  }

  /** The address that an actor of the other side has there, by the one that it has here. */
  homeOf(at: Address): Address | undefined {
    return this.#byAddress.get(at)?.to;
  }

  /** The references that outlive a message. */
  get refs(): number {
    return this.#byTarget.size;
  }

  // ——— References

  /** The reference to an actor of the other side. It is attached once for each address and protocol. */
  refTo<S>(to: Address, protocol: Protocol<string, S>): Ref<S> {
    const known = this.#find(to, protocol.operations, false) ?? this.#attach(to, protocol as Protocol, "kept"); // Its types are those of the reference.
    return known.attachment.ref as unknown as Ref<S>; // Attached with that protocol.
  }

  /** The reference for one message. It ends some time after it has served. */
  transientTo<S>(to: Address, protocol: Protocol<string, S>): Ref<S> {
    const known = this.#find(to, protocol.operations, true) ?? this.#attach(to, protocol as Protocol, "transient"); // As above.
    this.#transients.give(known, this.#options.system.clock.monotonicTime());
    return known.attachment.ref as unknown as Ref<S>; // Attached with that protocol.
  }

  /** The reference for an address that came in a payload; undefined where there are too many. */
  revive(to: Address, wanted: Protocol | undefined): AnyRef | undefined {
    const kept = (one: Attached): boolean => one.target > 0;
    const known = wanted === undefined ? this.#attached.get(to)?.find(kept) : this.#find(to, wanted.operations, false);
    if (known !== undefined) return known.attachment.ref;
    return this.#lent < this.#options.mostRefs ? this.#attach(to, wanted ?? ANY, "lent").attachment.ref : undefined;
  }

  #find(to: Address, operations: Protocol["operations"], isTransient: boolean): Attached | undefined {
    return this.#attached.get(to)?.find((one) => one.operations === operations && (one.target === 0) === isTransient);
  }

  #attach(to: Address, protocol: Protocol, kind: Kind): Attached {
    const { system, prefix, revive } = this.#options;
    const others = this.#attached.get(to) ?? [];
    const at = this.#freeAddress(prefix + to.slice("@(".length, -1));
    const target = kind === "transient" ? 0 : ++this.#lastTarget;
    const transport = {
      send: (out: Outgoing) => this.#send(out, one),
      cancel: (out: Outgoing) => this.#cancel(out),
      credit: (out: Outgoing, count: number) => this.#credit(out, count),
      close: () => this.#forget(one, at),
    };
    const attachment = system.attach(at, protocol, transport, { expose: revive });
    const one: Attached = {
      target,
      place: target === 0 ? JSON.stringify(this.#calledBy(to, protocol)) : String(target),
      to,
      operations: protocol.operations,
      isLent: kind === "lent",
      underWay: 0,
      givenAt: 0,
      attachment: attachment as Attachment<never>,
    };
    this.#attached.set(to, [...others, one]);
    this.#byAddress.set(at, one);
    if (target === 0) return one;
    this.#byTarget.set(target, one);
    if (this.#goneBy !== null) attachment.interrupt(this.#goneBy.cause);
    if (one.isLent) this.#lent++;
    if (this.#lostBy === null) this.#open(one);
    return one;
  }

  /** A further reference to one address gets a number at its end. Those before it may have ended, or another actor may be named so. */
  #freeAddress(path: string): Address {
    let at = address(path);
    for (let number = 2; this.#byAddress.has(at); number++) at = address(`${path}~${number}`);
    return at;
  }

  /** The id of an address; and the version of the protocol by which it is called, where the two sides may have different ones. */
  #calledBy(to: Address, { operations }: Pick<Protocol, "operations">): readonly [id: string, version?: string] {
    const { versionOf } = this.#options;
    const id = to.slice("@(".length, -1);
    return versionOf === undefined || operations === ANY.operations ? [id] : [id, versionOf(operations)];
  }

  #open(one: Attached): void {
    const [id, version] = this.#calledBy(one.to, one);
    const rest = version === undefined ? (one.isLent ? [1] : []) : [one.isLent ? 1 : 0, version];
    this.#outbox.add(JSON.stringify([Code.open, one.target, id, ...rest]));
  }

  /** The attachment has ended, and all who waited have been told. */
  #forget(one: Attached, at: Address): void {
    this.#detach(one);
    this.#byAddress.delete(at);
    if (one.target === 0 && one.underWay === 0) return;
    for (const out of [...this.#ids.keys()]) if (out.to === at) this.#cancel(out);
    if (one.target === 0) return;
    this.#byTarget.delete(one.target);
    if (one.isLent) this.#lent--;
    if (this.#lostBy === null) this.#outbox.add(`[${Code.release},${one.target}]`);
  }

  /** It is given no more. */
  #detach(one: Attached): void {
    this.#transients.delete(one);
    const others = (this.#attached.get(one.to) ?? []).filter((other) => other !== one);
    if (others.length === 0) this.#attached.delete(one.to);
    else this.#attached.set(one.to, others);
  }

  /** The actor of a target has stopped over there, or is unreachable from there. */
  ended(target: number, reason: "stopped" | "unreachable", error: unknown): void {
    this.#byTarget.get(target)?.attachment.end(reason, error);
  }

  // ——— Messages

  #send(out: Outgoing, one: Attached): void {
    one.givenAt = 0;
    const withheldBy = this.#lostBy === null ? this.#options.withheldBy?.() : this.#lostBy.cause;
    const isAway = this.#lostBy !== null || withheldBy !== undefined;
    if (isAway) out.fail("unreachable", withheldBy);
    else if (this.#room?.isFull === true) out.fail("mailbox-full", { unread: this.#room.most });
    else this.#write(out, one);
  }

  #write(out: Outgoing, one: Attached): void {
    const part = this.#partOf(out);
    const metadata = part === undefined ? undefined : this.#metadataOf(out);
    if (part === undefined || metadata === undefined) {
      this.#options.writing.unwrite();
      return;
    }
    const payload = part.text === "" ? "" : `,${part.text}`;
    const head = `${one.place},${JSON.stringify(out.type)},${timeText(out.timeLeft)},${metadata}`;
    if (!out.isAwaited) {
      const frame = `[${Code.tell},${head}${payload}]`;
      if (this.#fits(frame, out)) this.#leave(frame, part.beside, out);
      return;
    }
    const id = (++this.#lastId).toString(36);
    const frame = `[${codeOf(out)},"${id}",${head},${out.credit}${payload}]`;
    if (!this.#fits(frame, out)) return;
    this.#sent.set(id, out);
    this.#ids.set(out, id);
    one.underWay++;
    this.#leave(frame, part.beside, out); // It may fail there at once.
  }

  #leave(frame: string, beside: Beside | undefined, out: Outgoing): void {
    const mark = this.#room?.take() ?? 0;
    this.#outbox.put(frame, beside, out, mark > 0 ? `[${Code.mark},${mark}]` : "");
  }

  /** The other side has read all before a mark. */
  read(mark: number): void {
    this.#room?.free(mark);
  }

  #fits(frame: string, out: Outgoing): boolean {
    if (this.#outbox.fits(frame)) return true;
    this.#options.writing.unwrite();
    out.fail("payload-too-large", this.#options.maxBytes);
    return false;
  }

  /** The payload as it is written. If it cannot be, its sender is told where. */
  #partOf(out: Outgoing): Extract<Written, { text: string }> | undefined {
    const part = this.#options.writing.write(out.payload);
    if ("text" in part) return part;
    out.fail("invalid-payload", [{ path: part.path, message: part.message }]);
    return undefined;
  }

  #metadataOf(out: Outgoing): string | undefined {
    const { metadata } = out;
    if (metadata === undefined) return "0";
    const part = writePart(metadata);
    if ("text" in part) return part.text;
    out.fail("invalid-payload", [{ path: "", message: `Its metadata cannot travel: ${part.message}` }]);
    return undefined;
  }

  #cancel(out: Outgoing): void {
    const id = this.#take(out);
    if (id === undefined) return;
    if (out.pattern === "ask") this.#late.add(id, out);
    if (this.#lostBy === null) this.#outbox.add(`[${Code.cancel},"${id}"]`);
  }

  #credit(out: Outgoing, count: number): void {
    const id = this.#ids.get(out);
    if (id !== undefined && this.#lostBy === null) this.#outbox.add(`[${Code.credit},"${id}",${count}]`);
  }

  /** Forgets a message. Returns its id, or undefined if it is forgotten already. */
  #take(out: Outgoing): string | undefined {
    const id = this.#ids.get(out);
    if (id === undefined) return undefined;
    this.#ids.delete(out);
    this.#sent.delete(id);
    const one = this.#transients.isEmpty ? undefined : this.#byAddress.get(out.to);
    if (one !== undefined) one.underWay--;
    return id;
  }

  // ——— Answers

  reply(id: string, payload: unknown): void {
    const out = this.#sent.get(id) ?? this.#late.take(id);
    if (out === undefined) return;
    this.#take(out);
    out.complete(payload);
  }

  fail(id: string, kind: AskError["kind"], detail: unknown): void {
    const out = this.#sent.get(id);
    if (out === undefined) {
      this.#late.take(id); // Nobody waits for its failure.
      return;
    }
    this.#take(out);
    const isNamed = kind === "stopped" && this.#byAddress.get(out.to)?.target === 0;
    if (isNamed) out.fail("unreachable", STOPPED);
    else out.fail(kind, detail);
  }

  produce(id: string, items: readonly unknown[]): void {
    this.#sent.get(id)?.produce(items);
  }

  progress(id: string, done: number, total: number | undefined, note: string | undefined): void {
    this.#sent.get(id)?.progress(done, total, note);
  }

  // ——— The end of the connection

  /** A message that never left. */
  unsent(out: Outgoing, cause: unknown): void {
    this.#take(out);
    out.fail("unreachable", cause);
  }

  /** Ends all that waits, and the references that came in payloads: their actors were those of a side that is gone. */
  lose(cause: unknown, lostAs: "timeout" | "unreachable" | "died"): void {
    this.#lostBy = { cause };
    this.#room?.clear();
    const waiting = [...this.#ids.keys()];
    this.#sent.clear();
    this.#ids.clear();
    this.#late.clear();
    this.#transients.lose();
    const hasDied = lostAs === "died";
    const detail = hasDied ? new Died(cause) : cause;
    for (const out of waiting) out.fail(hasDied ? "unreachable" : lostAs, detail);
    for (const one of [...this.#byTarget.values()]) if (one.isLent) one.attachment.end("unreachable", cause);
  }

  interrupt(cause: unknown): void {
    this.#goneBy = { cause };
    for (const { attachment } of [...this.#byTarget.values()]) attachment.interrupt(cause);
  }

  restore(): void {
    this.#goneBy = null;
    for (const { attachment } of this.#byTarget.values()) attachment.restore();
  }

  resume(): void {
    this.#lostBy = null;
    for (const one of this.#byTarget.values()) this.#open(one);
  }

  end(cause: unknown): void {
    for (const { attachment } of [...this.#byAddress.values()]) attachment.end("unreachable", cause);
  }
}
