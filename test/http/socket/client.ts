import { connect, type Socket } from "node:net";

/** A frame as another language would see it. */
export interface Frame {
  readonly kind: string;
  readonly id?: string;
  readonly payload?: unknown;
  readonly items?: readonly unknown[];
  readonly problem?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

interface Closed {
  readonly code: number;
  readonly reason: string;
}

interface Opening {
  readonly protocols?: readonly string[];
  readonly headers?: Record<string, string>;
}

/** A client that was written from docs/websocket-protocol.md alone, on a plain WebSocket. */
export class Client {
  /** All frames that have come, in order. */
  readonly frames: Frame[] = [];
  /** The number of texts that they came in. */
  texts = 0;
  readonly closed: Promise<Closed>;
  readonly socket: WebSocket;
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  constructor(url: URL, { protocols = ["envoi.v1"], headers = {} }: Opening = {}) {
    // Bun's WebSocket takes headers, too, which the type of browsers does not know.
    this.socket = new WebSocket(new URL("/socket", url), { protocols, headers } as unknown as string[]);
    this.socket.onmessage = ({ data }) => {
      this.texts++;
      this.frames.push(...(JSON.parse(data) as Frame[]));
      for (const look of this.#waiting) look();
    };
    this.closed = new Promise((resolve) => {
      this.socket.onclose = ({ code, reason }) => {
        this.#isClosed = true;
        resolve({ code, reason });
        for (const look of this.#waiting) look();
      };
    });
  }

  /** Resolves once it is welcome. */
  async welcome(): Promise<this> {
    await this.find(({ kind }) => kind === "welcome");
    return this;
  }

  /** Resolves once the handshake is done. */
  open(): Promise<this> {
    return new Promise((resolve, reject) => {
      this.socket.onopen = () => resolve(this);
      this.socket.onerror = () => reject(new Error("it did not open"));
    });
  }

  send(...frames: Frame[]): this {
    this.socket.send(JSON.stringify(frames));
    return this;
  }

  /** The first frame that fits, of those that have come and will. Rejects once the socket is closed. */
  find(fits: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.frames.find(fits);
        if (found === undefined && !this.#isClosed) return;
        this.#waiting.delete(look);
        if (found !== undefined) resolve(found);
        else void this.closed.then((closed) => reject(new Error(`closed: ${closed.code} ${closed.reason}`)));
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** The end of what has an id: its reply, its failure or its end. */
  outcome(id: string): Promise<Frame> {
    return this.find((frame) => frame.id === id && ["reply", "failure", "end"].includes(frame.kind));
  }

  ask(id: string, to: string, type: string, payload?: unknown, more: object = {}): Promise<Frame> {
    this.send({ kind: "ask", id, to, type, payload, ...more });
    return this.outcome(id);
  }

  /** The items of what has an id, so far. */
  items(id: string): unknown[] {
    return this.frames.flatMap((frame) => (frame.id === id && frame.kind === "items" ? (frame.items ?? []) : []));
  }
}

/** A text as a client's frame of WebSocket (RFC 6455), or one of another kind. */
export function frameOf(data: string | Uint8Array, opcode = 1, isLast = true): Buffer {
  const payload = Buffer.from(data as string); // Of bytes, it makes a copy.
  const { length } = payload;
  const head = length < 126 ? Buffer.alloc(2) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, Buffer.alloc(4), payload]); // A mask of zeros.
}

/** Opens a socket by hand, and reads nothing more unless it is told to. */
export function openRaw(url: URL, headers: Record<string, string> = {}): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), "127.0.0.1");
    const all = {
      host: url.host,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-protocol": "envoi.v1",
      ...headers,
    };
    socket.on("error", reject);
    socket.once("data", () => {
      socket.pause();
      resolve(socket);
    });
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    socket.write(`GET /socket HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  });
}
