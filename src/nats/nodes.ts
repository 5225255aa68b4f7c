import { type Address, type AnyRef, address, type Protocol, quote, type Ref } from "../index";
import type { Connection } from "./connection";
import { FORMAT, formatOf, isReadable } from "./format";
import { headOf, Pair, type PairOwner } from "./pair";
import { isToken } from "./subjects";

/** The longest time until a node says which one it is, in milliseconds. */
const CONTACT_WITHIN = 2_000;
/** The status of what came to nobody. */
const NO_RESPONDERS = 503;
/** Beats of a pair in the time of a lease. */
const BEATS = 4;

/** Names without a lease that have sent something, and that this node has not sent to, at most: a stranger may say ever more names. */
const MOST_STRANGERS = 1_000;
/** Texts that wait until this node has heard of a leave, at most. More are lost, and told as a gap. */
const MOST_HELD = 10_000;
/** Barriers of other nodes that wait until this node knows of the owners at their revision, at most: each waits for a lease over there. */
const MOST_KNOWING = 10_000;
/** Incarnations that are remembered after their leases ended, at most: the first ones have said their last word long ago. */
const MOST_GONE = 10_000;

/** Milliseconds between two looks whether all answers have come. */
const ANSWERED_LOOK = 5;

/** This node among the others: who may be reached here, and the pairs with those that were met. */
export class Nodes implements PairOwner {
  readonly connection: Connection;
  readonly #pairs = new Map<string, Pair>();
  /** The pairs of names without a lease, the oldest first. */
  readonly #strangers = new Set<Pair>();
  readonly #exposed = new Map<Address, AnyRef>();
  /** Gives further actors that may be reached: those of names over the cluster. */
  readonly #finders: ((at: Address) => AnyRef | undefined)[] = [];
  /** The incarnations whose lease ended: nothing of theirs is taken any more. */
  readonly #gone = new Set<string>();
  /** Texts of nodes that know of a leave which this one has not heard of, in order. */
  #held: { readonly node: string; readonly line: string; readonly text: string; readonly left: number }[] = [];
  readonly #knowing: { readonly revision: number; readonly callback: () => void }[] = [];
  #known = 0;
  /** True once the system shuts down: its actors stop, and references to them outlive it, as they outlive a node that is killed. */
  #isLeaving = false;
  lastLeave = 0;
  /** The members' bucket is followed up to this revision. It is not `lastLeave`: a node that joins never hears of the leaves before. */
  #heard = 0;
  /** The leases, by which nodes know each other; undefined without JetStream. While that of this node is not held, it takes nothing. */
  leases: { readonly holdsLease: boolean; isHere(node: string): boolean } | undefined;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Begins to listen. Others can reach this node once the promise has resolved. */
  async open(): Promise<void> {
    const { nc, node, system, lease } = this.connection;
    const decoder = new TextDecoder();
    const texts = nc.subscribe(this.connection.subject("to", node, "*"), {
      callback: (error, message) => {
        if (error !== null) return;
        const from = message.subject.slice(message.subject.lastIndexOf(".") + 1);
        const whole = decoder.decode(message.data);
        const end = whole.indexOf("\n");
        this.#arrive(from, whole.slice(0, end), whole.slice(end + 1));
      },
    });
    const contacts = nc.subscribe(this.connection.subject("contact", node, "*"), {
      callback: (error, message) => {
        if (error === null && this.#isMember) message.respond(this.connection.incarnation);
      },
    });
    const bounces = nc.subscribe(this.connection.subject("none", node, "*", "*"), {
      callback: (error, message) => {
        const [mark = "", from = ""] = message.subject.split(".").reverse();
        if (error === null && message.headers?.code === NO_RESPONDERS) this.#pairs.get(from)?.bounced(mark);
      },
    });
    await nc.flush();
    let timer = system.clock.setTimer(beat, lease / BEATS);
    const nodes = this;
    function beat(): void {
      for (const pair of nodes.#pairs.values()) {
        pair.beat();
        if (nodes.leases?.holdsLease && nodes.leases.isHere(pair.node)) pair.seek(); // Its actors may be watched, and nothing else is sent.
      }
      timer = system.clock.setTimer(beat, lease / BEATS);
      timer.unref();
    }
    timer.unref();
    this.connection.onClose(
      system.beforeShutdown(() => {
        this.#isLeaving = true;
        for (const pair of this.#pairs.values()) pair.link.leave();
      }),
    );
    this.connection.onClose(() => {
      timer.cancel();
      bounces.unsubscribe();
      contacts.unsubscribe();
      for (const pair of this.#pairs.values()) pair.link.flush();
      texts.unsubscribe();
      const cause = new Error(`cluster "${this.connection.cluster}" is closed`);
      for (const pair of this.#pairs.values()) pair.end(cause);
    });
  }

  // ——— Who may be reached

  /** @throws TypeError when the name or the reference is none; Error when the name is in use, or the cluster is closed. */
  expose(name: string, ref: AnyRef): () => void {
    this.connection.checkOpen("cluster.expose");
    const at = address(name);
    if (typeof ref?.address !== "string") {
      throw new TypeError(
        `cluster.expose takes a name and a reference, such as expose("files", files); got ${quote(ref)}.`,
      );
    }
    if (this.#exposed.has(at)) throw new Error(`The name ${quote(name)} is exposed already: end that one first.`);
    this.#exposed.set(at, ref);
    for (const { link } of this.#pairs.values()) link.lookAgain();
    return () => {
      if (this.#exposed.get(at) === ref) this.#exposed.delete(at);
    };
  }

  remote<Signatures>(node: string, name: string, protocol: Protocol<string, Signatures>): Ref<Signatures> {
    this.connection.checkOpen("cluster.remote");
    if (!isToken(node))
      throw new TypeError(`The name of a node has 1 to 64 letters, digits, - and _; got ${quote(node)}.`);
    const pair = this.pair(node);
    const isAway = pair.peer === undefined && this.leases?.isHere(node) === false;
    if (isAway) pair.link.interrupt(new Error(`node "${node}" is not in cluster "${this.connection.cluster}"`));
    return pair.link.ref(address(name), protocol);
  }

  addFinder(find: (at: Address) => AnyRef | undefined): void {
    this.#finders.push(find);
  }

  exposed(at: Address): AnyRef | undefined {
    const known = this.#exposed.get(at);
    if (known !== undefined) return known;
    for (const find of this.#finders) {
      const ref = find(at);
      if (ref !== undefined) return ref;
    }
    return undefined;
  }

  // ——— Pairs

  /** The way to a node. */
  pair(node: string): Pair {
    const pair = this.#pairs.get(node) ?? this.#make(node);
    this.#strangers.delete(pair);
    return pair;
  }

  #make(node: string): Pair {
    const pair = new Pair(this, node);
    this.#pairs.set(node, pair);
    if (this.#isLeaving) pair.link.leave();
    return pair;
  }

  /** Where there are too many strangers, the oldest one of which nothing is under way is forgotten. */
  #addStranger(pair: Pair): void {
    this.#strangers.add(pair);
    if (this.#strangers.size <= MOST_STRANGERS) return;
    for (const oldest of this.#strangers) {
      this.#strangers.delete(oldest);
      if (this.leases?.isHere(oldest.node) === true) continue; // It has joined since.
      if (oldest.link.underWay > 0) this.#strangers.add(oldest);
      else this.#forget(oldest, new Error(`node "${oldest.node}" has said nothing for long`));
      return;
    }
  }

  #forget(pair: Pair, cause: Error): void {
    this.#pairs.delete(pair.node);
    this.#strangers.delete(pair);
    pair.end(cause);
  }

  get knowsLeases(): boolean {
    return this.leases !== undefined;
  }

  get #isMember(): boolean {
    return this.leases?.holdsLease ?? true;
  }

  async contact(node: string): Promise<string> {
    const { nc } = this.connection;
    const message = await nc.request(this.connection.subject("contact", node, this.connection.node), "", {
      timeout: CONTACT_WITHIN,
    });
    const incarnation = message.string();
    if (!isReadable(incarnation)) {
      throw new Error(
        `node "${node}" has another format (${formatOf(incarnation)}) than this node (${FORMAT}): run one version of envoi on all nodes`,
      );
    }
    if (this.#gone.has(incarnation)) throw new Error(`the lease of node "${node}" has ended`);
    return incarnation;
  }

  publish(node: string, line: string, text: string, mark?: string): void {
    const { nc, node: own } = this.connection;
    // The server answers a text that comes to nobody, if it has a subject for that.
    const options = mark === undefined ? {} : { reply: this.connection.subject("none", own, node, mark) };
    nc.publish(this.connection.subject("to", node, own), `${line}\n${text}`, options);
  }

  #arrive(node: string, line: string, text: string): void {
    const head = headOf(line);
    if (head === undefined) return;
    if (!this.admits(head.from)) return;
    const isBehind = head.left > this.#heard;
    if (isBehind || this.#held.some((each) => each.node === node)) {
      if (this.#held.length < MOST_HELD) this.#held.push({ node, line, text, left: head.left });
      return;
    }
    if (!this.#isMember) return;
    const known = this.#pairs.get(node);
    const pair = known ?? this.#make(node);
    if (known === undefined && this.leases?.isHere(node) !== true) this.#addStranger(pair);
    pair.take(head, text);
  }

  /** The fence: false for a node whose lease has ended, so that nothing it still says is taken, and for one of another format. */
  admits(incarnation: string): boolean {
    return isReadable(incarnation) && !this.#gone.has(incarnation);
  }

  /** Resolves once nothing waits for an answer of another node. */
  async answered(): Promise<void> {
    const { system } = this.connection;
    while ([...this.#pairs.values()].some(({ link }) => link.waiting > 0)) {
      await new Promise<void>((resolve) => system.clock.setTimer(resolve, ANSWERED_LOOK));
    }
  }

  // ——— What membership tells

  /** A node has left, or its lease has ended. */
  left(node: string, incarnation: string, revision: number, why: string): void {
    this.#gone.add(incarnation);
    const [oldest] = this.#gone;
    if (oldest !== undefined && this.#gone.size > MOST_GONE) this.#gone.delete(oldest);
    const pair = this.#pairs.get(node);
    if (pair !== undefined) {
      const cause = new Error(`node "${node}" ${why}`);
      pair.left(incarnation, cause);
      if (pair.isIdle) this.#forget(pair, cause); // There may be ever more names of nodes, as of pods.
    }
    this.lastLeave = Math.max(this.lastLeave, revision);
  }

  /** A node has begun as another incarnation: what waits of its former ones is not taken any more. */
  joined(node: string, incarnation: string): void {
    this.#gone.delete(incarnation); // Servers that have lost the last entries may have its lease all the same: it goes on.
    this.#held = this.#held.filter((each) => each.node !== node || headOf(each.line)?.from === incarnation);
    this.#pairs.get(node)?.link.restore();
  }

  /** The bucket of the members was made anew, and its revisions begin again. */
  restart(): void {
    this.#heard = this.lastLeave = 0;
    this.#held = [];
  }

  /** All that the members' bucket tells up to a revision has been followed: texts that waited for it are taken. */
  heard(revision: number): void {
    this.#heard = Math.max(this.#heard, revision);
    const held = this.#held;
    this.#held = [];
    for (const each of held) this.#arrive(each.node, each.line, each.text);
  }

  /** This node lost its own lease: what it was is gone, and it begins anew. */
  lostLease(cause: Error): void {
    for (const pair of this.#pairs.values()) pair.lose(cause);
  }

  /** The owners' bucket was made anew, and its revisions begin again. */
  forgetOwners(): void {
    this.#known = 0;
  }

  /** The owners are known up to a revision. */
  know(revision: number): void {
    this.#known = Math.max(this.#known, revision);
    for (const each of this.#knowing.splice(0)) {
      if (each.revision <= this.#known) each.callback();
      else this.#knowing.push(each);
    }
  }

  whenKnown(revision: number, callback: () => void): void {
    if (revision <= this.#known) callback();
    else if (this.#knowing.length < MOST_KNOWING) this.#knowing.push({ revision, callback });
  }

  /** All pairs that are in contact. */
  *met(): IterableIterator<Pair> {
    for (const pair of this.#pairs.values()) if (pair.peer !== undefined) yield pair;
  }
}
