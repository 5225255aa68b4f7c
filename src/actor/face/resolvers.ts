import { type Address, type AnyRef, idOf, isAddress, quote } from "../../message/address";
import { checkOptions, type OptionChecks, option } from "../../message/option";
import type { Operations } from "../../protocol/protocol";
import type { ActorEnvironment } from "../cell/cell";
import type { Recipient, Resolving } from "../contract";
import { refByAddress } from "./by-address";
import { type Opener, Opening, type Resolver } from "./opening";
import { Passivation } from "./passivation";

/** The way to open the addresses below a prefix. */
export interface ResolveOptions {
  /**
   * Milliseconds after which an idle actor is stopped, if its function made it at the address that was asked for. It is
   * idle while it and its children handle nothing, and nothing waits for them. It is stopped between this time and twice
   * this time after its last message. From 1 up to 2,147,483,647 (24 days), or `Infinity`. Default: `Infinity`, never.
   */
  readonly idle?: number;
  /**
   * Most messages that wait for one address while it is opened, a whole number from 1. Further ones come back as
   * `mailbox-full`. Default: 1,000.
   */
  readonly waiting?: number;
}

const LONGEST_IDLE = 2 ** 31 - 1;
const NEVER = Number.POSITIVE_INFINITY;

const CHECKS: OptionChecks<ResolveOptions> = {
  idle: option.rule(
    `is a number of milliseconds from 1 to ${LONGEST_IDLE}, or Infinity`,
    (value) => typeof value === "number" && ((value >= 1 && value <= LONGEST_IDLE) || value === NEVER),
    RangeError,
  ),
  waiting: option.count,
};

/** The resolvers of a system, and the addresses that are being opened. */
class Resolvers implements Resolving {
  readonly #environment: ActorEnvironment;
  /** The longest prefix first. */
  #resolvers: readonly Resolver[] = [];
  readonly #openings = new Map<string, Opening>();

  constructor(environment: ActorEnvironment) {
    this.#environment = environment;
  }

  add(prefix: string, open: Opener, { idle = NEVER, waiting = 1_000 }: ResolveOptions): () => void {
    if (this.#resolvers.some((other) => other.prefix === prefix)) {
      throw new Error(`The addresses below ${quote(prefix)} are resolved already; end that one first.`);
    }
    const passivation = idle === NEVER ? null : new Passivation(this.#environment, idle);
    const resolver: Resolver = { prefix, open, waiting, passivation };
    this.#resolvers = [...this.#resolvers, resolver].sort((a, b) => b.prefix.length - a.prefix.length);
    return () => {
      this.#resolvers = this.#resolvers.filter((other) => other !== resolver);
      passivation?.end();
    };
  }

  find(at: string): Recipient | undefined {
    const opening = this.#openings.get(at);
    if (opening !== undefined) return opening.cell;
    const cell = this.#environment.directory.get(at);
    if (cell?.isEnding === false) return cell;
    const resolver = this.#covering(at);
    if (resolver === undefined) return cell;
    // Written anew: the text that came may be a part of a long one, and would keep that.
    const own: Address = `@(${idOf(at as Address)})`; // #covering has checked it.
    return new Opening(this.#environment, own, resolver, this.#openings).begin(cell);
  }

  reference(at: Address, operations: Operations): AnyRef | undefined {
    return this.#covering(at) === undefined ? undefined : refByAddress(this.#environment, at, operations);
  }

  get queued(): number {
    let sum = 0;
    for (const { size } of this.#openings.values()) sum += size;
    return sum;
  }

  close(): void {
    for (const { passivation } of this.#resolvers) passivation?.end();
    this.#resolvers = []; // Nothing that hears of a dead letter opens an address again.
    for (const opening of this.#openings.values()) opening.close();
  }

  #covering(at: string): Resolver | undefined {
    if (!isAddress(at)) return undefined; // A message may come with anything.
    return this.#resolvers.find(({ prefix }) => at.startsWith(prefix, "@(".length));
  }
}

/** Says who opens the addresses below a prefix. The returned function ends that. */
export function resolve(
  environment: ActorEnvironment,
  prefix: string,
  open: Opener,
  options: ResolveOptions = {},
): () => void {
  if (environment.isClosed) throw new Error("Nothing can be resolved: the system has shut down; create another one.");
  check(prefix, open, options);
  const known = environment.resolvers;
  const resolvers = known instanceof Resolvers ? known : new Resolvers(environment);
  environment.resolvers = resolvers;
  return resolvers.add(prefix, open, options);
}

function check(prefix: string, open: Opener, options: ResolveOptions): void {
  const isPrefix = typeof prefix === "string" && prefix.endsWith("/") && isAddress(`@(${prefix.slice(0, -1)})`);
  if (!isPrefix && prefix !== "") {
    throw new TypeError(
      `A prefix of addresses ends with a slash, as "sessions/" does, or is empty; got ${quote(prefix)}.`,
    );
  }
  if (typeof open !== "function") {
    throw new TypeError(
      `The addresses below ${quote(prefix)} are opened by a function: (at, id) => system.spawn(id, Session, createSession).`,
    );
  }
  checkOptions(options, CHECKS, "resolve", "{ idle: 60_000 }");
}
