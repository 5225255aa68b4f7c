import {
  type Address,
  type AnyRef,
  address,
  type Outgoing,
  type Protocol,
  quote,
  type System,
  type Transport,
} from "../index";
import { fits } from "./channels/intake";
import type { Called, Calling } from "./contract";
import { membersOf, withTrace } from "./conventions";
import { failureOf } from "./errors";
import type { ConnectionParts } from "./wire";

/** Most requests that are remembered after their asker gave up. A late answer to an older one counts as orphaned. */
const MOST_LATE = 100;

/** The connection's parts that a sender of requests needs. */
export interface CallerOptions extends ConnectionParts {
  readonly system: System;
  readonly name: string;
  readonly maxUnsent: number;
}

/** The method of an operation. */
interface Method {
  /** The beginning of each message, as JSON. */
  readonly head: string;
  readonly needs: string | undefined;
}

/** Sends the messages to references of the other side, and passes each answer to its asker. */
export class Caller {
  readonly #options: CallerOptions;
  readonly #ends: ((reason: "unreachable", cause: Error) => void)[] = [];
  /** The requests whose askers wait, by id. */
  readonly #pending = new Map<number, Outgoing>();
  readonly #ids = new Map<Outgoing, number>();
  /** Requests whose asker gave up, and whose answer may still come. */
  readonly #late = new Map<number, Outgoing>();
  #lastId = 0;
  /** True once no answers can come. */
  #isDeaf = false;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Requests whose askers wait. */
  get size(): number {
    return this.#pending.size;
  }

  /**
   * Makes the reference to a part of the other side.
   *
   * @throws TypeError for a protocol or methods that cannot be; Error when its address is in use.
   */
  attach(part: string, calling: Calling): AnyRef {
    const { system, name } = this.#options;
    const at = address(`${name}/${part}`);
    const methods = methodsOf(part, calling);
    const transport: Transport = {
      send: (out) => this.#send(out, methods.get(out.type)),
      cancel: (out) => this.#cancel(out),
      credit() {}, // No operation is a stream.
      close: () => this.#forget(at),
    };
    const { expose } = calling;
    const { ref, end } = system.attach(at, calling.protocol, transport, expose === undefined ? {} : { expose });
    this.#ends.push(end);
    return ref;
  }

  /** Takes a response. It goes to its asker; if nobody waits for it, it is counted and reported. */
  respond(id: unknown, result: unknown, error: unknown): void {
    const isKnown = typeof id === "number";
    const out = isKnown ? this.#take(id) : undefined;
    if (out !== undefined) {
      settle(out, result, error);
      this.#options.onChange();
      return;
    }
    const late = isKnown ? this.#late.get(id) : undefined;
    if (isKnown && late !== undefined) this.#tooLate(id, late, result, error);
    else this.#orphaned(id, error);
  }

  /** Tells an asker how far its request has come. */
  progress(params: unknown): void {
    const told = this.#options.progressing.read(params);
    if (told === undefined) return;
    const { token, done, total, note } = told;
    if (typeof token === "number") this.#pending.get(token)?.progress(done, total, note);
  }

  /** Ends the asks under way: no answers can come any more, so their outcome stays unknown (P17). */
  deafen(cause: Error): void {
    this.#isDeaf = true;
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    this.#ids.clear();
    this.#late.clear();
    for (const out of waiting) out.fail("timeout", cause);
  }

