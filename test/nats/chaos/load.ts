/**
 * The durable load of the chaos: what all of its processes do, and the file in which they note it. Each appends to one file, so that its lines are in
 * the order in which things happened, and a process may be killed at any moment.
 */
import { appendFileSync, closeSync, openSync, readSync } from "node:fs";
import type { Ref, SignaturesOf } from "../../../src";
import type { Cluster, Sharded } from "../../../src/nats";
import { Orders } from "../durable/nodes";
import type { DeliveryEvent } from "../faults/deliveries";

/** The receiver by name. */
export const BY_NAME = "orders";
/** The receivers by id. */
export const IDS = ["s0", "s1", "s2", "s3"];
/** Calls of a handler for one message. */
export const ATTEMPTS = 3;
/** The options of all receivers. */
export const DURABLE = { attempts: ATTEMPTS, backoff: 1, ackWait: 2_000 };
/** One message in so many is poison: its handler fails each time. */
const POISON = 40;
/** The pauses of a sender and of a caller, in milliseconds: without them they would call as fast as they are refused. */
const [PACE, CALL_PACE] = [10, 2];
export const pace = (): Promise<void> => Bun.sleep(CALL_PACE);
/** The time until a sender gives up, in milliseconds: longer than any trouble. */
const TIMEOUT = 60_000;

export type Shops = Sharded<SignaturesOf<typeof Orders>>;
export type Note = (event: DeliveryEvent) => void;

/** Notes events in a file that all processes share. */
export const noteIn =
  (file: string): Note =>
  (event) =>
    appendFileSync(file, `${JSON.stringify(event)}\n`);

/** The name of a message tells what it is. */
export const idOf = (sender: string, receiver: string, number: number): string => `${sender} ${receiver} ${number}`;

export function eventOf(id: string, isMarked: boolean): DeliveryEvent {
  const [sender = "", receiver = "", number = ""] = id.split(" ");
  return { kind: "handled", sender, receiver, number: Number(number), isMarked };
}

/** Sends durable messages to the name and to ids until `isOver`, a few at a time. */
export class Sending {
  readonly #cluster: Cluster;
  readonly #shops: Shops;
  readonly #sender: string;
  readonly #note: Note;
  readonly #numbers = new Map<string, number>();

  constructor(cluster: Cluster, shops: Shops, sender: string, note: Note) {
    this.#cluster = cluster;
    this.#shops = shops;
    this.#sender = sender;
    this.#note = note;
  }

  async run(isOver: () => boolean): Promise<void> {
    const receivers = [BY_NAME, ...IDS];
    while (!isOver()) {
      const count = 1 + Math.floor(Math.random() * 3);
      const receiver = receivers[Math.floor(Math.random() * receivers.length)] as string; // Below the length.
      await Promise.all(Array.from({ length: count }, () => this.send(receiver)));
      await Bun.sleep(PACE);
    }
  }

  /** Sends the next message to a receiver. True once it is acknowledged. */
  async send(receiver: string, isPoison = Math.random() < 1 / POISON): Promise<boolean> {
    const number = (this.#numbers.get(receiver) ?? 0) + 1;
    this.#numbers.set(receiver, number);
    const message = { sender: this.#sender, receiver, number };
    const order = { id: idOf(this.#sender, receiver, number), poison: isPoison };
    const to: Ref<SignaturesOf<typeof Orders>> | undefined =
      receiver === BY_NAME ? undefined : this.#shops.ref(receiver);
    const durable =
      to === undefined
        ? this.#cluster.durable(receiver, Orders, { level: "replicated" })
        : this.#cluster.durable(to, { level: "replicated" });
    this.#note({ kind: "sent", ...message });
    const stored = await durable.tell("place", order, { timeout: TIMEOUT });
    if (stored.isOk()) this.#note({ kind: "acknowledged", ...message });
    return stored.isOk();
  }
}

/** Reads the events of a file as they come. */
export class Noted {
  readonly events: DeliveryEvent[] = [];
  readonly #file: number;
  #rest = "";
  readonly #decoder = new TextDecoder();

  constructor(file: string) {
    this.#file = openSync(file, "a+");
  }

  /** Reads what is new. */
  read(): void {
    const bytes = Buffer.alloc(64 * 1024);
    for (let count = readSync(this.#file, bytes); count > 0; count = readSync(this.#file, bytes)) {
      const lines = (this.#rest + this.#decoder.decode(bytes.subarray(0, count), { stream: true })).split("\n");
      this.#rest = lines.pop() ?? "";
      for (const line of lines) this.events.push(JSON.parse(line));
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}
