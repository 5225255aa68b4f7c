import {
  type AnyRef,
  type AskOptions,
  type AskResult,
  type Clock,
  type ClockTimer,
  type DeliveryError,
  type Metadata,
  type OpenDoor,
  type Progress,
  quote,
} from "../index";
import type { Batch } from "./batch";
import type { RequestId, RpcErrorObject, Served, Serves } from "./contract";
import { isId, membersOf, type Token, traceIn, withoutTrace } from "./conventions";
import { errorObjectOf, RpcError } from "./errors";
import { type Method, methodOf, payloadFor, type Way, wayTo } from "./methods";
import { errorText, REFUSED, resultText } from "./responses";
import type { ConnectionParts } from "./wire";

/** Most refusals of params that are explained within one second. Further ones say only that the params do not fit. */
const EXPLAINED = 10;
/** Longest text whose refusal is explained, in characters. */
const EXPLAINED_LENGTH = 16_384;

/** Texts of the greatest length that requests under way may hold together. */
const HELD = 16;

/** The connection's parts and limits that serving needs. */
export interface ServingOptions extends ConnectionParts {
  readonly clock: Clock;
  readonly errorOf: ((error: DeliveryError, method: string) => RpcErrorObject | undefined) | undefined;
  readonly most: number;
  readonly longest: number;
}

/** A request of the other side that is under way. */
class Call {
  readonly id: RequestId;
  readonly method: Method;
  readonly batch: Batch | null;
  /** Characters of the text that it came in. */
  readonly length: number;
  /** Its share of these characters: the messages of a batch divide them evenly. */
  readonly share: number;
  /** Set where its sender listens to progress. */
  readonly token: Token | undefined;
  hasProgressed = false;
  /** True once nobody waits for its answer. */
  isMuted = false;
  ask: { cancel(reason: unknown): void } | null = null;
  /** Its outcome. Null until the ask has settled. */
  result: AskResult | null = null;

  constructor(id: RequestId, method: Method, batch: Batch | null, length: number, token: Token | undefined) {
    this.id = id;
    this.method = method;
    this.batch = batch;
    this.length = length;
    this.share = batch === null ? length : Math.ceil(length / batch.size);
    this.token = token;
  }
}

/** Serves the requests and the notifications of the other side. */
export class Serving {
  readonly #options: ServingOptions;
  /** Methods by name, without a prototype. A lookup by a name that was just parsed takes 6 ns here, and 22 ns in a Map. */
  #methods: Record<string, Method> = Object.create(null);
  /** The actors that were found by params. */
  readonly #ways = new WeakMap<AnyRef, Map<string, Way>>();
  /** Requests under way, by id. Several requests may have the id null: such a request is its own key. */
  readonly #calls = new Map<unknown, Call>();
  /** Requests whose asks have settled in this turn. */
  #settled: Call[] = [];
  /** Characters that the requests under way came in. */
  #held = 0;
  readonly #mostHeld: number;
  readonly #busy: string;
  /** Refusals that were explained in this second. */
  #explained = 0;
  #second: ClockTimer | null = null;

  constructor(serves: Serves, options: ServingOptions) {
    this.#options = options;
    this.#busy = REFUSED.busy(options.most);
    this.#mostHeld = HELD * options.maxBytes;
    for (const [name, served] of Object.entries(serves)) this.serve(name, served);
  }

  /** Requests that are under way. */
  get size(): number {
    return this.#calls.size;
  }

  /** The number of requests under way; at least `most` once their texts together are too long. */
  get load(): number {
    return this.#held > this.#mostHeld ? Math.max(this.#calls.size, this.#options.most) : this.#calls.size;
  }

  /** True for the id of a request that is under way. */
  has(id: RequestId): boolean {
    return this.#calls.has(id);
  }

  /** @throws TypeError for a method that cannot be served. */
  serve(name: string, served: Served | undefined): void {
    const { cancelling, progressing, longest } = this.#options;
    if (name === cancelling.method || name === progressing.method) {
      throw new TypeError(`The method ${quote(name)} is that of a convention, which the peer itself obeys.`);
    }
    if (served !== undefined) {
      this.#methods[name] = methodOf(name, served, longest);
      return;
    }
    const { [name]: _, ...others } = this.#methods;
    this.#methods = Object.assign(Object.create(null), others);
  }