  /** The connection has ended. */
  close(cause: Error): void {
    this.deafen(cause);
    for (const end of this.#ends) end("unreachable", cause);
  }

  #send(out: Outgoing, method: Method | undefined): void {
    const { wire, capabilities, maxUnsent, maxBytes, progressing, isTraced } = this.#options;
    const isAsk = out.pattern === "ask";
    if (method === undefined || (method.needs !== undefined && !capabilities.has(method.needs))) {
      out.fail("unknown-operation");
    } else if (wire.isFull) out.fail("mailbox-full", maxUnsent);
    else if (isAsk && this.#isDeaf) out.fail("unreachable", new Error("The other side has ended its output."));
    else {
      const id = ++this.#lastId;
      const { payload } = out;
      const marked = isAsk && out.wantsProgress ? (progressing.mark(payload, id) ?? payload) : payload;
      const params = paramsText(isTraced ? withTrace(marked, out.metadata) : marked);
      if (typeof params === "object") out.fail("invalid-payload", [params]);
      else {
        const text = isAsk ? `${method.head},"id":${id}${params}}` : `${method.head}${params}}`;
        if (!fits(text, maxBytes)) out.fail("payload-too-large", maxBytes);
        else if (isAsk) this.#request(out, id, text);
        else if (!wire.say(text, true)) out.fail("unreachable", CLOSED);
        else if (out.isAwaited) out.complete(); // An offer: the pipe has taken it.
      }
    }
  }

  #request(out: Outgoing, id: number, text: string): void {
    // Remember the request before it is sent: the answer may come at once.
    this.#pending.set(id, out);
    this.#ids.set(out, id);
    if (this.#options.wire.say(text, true)) this.#options.onChange();
    else if (this.#take(id) !== undefined) out.fail("unreachable", CLOSED);
  }

  #take(id: number): Outgoing | undefined {
    const out = this.#pending.get(id);
    if (out === undefined) return undefined;
    this.#pending.delete(id);
    this.#ids.delete(out);
    return out;
  }

  #cancel(out: Outgoing): void {
    const id = this.#ids.get(out);
    if (id === undefined) return;
    this.#take(id);
    const [oldest] = this.#late.keys();
    if (oldest !== undefined && this.#late.size === MOST_LATE) this.#late.delete(oldest);
    this.#late.set(id, out);
    const { wire, cancelling, onChange } = this.#options;
    wire.say(JSON.stringify({ jsonrpc: "2.0", method: cancelling.method, params: { [cancelling.member]: id } }));
    onChange();
  }

  /** Removes the requests of a part whose attachment has ended. Their askers were told. */
  #forget(at: Address): void {
    for (const [id, out] of [...this.#pending]) if (out.to === at) this.#take(id);
    for (const [id, out] of [...this.#late]) if (out.to === at) this.#late.delete(id);
    this.#options.onChange();
  }

  #tooLate(id: number, out: Outgoing, result: unknown, error: unknown): void {
    const { counts, system } = this.#options;
    this.#late.delete(id);
    counts.late++;
    if (isAbsent(error)) out.complete(result); // A dead letter (P7).
    system.publish({ kind: "rpc:late", address: out.to, detail: { id, operation: out.type } });
  }

  /** A response that belongs to no request of this side. With the id null, the other side could not read something. */
  #orphaned(id: unknown, error: unknown): void {
    const { counts, system, log, name } = this.#options;
    counts.orphaned++;
    const at = address(name);
    system.publish({ kind: "rpc:orphaned", address: at, detail: { id } });
    const { code, message } = membersOf(error);
    const what =
      id === null && error !== undefined
        ? `The other side of ${at} could not take a message: ${quote(message)} (${quote(code)}).`
        : `A response came to ${at} for ${quote(id)}, which names no request that waits for one.`;
    log.warn(what, { address: at });
  }
}

const CLOSED = new Error("The connection is closed.");

/** JSON-RPC 1 wrote both members, one of them null. */
const isAbsent = (member: unknown): boolean => member === undefined || member === null;

/** Gives an asker its answer. The reply is checked by the protocol. */
function settle(out: Outgoing, result: unknown, error: unknown): void {
  if (isAbsent(error) && result !== undefined) out.complete(result);
  else {
    const { kind, detail } = failureOf(isAbsent(result) ? error : undefined);
    out.fail(kind, detail);
  }
}

/** The rest of a message with params, as JSON; or the reason why the params cannot be written. */
function paramsText(payload: unknown): string | { readonly path: string; readonly message: string } {
  if (payload === undefined || payload === null) return "";
  let text: string | undefined;
  try {
    text = JSON.stringify(payload);
  } catch {
    return { path: "", message: "cannot be written as JSON: leave out bigints, and what holds itself" };
  }
  if (text?.startsWith("{") || text?.startsWith("[")) return `,"params":${text}`;
  return { path: "", message: "must be an object or an array: the params of JSON-RPC are" };
}

function methodsOf(part: string, { protocol, methods }: Calling): ReadonlyMap<string, Method> {
  const operations: Protocol["operations"] | undefined = protocol?.operations;
  if (typeof operations !== "object") {
    throw new TypeError(`The protocol of ${quote(part)} is what defineProtocol() returned; got ${quote(protocol)}.`);
  }
  if (typeof methods !== "object" || methods === null) {
    throw new TypeError(
      `The methods of ${quote(part)} are named by operation, as in { read: "fs/read" }; got ${quote(methods)}.`,
    );
  }
  const found = new Map<string, Method>();
  for (const [operation, called] of Object.entries<string | Called | undefined>(methods)) {
    if (called === undefined) continue;
    const of = `The operation ${quote(operation)} of ${quote(part)}`;
    const known = operations[operation];
    if (known === undefined) {
      throw new TypeError(`${of} is not in its protocol; write one of ${Object.keys(operations).join(", ")}.`);
    }
    if (known.isStream) throw new TypeError(`${of} is a stream; JSON-RPC has a form only for replies.`);
    const { method, needs } = typeof called === "string" ? { method: called } : called;
    if (typeof method !== "string") throw new TypeError(`${of} has a method, which is a text; got ${quote(method)}.`);
    found.set(operation, { head: `{"jsonrpc":"2.0","method":${JSON.stringify(method)}`, needs });
  }
  return found;
}
