import type { Address, AnyRef } from "../index";
import { createLink, type Link } from "../link/index";
import type { Connection } from "./connection";
import { detailOf, logThrown } from "./own-actors";
import { versionsWith } from "./versions";

/** The first line of a text between two nodes. */
interface Head {
  readonly kind: "text" | "beat" | "stranger" | "barrier" | "passed";
  /** The incarnations of its sender and of its receiver. */
  readonly from: string;
  readonly to: string;
  /** Grows when the two begin anew. */
  readonly round: number;
  /** The number of the text in its round, from 1. A beat has the number of the last text. */
  readonly number: number;
  /** The last leave that the sender knows of: a revision of the members' bucket. */
  readonly left: number;
}

/** The bytes that a head may take, at most. */
const HEAD = 200;
/** The texts that wait for the first contact, at most. */
const MOST_WAITING = 1_000;

const KINDS: ReadonlySet<string> = new Set<Head["kind"]>(["text", "beat", "stranger", "barrier", "passed"]);
const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** Reads the first line of a text; undefined for a line that no node of this version wrote. */
export const headOf = (line: string): Head | undefined => {
  if (line.length > HEAD) return undefined;
  const [kind = "", from = "", to = "", ...rest] = line.split(" ");
  const [round = Number.NaN, number = Number.NaN, left = Number.NaN] = rest.map(Number);
  if (!KINDS.has(kind) || from === "" || to === "" || ![round, number, left].every(isCount)) return undefined;
  return { kind: kind as Head["kind"], from, to, round, number, left }; // It is one of the kinds.
};

/** The questions of a pair to the nodes that it is one of. */
export interface PairOwner {
  readonly connection: Connection;
  /** The actors of this node that another one may reach. */
  exposed(at: Address): AnyRef | undefined;
  /** The revision of the last leave that this node knows of. */
  readonly lastLeave: number;
  /** False without JetStream: then nobody tells that a node has left. */
  readonly knowsLeases: boolean;
  /** Sends the first line and a text. `bounced` is called with the mark, if there is one, where it comes to nobody. */
  publish(node: string, line: string, text: string, mark?: string): void;
  /** Asks a node for its incarnation. Rejects when nobody serves it. */
  contact(node: string): Promise<string>;
  /** Calls back once this node knows of the owners at a revision. */
  whenKnown(revision: number, callback: () => void): void;
}

/**
 * This node's end of what it and another node say to each other: a link over numbered texts. A gap in the numbers ends the round:
 * what waits fails as `timeout`, since nobody knows what became of it, and a new round begins.
 */
export class Pair {
  readonly node: string;
  readonly link: Link;
  readonly #owner: PairOwner;
  /** The incarnation of the other node; undefined before the first contact, and once it is gone. */
  #peer: string | undefined;
  /** The incarnation that was met last, and has not gone since: that of the actors that are watched. */
  #last: string | undefined;
  /** The incarnations of both nodes as they met last: their rounds are counted from 1, and never again from there. */
  #met = "";
  #round = 1;
  #sent = 0;
  #taken = 0;
  /** The texts that the link holds until the first contact. */
  #held = 0;
  #contacting = false;
  /** True while a link that was lost says what it would know of: that alone makes no contact. */
  #resuming = false;
  /** The number of the last text that had left when nobody waited for the other node any more. */
  #idleAt = 0;
  /** The last number that a beat has told. */
  #told = 0;
  readonly #passing = new Map<number, () => void>();

  constructor(owner: PairOwner, node: string) {
    this.#owner = owner;
    this.node = node;
    const { system, cluster, nc } = owner.connection;
    this.link = createLink({
      system,
      prefix: `${cluster}/node/${node}/`,
      send: (text) => this.#send(text),
      exposed: (at) => owner.exposed(at),
      maxBytes: (nc.info?.max_payload ?? 1_048_576) - HEAD,
      metadata: { "envoi.node": node },
      versions: versionsWith(owner.connection, node),
      detailOf(error, sent) {
        logThrown(system, error, sent);
        return detailOf(error);
      },
    });
  }