  /** Takes a request. Its id is one. */
  request(id: RequestId, name: string, params: unknown, batch: Batch | null, length: number): void {
    const { most, progressing, wire } = this.#options;
    const method = this.#methodOf(name);
    if (method === undefined) this.refuse(id, REFUSED.unknown, batch);
    else if (id !== null && this.#calls.has(id))
      this.refuse(null, REFUSED.idInUse, batch); // Its id is that of the other one.
    else if (this.load >= most || wire.isReluctant) this.refuse(id, this.#busy, batch);
    else {
      const way = method.way ?? this.#wayBy(method, params);
      if (way === undefined) this.refuse(id, REFUSED.nobody, batch);
      else this.#begin(new Call(id, method, batch, length, progressing.tokenIn(params)), way, params);
    }
  }

  /** Takes a notification, which is never answered. */
  notify(name: string, params: unknown): void {
    const method = this.#methodOf(name);
    const way = method === undefined ? undefined : (method.way ?? this.#wayBy(method, params));
    if (method === undefined || way === undefined) this.#options.counts.refused++;
    else {
      const metadata = this.#options.isTraced ? traceIn(params) : undefined;
      if (metadata === undefined) way.door.tell(method.operation, payloadFor(way.hasPayload, params));
      else way.door.tell(method.operation, payloadFor(way.hasPayload, withoutTrace(params)), { metadata });
    }
  }

  /** Cancels a request because the other side has given it up. Does nothing when the request has ended already. */
  cancel(params: unknown): void {
    const { cancelling } = this.#options;
    const { id, requestId } = membersOf(params);
    const named = cancelling.member === "id" ? id : requestId;
    const call = isId(named) && named !== null ? this.#calls.get(named) : undefined;
    if (call === undefined) return;
    call.isMuted = !cancelling.isAnswered;
    call.ask?.cancel(new Error("its sender gave up"));
  }

  /** @param error as JSON. */
  refuse(id: RequestId, error: string, batch: Batch | null): void {
    this.#options.counts.refused++;
    const text = errorText(id, error);
    if (batch === null) this.#options.wire.say(text);
    else batch.add(text);
  }

  /** The connection has ended: cancels all that is under way. */
  close(cause: unknown): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#held = 0;
    this.#second?.cancel();
    for (const call of calls) call.ask?.cancel(cause);
  }

  /** A method that exists and whose capability has been agreed on. */
  #methodOf(name: string): Method | undefined {
    const method = this.#methods[name];
    if (method?.needs === undefined || this.#options.capabilities.has(method.needs)) return method;
    return undefined;
  }

  #begin(call: Call, { door, hasPayload }: Way, params: unknown): void {
    const { method, id } = call;
    this.#calls.set(id ?? call, call);
    this.#held += call.share;
    call.batch?.begin();
    const metadata = this.#options.isTraced ? traceIn(params) : undefined;
    const payload = payloadFor(hasPayload, metadata === undefined ? params : withoutTrace(params));
    const settle = (result: AskResult): void => this.#settle(call, result);
    if (call.token === undefined) call.ask = door.askInto(method.operation, payload, method.longest, metadata, settle);
    else this.#beginTold(call, door, payload, metadata, settle);
    if (call.result !== null) this.#end(call, call.result); // It was refused at once.
    this.#options.onChange();
  }

  /** Begins a request whose sender listens to progress. */
  #beginTold(
    call: Call,
    door: OpenDoor,
    payload: unknown,
    metadata: Metadata | undefined,
    settle: (result: AskResult) => void,
  ): void {
    const { operation, longest: timeout } = call.method;
    const options: AskOptions = {
      timeout,
      canceller(cancel) {
        call.ask = { cancel };
      },
      onProgress: (progress) => this.#tellProgress(call, progress),
      ...(metadata !== undefined && { metadata }),
    };
    void door.ask(operation, payload, options).then(settle);
  }

  /** Answers once the actor's turn is over. */
  #settle(call: Call, result: AskResult): void {
    call.result = result;
    if (call.ask === null) return; // It has only begun.
    if (this.#settled.push(call) === 1) this.#options.clock.microtask(this.#endSettled);
  }

