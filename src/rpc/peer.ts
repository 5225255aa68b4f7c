import {
  type Address,
  type AnyRef,
  address,
  type Clock,
  type ClockTimer,
  defineProtocol,
  readJson,
  type System,
} from "../index";
import { Batch } from "./batch";
import { Caller } from "./calling";
import type {
  Channel,
  ChannelEvents,
  Peer,
  PeerCounts,
  PeerOptions,
  Protocols,
  RequestId,
  RpcErrorObject,
  Served,
} from "./contract";
import { cancellingBy, isId, progressingBy } from "./conventions";
import { type Head, headOf } from "./head";
import { checkChannel, checkPeerOptions } from "./options";
import { REFUSED } from "./responses";
import { Serving } from "./serving";
import { Wire } from "./wire";

/** Milliseconds that the requests under way have to end, once the other side sends no more. */
const GRACE = 1_000;

/** The members of a message, whatever it is. */
interface Members {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The protocol of the reference that stands for the connection. It has no operations. */
const Connected = defineProtocol("json-rpc", {});

/** The number of peers that each system has made. Their default names count on from it. */
const made = new WeakMap<System, number>();

function nameIn(system: System): string {
  const count = (made.get(system) ?? 0) + 1;
  made.set(system, count);
  return `rpc/${count}`;
}

class Connection<Parts extends Protocols> implements Peer<Parts> {
  readonly ref: AnyRef;
  readonly refs: Peer<Parts>["refs"];
  readonly capabilities: Set<string>;
  readonly closed: Promise<Error | undefined>;
  readonly counts: { -readonly [Name in keyof PeerCounts]: PeerCounts[Name] } = {
    received: 0,
    refused: 0,
    orphaned: 0,
    late: 0,
  };
  readonly #system: System;
  readonly #clock: Clock;
  readonly #at: Address;
  readonly #wire: Wire;
  readonly #serving: Serving;
  readonly #caller: Caller;
  readonly #limits: { readonly depth: number };
  readonly #maxBatch: number;
  readonly #maxBytes: number;
  readonly #cancel: string;
  readonly #progress: string;
  readonly #endRef: (reason: "unreachable", cause: Error) => void;
  readonly #resolve: (cause: Error | undefined) => void;
  #isOver = false;
  /** True once the other side sends no more. */
  #isEnding = false;
  #grace: ClockTimer | null = null;

