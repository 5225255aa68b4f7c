import {
  type ClientError,
  type ClientErrorKind,
  errorOfProblem,
  failure,
  isObject,
  jsonIn,
  strange,
} from "./client-error";
import type { Settings, Timer } from "./settings";

/** A frame of the gateway. */
export interface Frame {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** A message or a subscription on its way. */
export interface Call {
  readonly id: string;
  readonly what: string;
  /** The frame as JSON. */
  readonly text: string;
  /** False for a subscription: the gateway has another bound for those. */
  readonly isMessage: boolean;
  /** Takes each frame about it. True when it was the last one. */
  take(frame: Frame): boolean;
  fail(error: ClientError): void;
}

/** Told what becomes of a socket. */
export interface LinkEvents {
  onReady(): void;
  /** More may be sent. */
  onRoom(): void;
  /** It takes no more messages, but still answers those that it has. */
  onLeave(): void;
  /** It has ended, and was not closed by the client. With a kind of error where the next one would end in the same way. */
  onLost(reason: string, refusal: ClientErrorKind | null): void;
}

export const PROTOCOL = "envoi.v1";
/** Milliseconds until the gateway must have let the client in. */
const WELCOME = 10_000;
/** The texts that a WebSocket takes as a sub-protocol (RFC 9110, token). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** The bounds of a socket, as the gateway tells them. */
interface Limits {
  readonly text: number;
  readonly depth: number;
  readonly frames: number;
  readonly messages: number;
}

interface Sent {
  readonly call: Call;
  /** Bytes that count as not taken by the gateway yet. */
  bytes: number;
}

/** One WebSocket, from its handshake to its end. */
export class SocketLink {
  readonly #settings: Settings;
  readonly #events: LinkEvents;
  readonly #sent = new Map<string, Sent>();
  readonly #timer: Timer;
  #socket: WebSocket | null = null;
  #limits: Limits | null = null;
  #bytes = 0;
  /** The messages among those that were sent. */
  #messages = 0;
  /** Frames that are no messages, and go with the next text. */
  #said: string[] = [];
  #isEnded = false;

  constructor(settings: Settings, events: LinkEvents) {
    this.#settings = settings;
    this.#events = events;
    this.#timer = settings.setTimer(() => this.#lose("the gateway did not let the client in in time."), WELCOME);
    void this.#open();
  }

  async #open(): Promise<void> {
    try {
      const token = await this.#settings.token();
      if (this.#isEnded) return;
      if (typeof WebSocket === "undefined") {
        this.#lose("this runtime has no WebSocket; Node has one from version 22 on.", "unreachable");
        return;
      }
      const isPlain = token !== undefined && TOKEN.test(token);
      const socket = new WebSocket(
        `${this.#settings.url.replace(/^http/, "ws")}/socket`,
        isPlain ? [PROTOCOL, `bearer.${token}`] : [PROTOCOL],
      );
      this.#socket = socket;
      socket.onopen = () => {
        if (token !== undefined && !isPlain) socket.send(JSON.stringify([{ kind: "authenticate", token }]));
      };
      socket.onmessage = ({ data }) => this.#receive(data);
      socket.onclose = ({ code, reason }) =>
        this.#lose(sentenceOf(code, reason), code === 1008 ? "unauthenticated" : null);
    } catch (thrown) {
      this.#lose(`the socket could not be made (${String(thrown)}).`);
    }
  }