  readonly #endSettled = (): void => {
    const settled = this.#settled;
    this.#settled = [];
    for (const call of settled) this.#end(call, call.result as AskResult); // It has settled.
    this.#options.onChange();
  };

  #end(call: Call, result: AskResult): void {
    const key = call.id ?? call;
    if (this.#calls.get(key) !== call) return; // The connection has ended.
    this.#calls.delete(key);
    this.#held -= call.share;
    const { wire, progressing } = this.#options;
    if (call.hasProgressed && call.token !== undefined) this.#sayProgress(progressing.end(call.token));
    const answer = call.isMuted ? undefined : this.#answerTo(call, result);
    if (call.batch !== null) call.batch.end(answer);
    else if (answer !== undefined) wire.say(answer);
  }

  #answerTo(call: Call, result: AskResult): string {
    if (result.isErr()) return errorText(call.id, this.#errorFor(call, result.error));
    try {
      refuseBytes(result.value);
      // Every response has a result: null if the handler returns nothing, or a value that JSON cannot write, such as a function.
      return resultText(call.id, result.value === undefined ? "null" : (JSON.stringify(result.value) ?? "null"));
    } catch (cause) {
      this.#options.log.error(`The result of ${call.method.name} cannot be written as JSON: mend its handler.`, {
        cause,
      });
      return errorText(call.id, REFUSED.unwritable);
    }
  }

  /** The error of a request that failed, as JSON. */
  #errorFor({ method, length }: Call, error: DeliveryError): string {
    const { log, counts, errorOf } = this.#options;
    if (error.kind === "invalid-payload" || error.kind === "unknown-operation") counts.refused++;
    if (error.kind === "unreachable" || (error.kind === "handler-failed" && !RpcError.is(error.cause))) {
      log.error(`The method ${method.name} failed for the other side: ${error.message}`, { cause: error.cause });
    }
    try {
      const own = errorOf?.(error, method.name);
      if (own !== undefined) return JSON.stringify(own);
      if (error.kind === "invalid-payload" && !this.#mayExplain(length)) return REFUSED.misfit;
      return JSON.stringify(errorObjectOf(error));
    } catch (cause) {
      log.error(`The error of ${method.name} cannot be written as JSON.`, { cause });
      return REFUSED.unwritable;
    }
  }

  /** True while a refusal may be explained. An explanation takes up to a thousand times as long as the refusal, so it is rationed. */
  #mayExplain(length: number): boolean {
    if (length > EXPLAINED_LENGTH || this.#explained >= EXPLAINED) return false;
    this.#explained++;
    // A timer saves a look at the clock for each refusal.
    this.#second ??= this.#startSecond();
    return true;
  }

  #startSecond(): ClockTimer {
    const timer = this.#options.clock.setTimer(() => {
      this.#second = null;
      this.#explained = 0;
    }, 1_000);
    timer.unref();
    return timer;
  }

  /** Progress is left out while the other side does not read. */
  #tellProgress(call: Call, progress: Progress): void {
    const { wire, progressing } = this.#options;
    const { token, id } = call;
    if (token === undefined || call.isMuted || this.#calls.get(id ?? call) !== call || wire.isFull) return;
    const title = call.hasProgressed ? undefined : call.method.name;
    call.hasProgressed = true;
    this.#sayProgress(progressing.write(token, progress, title));
  }

  #sayProgress(params: object | undefined): void {
    if (params === undefined) return;
    const { wire, progressing } = this.#options;
    wire.say(JSON.stringify({ jsonrpc: "2.0", method: progressing.method, params }));
  }

  /** The actor that params name. */
  #wayBy({ ref: find, name, operation }: Method, params: unknown): Way | undefined {
    try {
      const ref = typeof find === "function" ? find(params) : find;
      if (ref === undefined) return undefined;
      const known = this.#ways.get(ref)?.get(operation);
      if (known !== undefined) return known;
      const way = wayTo(ref, operation);
      const ways = this.#ways.get(ref) ?? new Map<string, Way>();
      this.#ways.set(ref, ways.set(operation, way));
      return way;
    } catch (cause) {
      this.#options.log.error(
        `The function that finds the actor of ${name} threw: it gives a reference or undefined.`,
        { cause },
      );
      return undefined;
    }
  }
}

/**
 * Bytes would be written as an object of numbered keys, or as an empty one. A `Buffer` says by its `toJSON` how it is written.
 *
 * @throws TypeError for bytes.
 */
function refuseBytes(value: unknown): void {
  const isBytes = ArrayBuffer.isView(value)
    ? !("toJSON" in value)
    : value instanceof ArrayBuffer || value instanceof SharedArrayBuffer;
  if (isBytes) throw new TypeError("JSON carries no binary data; give base64 text.");
}
