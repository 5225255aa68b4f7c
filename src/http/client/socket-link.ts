import type { SocketLimits } from "../socket/frames";
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
  /** Until it is welcome, and then until the next look. */
  #timer: Timer;
  /** The looks since anything came. */
  #quiet = 0;
  #socket: WebSocket | null = null;
  /** Null until the gateway has told them. */
  #limits: SocketLimits | null = null;
  #bytes = 0;
  /** The messages among those that were sent. */
  #messages = 0;
  /** For each ping without its pong, what had been sent before: by the pong, the gateway has taken that. */
  readonly #pings: (readonly Sent[])[] = [];
  /** Frames that are no messages, and go with the next text. */
  readonly #said: string[] = [];
  /** The frames of the next text, and its bytes. */
  readonly #frames: string[] = [];
  #size = 2;
  #isEnded = false;

  /**
   * @param isSecond true where the one before was not let in: then the token goes by the first frame. The refusal of a handshake has a status,
   * which no WebSocket shows; that of a frame has a sentence.
   */
  constructor(settings: Settings, events: LinkEvents, isSecond: boolean) {
    this.#settings = settings;
    this.#events = events;
    this.#timer = settings.setTimer(() => this.#lose("the gateway did not let the client in in time."), WELCOME);
    void this.#open(isSecond);
  }

  async #open(isSecond: boolean): Promise<void> {
    try {
      const token = await this.#settings.token();
      if (this.#isEnded) return;
      if (typeof WebSocket === "undefined") {
        this.#lose("this runtime has no WebSocket; Node has one from version 22 on.", "unreachable");
        return;
      }
      const isInHandshake = token !== undefined && TOKEN.test(token) && !isSecond;
      const socket = new WebSocket(
        `${this.#settings.url.replace(/^http/, "ws")}/socket`,
        isInHandshake ? [PROTOCOL, `bearer.${token}`] : [PROTOCOL],
      );
      this.#socket = socket;
      socket.onopen = () => {
        if (token !== undefined && !isInHandshake) socket.send(JSON.stringify([{ kind: "authenticate", token }]));
      };
      socket.onmessage = ({ data }) => this.#receive(data);
      socket.onclose = ({ code, reason }) =>
        this.#lose(sentenceOf(code, reason), code === 1008 ? "unauthenticated" : null);
    } catch (thrown) {
      this.#lose(`the socket could not be made (${String(thrown)}).`);
    }
  }

  /** Sends as many of these messages as the gateway has room for, and removes them from the map. */
  send(waiting: Map<string, Call>): void {
    const limits = this.#limits;
    const socket = this.#socket;
    if (limits === null || socket === null || this.#isEnded) return;
    for (const text of this.#said.splice(0)) this.#add(text, bytesOf(text) + 1, limits);
    for (const [id, call] of waiting) {
      const bytes = bytesOf(call.text) + 1;
      const refusal = refusalOf(call, bytes, limits);
      if (refusal !== undefined) {
        waiting.delete(id);
        call.fail(refusal);
        continue;
      }
      // The gateway bounds the bytes that wait there. Half of its bound is never too much.
      const isFull = this.#bytes > 0 && this.#bytes + bytes > limits.text / 2;
      if (isFull && this.#pings.length === 0) this.#ping(); // Its answers may take long, though it has taken them.
      if (isFull || (call.isMessage && this.#messages >= limits.messages)) break;
      waiting.delete(id);
      this.#sent.set(id, { call, bytes });
      this.#bytes += bytes;
      if (call.isMessage) this.#messages++;
      this.#add(call.text, bytes, limits);
    }
    this.#write();
  }

  /** Adds a frame to the text that is sent next. One that is full goes at once. */
  #add(frame: string, bytes: number, limits: SocketLimits): void {
    if (this.#frames.length >= limits.frames || this.#size + bytes > limits.text) this.#write();
    this.#frames.push(frame);
    this.#size += bytes;
  }

  #write(): void {
    if (this.#frames.length > 0) this.#socket?.send(`[${this.#frames.splice(0).join(",")}]`);
    this.#size = 2;
  }

  /** Sends a frame that is no message, about one that was sent by this socket. */
  say(frame: { readonly kind: string; readonly id: string | null; readonly count?: number }): void {
    if (frame.id !== null && this.#sent.has(frame.id)) this.#say(frame);
  }

  #say(frame: object): void {
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
    if (this.#isEnded) return;
    this.#quiet = 0;
    const frames = typeof data === "string" ? jsonIn(data)?.value : undefined;
    if (!Array.isArray(frames)) this.#lose("the service sent no frames.", "invalid-response");
    else for (const frame of frames) if (isFrame(frame)) this.#take(frame);
  }

  #take(frame: Frame): void {
    if (frame.kind === "welcome") this.#welcome(frame);
    if (frame.kind === "goodbye") this.#events.onLeave();
    if (frame.kind === "pong") this.#takePong();
    const sent = typeof frame["id"] === "string" ? this.#sent.get(frame["id"]) : undefined;
    if (sent === undefined) return; // It is about no message, or about one that was cancelled meanwhile.
    if (sent.call.take(frame)) this.#forget(sent.call.id);
    else this.#release(sent);
  }

  #welcome({ limits }: Frame): void {
    this.#timer.cancel();
    this.#watch();
    this.#limits = (isObject(limits) ? limits : {}) as unknown as SocketLimits; // As the protocol has them. A limit that is missing bounds nothing.
    this.#events.onReady();
  }

  /** A network that is gone tells nobody, so a gateway that is quiet is asked, and one that stays quiet is lost. */
  #watch(): void {
    const { idle } = this.#settings;
    this.#timer = this.#settings.setTimer(() => {
      this.#quiet++;
      if (this.#quiet > 2) this.#lose(`nothing has come for ${idle} ms.`);
      else this.#watch();
      if (this.#quiet === 2) this.#ping();
    }, idle / 3);
  }

  #ping(): void {
    this.#pings.push([...this.#sent.values()]);
    this.#say({ kind: "ping" });
  }

  #takePong(): void {
    for (const sent of this.#pings.shift() ?? []) this.#release(sent);
    this.#events.onRoom();
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

/** The reason why a message is not sent: it would end the socket, and with it all other messages. */
function refusalOf({ what, text }: Call, bytes: number, { text: most, depth }: SocketLimits): ClientError | undefined {
  // For a short text, the bytes are a bound.
  if (bytes + 1 > most && encoder.encode(text).length + 2 > most) {
    return failure("payload-too-large", `${what} was not sent: this socket takes ${most} bytes.`);
  }
  if (text.length > depth && depthOf(text) >= depth) {
    return failure("payload-too-large", `${what} was not sent: this socket takes ${depth} levels.`);
  }
  if (!/[{,]"__proto__":/.test(text)) return undefined; // Within a text, its quotes would be escaped.
  return failure("bad-request", `${what} was not sent: its payload has a key "__proto__", which no gateway takes.`);
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

/** The sentence of the end of a socket. A browser does not tell why a handshake was refused. */
const sentenceOf = (code: number, reason: string): string =>
  reason === ""
    ? `the socket was lost or could not be opened (${code}).`
    : `the socket was closed (${code}): ${reason}`;
