import type { Socket, TCPSocketListener } from "bun";

/** The two ways of a connection: from those who connect, and back to them. */
export type Way = "up" | "down";

/** A TCP proxy before a server, for tests of what a network does to a connection. */
export interface FaultyProxy {
  readonly port: number;
  /** The connections that are open. */
  readonly connections: number;
  /** Ends each connection at once, by a reset. New ones are taken. */
  cut(): void;
  /** Refuses new connections: each is closed as soon as it is made. */
  refuse(refuses: boolean): void;
  /** Resolves once so many more connections have been refused. */
  refused(count: number): Promise<void>;
  /** Holds back all bytes of one way by so many milliseconds. 0 ends it. Their order holds. */
  delay(way: Way, milliseconds: number): void;
  /** Swallows all bytes of one way, on old and new connections, and tells nobody. A connection that lost bytes is cut when it ends. */
  blackHole(way: Way, swallows: boolean): void;
  /** Resolves once so many bytes have been swallowed on one way since it became a black hole. */
  swallowed(way: Way, bytes: number): Promise<void>;
  close(): void;
}

interface WayState {
  delay: number;
  isBlackHole: boolean;
  swallowed: number;
  /** Those who wait for a count of swallowed bytes. */
  waiting: { readonly bytes: number; readonly resolve: () => void }[];
}

/** One end of a connection, with the bytes that its socket did not take yet. */
class End {
  readonly #unsent: Buffer[] = [];
  socket: Socket<Pair> | null = null;
  #isEnding = false;

  write(bytes: Buffer): void {
    this.#unsent.push(bytes);
    this.flush();
  }

  flush(): void {
    for (let bytes = this.#unsent[0]; bytes !== undefined && this.socket !== null; bytes = this.#unsent[0]) {
      const written = Math.max(0, this.socket.write(bytes));
      if (written < bytes.length) {
        this.#unsent[0] = bytes.subarray(written);
        return;
      }
      this.#unsent.shift();
    }
    if (this.#isEnding) this.socket?.end();
  }

  /** Ends behind the bytes that are still to be sent. */
  end(): void {
    this.#isEnding = true;
    this.flush();
  }
}

/** A connection through the proxy: `up.socket` is that to the server, `down.socket` that of the client. */
class Pair {
  readonly up = new End();
  readonly down = new End();
  /** What each way still has to pass on, one after another, so that a changed delay lets nothing overtake. */
  readonly #tails: Record<Way, Promise<void>> = { up: Promise.resolve(), down: Promise.resolve() };
  readonly #ways: Record<Way, WayState>;
  #hasLost = false;

  constructor(ways: Record<Way, WayState>) {
    this.#ways = ways;
  }

  take(way: Way, data: Buffer): void {
    const bytes = Buffer.from(data); // The socket uses its buffer again.
    this.#after(way, () => {
      const state = this.#ways[way];
      if (!state.isBlackHole) return this[way].write(bytes);
      this.#hasLost = true;
      state.swallowed += bytes.length;
      const isDone = (each: { readonly bytes: number }) => each.bytes <= state.swallowed;
      for (const each of state.waiting.filter(isDone)) each.resolve();
      state.waiting = state.waiting.filter((each) => !isDone(each));
    });
  }

  /** The sending side has ended. */
  ended(way: Way): void {
    this.#after(way, () => (this.#hasLost ? this.cut() : this[way].end()));
  }

  cut(): void {
    this.up.socket?.terminate();
    this.down.socket?.terminate();
  }

  #after(way: Way, act: () => void): void {
    const { delay } = this.#ways[way];
    const due = delay === 0 ? null : Bun.sleep(delay);
    this.#tails[way] = this.#tails[way].then(() => due).then(act);
  }
}

const stateOfWay = (): WayState => ({ delay: 0, isBlackHole: false, swallowed: 0, waiting: [] });

/** Listens on a free port of the loopback, and passes each connection on to a port there. */
export function startProxy(target: number): FaultyProxy {
  const ways: Record<Way, WayState> = { up: stateOfWay(), down: stateOfWay() };
  const pairs = new Set<Pair>();
  let refuses = false;
  let refusals = 0;
  let refusing = Promise.withResolvers<void>();
  const server = {
    open(socket: Socket<Pair>) {
      socket.data.up.socket = socket;
      socket.data.up.flush();
    },
    data: ({ data }: Socket<Pair>, bytes: Buffer) => data.take("down", bytes),
    drain: ({ data }: Socket<Pair>) => data.up.flush(),
    close: ({ data }: Socket<Pair>) => data.ended("down"),
    connectError: ({ data }: Socket<Pair>) => data.cut(),
    error: ({ data }: Socket<Pair>) => data.cut(),
  };
  const listener: TCPSocketListener<Pair> = Bun.listen<Pair>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = new Pair(ways);
        if (refuses) {
          refusals++;
          refusing.resolve();
          refusing = Promise.withResolvers();
          return socket.terminate();
        }
        socket.data.down.socket = socket;
        pairs.add(socket.data);
        const { data } = socket;
        Bun.connect<Pair>({ hostname: "127.0.0.1", port: target, data, socket: server }).catch(() => data.cut());
      },
      data: ({ data }, bytes) => data.take("up", bytes),
      drain: ({ data }) => data.down.flush(),
      close({ data }) {
        pairs.delete(data);
        data.ended("up");
      },
      error: ({ data }) => data.cut(),
    },
  });
  return {
    port: listener.port,
    get connections() {
      return pairs.size;
    },
    cut() {
      for (const pair of pairs) pair.cut();
    },
    refuse(value) {
      refuses = value;
    },
    async refused(count) {
      const last = refusals + count;
      while (refusals < last) await refusing.promise;
    },
    delay(way, milliseconds) {
      ways[way].delay = milliseconds;
    },
    blackHole(way, swallows) {
      Object.assign(ways[way], { isBlackHole: swallows, swallowed: 0 });
    },
    swallowed(way, bytes) {
      const state = ways[way];
      if (state.swallowed >= bytes) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      state.waiting.push({ bytes, resolve });
      return promise;
    },
    close() {
      listener.stop();
      for (const pair of pairs) pair.cut();
    },
  };
}