  constructor(system: System, channel: Channel, options: PeerOptions<Parts>) {
    const { name = nameIn(system), serves = {}, calls, capabilities = [], errorOf } = options;
    const { most = 1_000, longest = 600_000, maxBytes = 4_194_304, maxDepth = 512, maxBatch = 100 } = options;
    const { maxUnsent = 4_194_304, stalledAfter = 30_000, trace: isTraced = true } = options;
    const { clock, log } = system;
    const cancelling = cancellingBy(options.cancel ?? "$/cancel_request");
    const progressing = progressingBy(options.progress ?? "notifications/progress");
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    this.closed = promise;
    this.#resolve = resolve;
    this.#system = system;
    this.#clock = clock;
    this.#limits = { depth: maxDepth };
    this.#maxBatch = maxBatch;
    this.#maxBytes = maxBytes;
    this.#cancel = cancelling.method;
    this.#progress = progressing.method;
    this.capabilities = new Set(capabilities);
    const wire = new Wire(channel, clock, { most, maxUnsent, maxBytes, stalledAfter }, (cause) => this.#end(cause));
    const { counts } = this;
    const onChange = (): void => this.#update();
    const conventions = { cancelling, progressing, isTraced };
    const parts = { wire, log, capabilities: this.capabilities, counts, ...conventions, maxBytes, onChange };
    this.#wire = wire;
    this.#serving = new Serving(serves, { ...parts, clock, errorOf, most, longest });
    this.#caller = new Caller({ ...parts, system, name, maxUnsent });
    this.#at = address(name);
    const { ref, end } = system.attach(this.#at, Connected, {
      send: (out) => out.fail("unknown-operation"),
      cancel() {},
      credit() {},
      close: () => this.close(), // The system shuts down, or somebody stopped it.
    });
    this.ref = ref;
    this.#endRef = end;
    try {
      const refs = Object.entries(calls ?? {}).map(([part, calling]) => [part, this.#caller.attach(part, calling)]);
      this.refs = Object.fromEntries(refs) as Peer<Parts>["refs"]; // Each part has the reference of its protocol.
    } catch (thrown) {
      this.#end(undefined);
      throw thrown;
    }
    wire.open(this.#events(), { maxBytes, clock });
  }

  get serving(): number {
    return this.#serving.size;
  }

  get waiting(): number {
    return this.#caller.size;
  }

  serve(method: string, served: Served | undefined): void {
    this.#serving.serve(method, served);
  }

  close(): void {
    this.#end(undefined);
  }

  #events(): ChannelEvents {
    return {
      text: (text) => this.#take(text),
      refused: (why, head = "") => {
        if (this.#isOver) return;
        this.counts.received++;
        if (why === "not-text") this.#refuse(null, REFUSED.notText, null);
        else this.#refuseText(headOf(head), REFUSED.tooLong(this.#maxBytes));
      },
      ended: () => this.#ended(),
      closed: (cause) => this.#end(cause),
      drained: () => this.#update(),
    };
  }

  /** Takes a text. */
  #take(text: string): void {
    if (this.#isOver) return;
    const read = readJson(text, this.#limits);
    if (read.isErr()) {
      this.counts.received++;
      const { noJson, tooDeep, ownPrototype } = REFUSED;
      const { error } = read;
      if (error === "no-json") this.#refuse(null, noJson, null);
      else {
        const head = headOf(text);
        // The standard wants null in the answer to a request that is none.
        this.#refuseText(head?.isResponse === true ? head : undefined, error === "too-deep" ? tooDeep : ownPrototype);
      }
    } else if (Array.isArray(read.value)) this.#takeBatch(read.value, text.length);
    else this.#takeMessage(read.value, null, text.length);
  }

  #takeBatch(messages: readonly unknown[], length: number): void {
    const { length: count } = messages;
    if (count === 0 || count > this.#maxBatch) {
      this.counts.received++;
      this.#refuse(null, count === 0 ? REFUSED.emptyBatch : REFUSED.largeBatch(this.#maxBatch), null);
      return;
    }
    const batch = new Batch(count, (text) => void this.#wire.say(text));
    for (const message of messages) {
      if (this.#isOver) return;
      this.#takeMessage(message, batch, length); // One that is an array is no message.
    }
    batch.end(undefined);
  }

  /** Checks the envelope of a message, and passes on its params, its result or its error unchecked. */
  #takeMessage(message: unknown, batch: Batch | null, length: number): void {
    this.counts.received++;
    if (typeof message !== "object" || message === null) {
      this.#refuse(null, REFUSED.noMessage, batch);
      return;
    }
    const { jsonrpc, id, method, params, result, error }: Members = message;
    const isResponse = method === undefined && (result !== undefined || error !== undefined);
    if (isResponse) {
      // A response is never answered, not even a faulty one: two peers could refuse each other's refusals without end.
      if (jsonrpc === "2.0" && id !== undefined) this.#caller.respond(id, result, error);
      else this.counts.refused++;
      return;
    }
    if (jsonrpc !== "2.0" || typeof method !== "string" || result !== undefined || error !== undefined) {
      // A message without a method may concern a request of this side, so its id does not name one of the other side.
      this.#refuse(method !== undefined && id !== undefined && isId(id) ? id : null, REFUSED.noMessage, batch);
    } else if (params !== undefined && typeof params !== "object") {
      this.#refuse(id !== undefined && isId(id) ? id : null, REFUSED.badParams, batch);
    } else if (id === undefined) this.#notice(method, params);
    else if (isId(id)) this.#serving.request(id, method, params, batch, length);
    else this.#refuse(null, REFUSED.badId, batch);
  }

  #notice(method: string, params: unknown): void {
    if (method === this.#cancel) this.#serving.cancel(params);
    else if (method === this.#progress) this.#caller.progress(params);
    else this.#serving.notify(method, params);
  }

  /** Refuses a text that is not taken as a whole. Whoever waits for it is told, where its beginning says so. */
  #refuseText(head: Head | undefined, error: string): void {
    if (head?.isResponse !== true) {
      // The id of a request that is under way is that of the other one.
      this.#refuse(head === undefined || this.#serving.has(head.id) ? null : head.id, error, null);
      return;
    }
    this.counts.refused++; // A response is never answered.
    const { code, message }: RpcErrorObject = JSON.parse(error);
    this.#caller.respond(head.id, undefined, { code, message });
  }

  #refuse(id: RequestId, error: string, batch: Batch | null): void {
    this.#serving.refuse(id, error, batch);
  }

  #update(): void {
    this.#wire.update(this.#serving.load, this.#caller.size);
    if (this.#isEnding && this.#serving.size === 0) this.close();
  }

  /** Handles the end of the input. Requests under way are still answered if they end within `GRACE`. */
  #ended(): void {
    if (this.#isOver || this.#isEnding) return;
    this.#isEnding = true;
    this.#caller.deafen(new Error("The other side has ended its output."));
    this.#grace = this.#clock.setTimer(() => this.close(), GRACE);
    this.#update();
  }

  #end(cause: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#grace?.cancel();
    this.#wire.close();
    const known = cause ?? new Error("The connection is closed.");
    this.#caller.close(known);
    this.#serving.close(known);
    this.#endRef("unreachable", known);
    this.#system.publish({ kind: "rpc:closed", address: this.#at, detail: { cause } });
    this.#resolve(cause);
  }
}

/**
 * Speaks JSON-RPC 2.0 over a channel, both ways. `serves` lets the other side call operations of references: the params are validated
 * once, by the schema of the operation. `calls` makes the other side a reference: asks are requests, tells are notifications, and
 * timeouts, cancellation, progress and `ctx.watch` work as everywhere.
 *
 * Invalid messages are refused as the standard says, at little cost. Errors become codes, and codes of the other side become errors, by
 * the table in docs/json-rpc.md. When the connection ends, asks under way end as `timeout` (the other side may have handled them), later
 * ones as `unreachable`, and handlers of the other side's requests are cancelled.
 *
 * @throws TypeError or RangeError when the channel, an option, a method or a protocol cannot be one; Error when an address is in use.
 * @example
 * const peer = createPeer(system, stdioChannel(), {
 *   serves: { "files/read": { ref: files, operation: "read" } },
 *   calls: { editor: { protocol: Editor, methods: { show: "editor/show" } } },
 * });
 * await peer.refs.editor.ask("show", { path: "README.md" });
 * await peer.closed;
 */
export function createPeer<const Parts extends Protocols = Record<never, never>>(
  system: System,
  channel: Channel,
  options: PeerOptions<Parts> = {},
): Peer<Parts> {
  checkPeerOptions(options);
  checkChannel(channel);
  return new Connection(system, channel, options);
}