  get peer(): string | undefined {
    return this.#peer;
  }

  /** True where nothing is lost if it is made anew for the next message. */
  get isIdle(): boolean {
    const { refs, waiting, underWay } = this.link;
    return this.#peer === undefined && refs + waiting + underWay === 0;
  }

  // ——— What leaves

  #send(text: string): boolean | "held" {
    if (this.#owner.connection.nc.isClosed()) return false; // A cluster that closes still answers, until its pairs end.
    if (this.#peer === undefined) {
      if (this.#held >= MOST_WAITING) return false;
      this.#held++;
      if (!this.#resuming) void this.#contact();
      return "held";
    }
    this.#publish("text", ++this.#sent, text);
    return true;
  }

  #publish(kind: Head["kind"], number: number, text = ""): void {
    const { connection, lastLeave } = this.#owner;
    const line = `${kind} ${connection.incarnation} ${this.#peer} ${this.#round} ${number} ${lastLeave}`;
    this.#owner.publish(this.node, line, text, `${this.#round}-${kind === "beat" ? "b" : ""}${this.#sent}`);
  }

  async #contact(): Promise<void> {
    if (this.#contacting) return;
    this.#contacting = true;
    try {
      const peer = await this.#owner.contact(this.node);
      this.#contacting = false;
      this.meet(peer);
    } catch (cause) {
      this.#contacting = false;
      if (this.#peer !== undefined) return; // It made the contact meanwhile.
      this.#held = 0;
      const { cluster } = this.#owner.connection;
      const error = new Error(`nobody serves node "${this.node}" of cluster "${cluster}"`, { cause });
      this.#begin(error, "unreachable");
    }
  }

  /** Makes the contact that what is held waits for: the other node is there, and nothing else may ask for it. */
  seek(): void {
    if (this.#peer === undefined && this.#held > 0) void this.#contact();
  }

  /** The other node is known to run, with an incarnation. */
  meet(peer: string): void {
    if (this.#peer === peer) return;
    const cause = new Error(`node "${this.node}" was started anew`);
    if (this.#peer !== undefined) this.lose(cause);
    if (this.#last !== undefined && this.#last !== peer) this.link.interrupt(cause);
    this.link.restore();
    this.#peer = this.#last = peer;
    const met = `${this.#owner.connection.incarnation} ${peer}`;
    // The other node has perhaps not noticed that this one begins anew, and takes no text of a round for another one of it.
    this.#round = met === this.#met ? this.#round + 1 : 1;
    this.#met = met;
    this.#sent = this.#taken = this.#told = this.#idleAt = 0;
    this.#held = 0;
    this.link.release();
  }

  /** Tells the other node how many texts have left, so that it sees when the last one was lost. */
  beat(): void {
    const { waiting, underWay } = this.link;
    if (this.#peer === undefined || (this.#told === this.#sent && waiting + underWay === 0)) return;
    this.#told = this.#sent;
    this.#publish("beat", this.#sent);
  }

  /**
   * The server says that a text came to nobody, and so have those behind it; or a beat, which says nothing of the texts behind it: the other node is gone,
   * has closed, or is away for a moment.
   *
   * @param mark that of the text or the beat (`publish`).
   */
  bounced(mark: string): void {
    const [, round, isBeat, number] = /^(\d+)-(b?)(\d+)$/.exec(mark) ?? [];
    const sent = Number(number);
    if (this.#peer === undefined || Number(round) !== this.#round || sent > this.#sent) return;
    const cause = new Error(
      `nobody serves node "${this.node}" of cluster "${this.#owner.connection.cluster}" any more`,
    );
    // Messages that left before may have been handled, and those that left behind a beat.
    const isSure = isBeat === "" ? sent - 1 <= this.#idleAt : sent <= this.#idleAt && sent === this.#sent;
    this.#peer = undefined;
    this.#held = 0;
    this.#sent = this.#taken = this.#told = this.#idleAt = 0;
    this.#begin(cause, isSure ? "unreachable" : "timeout");
    if (!this.#owner.knowsLeases) this.left("", cause);
  }

  /** Resolves once the other node knows of the owners at a revision, and all that it sent before has come. */
  barrier(revision: number): Promise<void> {
    if (this.#peer === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#passing.set(revision, resolve);
      this.link.flush();
      this.#publish("barrier", ++this.#sent, String(revision));
    });
  }

  // ——— What comes

  take(head: Head, text: string): void {
    const { incarnation } = this.#owner.connection;
    if (head.to !== incarnation) {
      // It speaks to one that was here before, or has not heard of this one.
      if (head.kind !== "stranger") this.#owner.publish(this.node, `stranger ${incarnation} ${head.from} 0 0 0`, "");
      return;
    }
    if (head.kind === "stranger") {
      if (this.#peer !== head.from) this.meet(head.from);
      return;
    }
    if (head.from !== this.#peer) this.meet(head.from);
    if (head.round < this.#round) {
      this.#publish("beat", this.#sent); // Tells it the round.
      return;
    }
    if (head.round > this.#round) {
      this.#reset(head.round, new Error(`node "${this.node}" lost texts of this one`));
    }
    const isBeat = head.kind === "beat";
    if (head.number !== this.#taken + (isBeat ? 0 : 1)) {
      if (head.number <= this.#taken) return; // A text that came twice.
      this.#gap(head.number);
      return;
    }
    if (isBeat) return;
    this.#taken = head.number;
    if (head.kind === "barrier") this.#pass(Number(text));
    else if (head.kind === "passed") this.#passed(Number(text));
    else if (!this.link.take(text)) this.#gap(head.number);
    if (this.link.waiting === 0) this.#idleAt = this.#sent;
  }

  #gap(number: number): void {
    const { connection } = this.#owner;
    const { node } = this;
    const expected = this.#taken + 1;
    connection.system.log.warn(
      `Cluster "${connection.cluster}": texts ${expected} to ${number} of node "${node}" were lost; what waits for them fails as timeout.`,
    );
    connection.tell("gap", { node, expected, number });
    this.#reset(this.#round + 1, new Error(`texts of node "${node}" were lost`));
    this.#publish("beat", 0); // The other node begins the round, too.
  }

  #pass(revision: number): void {
    const round = this.#round;
    this.#owner.whenKnown(revision, () => {
      if (round !== this.#round || this.#peer === undefined) return;
      this.link.flush();
      this.#publish("passed", ++this.#sent, String(revision));
    });
  }

  #passed(revision: number): void {
    this.#passing.get(revision)?.();
    this.#passing.delete(revision);
  }

  // ——— The end

  #reset(round: number, cause: Error): void {
    this.#round = round;
    this.#sent = this.#taken = this.#told = this.#idleAt = 0;
    this.#begin(cause, "timeout");
  }

  #begin(cause: Error, kind: "timeout" | "unreachable"): void {
    for (const resolve of this.#passing.values()) resolve();
    this.#passing.clear();
    this.link.lost(cause, kind);
    this.#resuming = true;
    this.link.resume();
    this.link.flush();
    this.#resuming = false;
  }

  /** The lease of the other node has ended, or it has left: its actors are gone, and who watches one is told. */
  left(incarnation: string, cause: Error): void {
    if (this.#peer === incarnation) this.lose(cause);
    if (this.#peer !== undefined) return; // Another one is there.
    this.#last = undefined;
    this.link.interrupt(cause);
  }

  /** The connection to the other node is lost: nobody knows what became of what waits. */
  lose(cause: Error): void {
    this.#peer = undefined;
    this.#held = 0;
    this.#reset(this.#round, cause);
  }

  end(cause: Error): void {
    this.link.lost(cause, "timeout");
    this.link.end(cause);
  }
}