  /** Sends of these messages as many as the gateway has room for, and takes them out. */
  send(waiting: Map<string, Call>): void {
    const limits = this.#limits;
    const socket = this.#socket;
    if (limits === null || socket === null || this.#isEnded) return;
    const texts = this.#said;
    this.#said = [];
    let size = texts.reduce((sum, text) => sum + text.length + 1, 2);
    for (const [id, call] of waiting) {
      const bytes = bytesOf(call.text) + 1;
      const refusal = refusalOf(call, bytes, limits);
      if (refusal !== undefined) {
        waiting.delete(id);
        call.fail(refusal);
        continue;
      }
      // What waits at the gateway is bounded: half of that is never too much.
      const isFull = this.#bytes > 0 && this.#bytes + bytes > limits.text / 2;
      if (isFull || (call.isMessage && this.#messages >= limits.messages)) break;
      if (texts.length + 1 >= limits.frames || size + bytes > limits.text) {
        socket.send(`[${texts.splice(0).join(",")}]`);
        size = 2;
      }
      waiting.delete(id);
      texts.push(call.text);
      size += bytes;
      this.#sent.set(id, { call, bytes });
      this.#bytes += bytes;
      if (call.isMessage) this.#messages++;
    }
    if (texts.length > 0) socket.send(`[${texts.join(",")}]`);
  }

  /** Sends a frame that is no message, about one that was sent by this socket. */
  say(frame: { readonly kind: string; readonly id: string | null; readonly count?: number }): void {
    if (frame.id === null || !this.#sent.has(frame.id)) return;
    if (this.#said.push(JSON.stringify(frame)) === 1) queueMicrotask(() => this.send(new Map()));
  }

  cancel(id: string): void {
    this.say({ kind: "cancel", id });
    this.#forget(id);
  }

  close(): void {
    for (const { call } of this.#end())
      call.fail(failure("cancelled", `${call.what} was left: the client was closed.`));
    this.#socket?.close(1000);
  }

  #receive(data: unknown): void {
    const frames = typeof data === "string" ? jsonIn(data)?.value : undefined;
    if (!Array.isArray(frames)) this.#lose("the service sent no frames.", "invalid-response");
    else for (const frame of frames) if (isFrame(frame)) this.#take(frame);
  }

  #take(frame: Frame): void {
    if (frame.kind === "welcome") this.#welcome(frame);
    if (frame.kind === "goodbye") this.#events.onLeave();
    const sent = typeof frame["id"] === "string" ? this.#sent.get(frame["id"]) : undefined;
    if (sent === undefined) return; // It is about no message, or about one that was cancelled meanwhile.
    if (sent.call.take(frame)) this.#forget(sent.call.id);
    else this.#release(sent);
  }

  #welcome({ limits }: Frame): void {
    this.#timer.cancel();
    this.#limits = (isObject(limits) ? limits : {}) as unknown as Limits; // As the protocol has them. One that is missing bounds nothing.
    this.#events.onReady();
  }

  #forget(id: string): void {
    const sent = this.#sent.get(id);
    if (sent === undefined) return;
    this.#sent.delete(id);
    if (sent.call.isMessage) this.#messages--;
    this.#release(sent);
    this.#events.onRoom();
  }

  #release(sent: Sent): void {
    this.#bytes -= sent.bytes;
    sent.bytes = 0;
  }

  /** Nobody knows what became of the messages that were sent and not answered: they are not sent again (P17). */
  #lose(reason: string, refusal: ClientErrorKind | null = null): void {
    if (this.#isEnded) return;
    for (const { call } of this.#end()) {
      call.fail(
        failure("unknown", `The answer to ${call.what} was lost, and nobody knows whether it was handled: ${reason}`),
      );
    }
    this.#socket?.close();
    this.#events.onLost(reason, this.#limits === null ? refusal : null); // It was let in before: it may be again.
  }

  #end(): readonly Sent[] {
    this.#isEnded = true;
    this.#timer.cancel();
    const sent = [...this.#sent.values()];
    this.#sent.clear();
    return sent;
  }
}

/** The error in a frame that tells one. */
export const errorIn = (frame: Frame, what: string): ClientError => errorOfProblem(frame["problem"]) ?? strange(what);

const isFrame = (frame: unknown): frame is Frame => isObject(frame) && typeof frame["kind"] === "string";

/** Why a message is not sent: it would end the socket, and with it all other messages. */
function refusalOf({ what, text }: Call, bytes: number, { text: most, depth }: Limits): ClientError | undefined {
  if (bytes + 1 > most) {
    return failure("payload-too-large", `${what} was not sent: this socket takes ${most} bytes.`);
  }
  if (text.length <= depth || depthOf(text) < depth) return undefined;
  return failure("payload-too-large", `${what} was not sent: this socket takes ${depth} levels.`);
}

/** The levels of nesting of a JSON text. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [each] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{\]}]/g)) {
    if (each === "[" || each === "{") deepest = Math.max(deepest, ++depth);
    else if (each === "]" || each === "}") depth--;
  }
  return deepest;
}

const encoder = new TextEncoder();
/** The bytes of a text, or a little more for a short one. */
const bytesOf = (text: string): number => (text.length < 300 ? text.length * 3 : encoder.encode(text).length);

/** What the end of a socket means. A browser does not tell why a handshake was refused. */
const sentenceOf = (code: number, reason: string): string =>
  reason === ""
    ? `the socket was lost or could not be opened (${code}).`
    : `the socket was closed (${code}): ${reason}`;
