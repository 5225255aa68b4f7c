import { expect, test } from "bun:test";
import type { Socket } from "bun";
import { isLong } from "../../property/runs";
import { Client } from "./client";

// The server is a process of its own: each of the two has as many files open as there are sockets.

const SOCKETS = isLong ? 10_000 : 1_000;
/** Handshakes at one time: more than the queue of the kernel holds would wait for a second. */
const AT_ONCE = 100;
/** Most bytes of the heap that an idle socket may take. With its connection, its request and its caller it took 2,490. */
const BYTES = 4_000;

interface Held {
  readonly sockets: number;
  readonly heap: number;
}

/** The server. */
async function startServer() {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/../programs/sockets.ts`], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).values();
  let text = "";
  const line = async (): Promise<string> => {
    while (!text.includes("\n")) text += (await lines.next()).value ?? "\n";
    const [first = "", ...rest] = text.split("\n");
    text = rest.join("\n");
    return first;
  };
  const url = new URL(`http://127.0.0.1:${await line()}/`);
  return {
    url,
    async held(): Promise<Held> {
      child.stdin.write("\n");
      await child.stdin.flush();
      return JSON.parse(await line());
    },
    /** Ends it by a signal. */
    async end(): Promise<unknown> {
      child.kill("SIGTERM");
      await child.exited;
      return child.signalCode;
    },
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}

/** Sockets that do nothing after their handshake. */
class Crowd {
  /** Those that were told to come back (1012). */
  told = 0;
  closed = 0;
  readonly #sockets: Socket<undefined>[] = [];
  #onChange = (): void => {};

  async open({ host, hostname, port }: URL, count: number): Promise<void> {
    const fields = [
      "connection: Upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-protocol: envoi.v1",
    ];
    const handshake = `GET /socket HTTP/1.1\r\nhost: ${host}\r\n${fields.join("\r\n")}\r\n\r\n`;
    const openOne = async (): Promise<void> => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let text = "";
      const socket = await Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          open: (opened) => void opened.write(handshake),
          data: (_, bytes) => {
            if (bytes.includes(GOING)) this.told++;
            text += text.includes("welcome") ? "" : bytes.toString("latin1");
            if (text.includes("welcome")) resolve();
            else if (text.includes("HTTP/1.1 4")) reject(new Error(text));
          },
          close: () => {
            this.closed++;
            this.#onChange();
            reject(new Error("It was closed."));
          },
        },
      });
      this.#sockets.push(socket);
      await promise;
    };
    for (let opened = 0; opened < count; opened += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - opened) }, openOne));
    }
  }

  end(): void {
    for (const socket of this.#sockets) socket.end();
  }

  /** Resolves once all are closed. */
  async untilClosed(): Promise<void> {
    while (this.closed < this.#sockets.length) {
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }
}

/** The code 1012 in a frame that closes. */
const GOING = Buffer.from([0x03, 0xf4]);

test(
  `P18: ${SOCKETS} idle sockets take a bounded memory and give it back, others are served, and the end reaches each`,
  async () => {
    using server = await startServer();
    const heaps: number[] = [];
    const first = await new Client(server.url).welcome();
    const before = await server.held();
    for (let round = 1; round <= 3; round++) {
      const crowd = new Crowd();
      await crowd.open(server.url, SOCKETS);
      const held = await server.held();
      expect(held.sockets).toBe(SOCKETS + 1);
      expect((held.heap - before.heap) / SOCKETS).toBeLessThan(BYTES);
      heaps.push(held.heap);
      const late = await new Client(server.url).welcome();
      for (const [id, client] of [first, late].entries()) {
        expect((await client.ask(`${round} ${id}`, "desk", "add", 1)).kind).toBe("reply");
      }
      late.socket.close();
      if (round === 3) {
        expect(await server.end()).toBe("SIGTERM");
        await crowd.untilClosed();
        expect([crowd.told, (await first.closed).code]).toEqual([SOCKETS, 1012]);
        break;
      }
      crowd.end();
      await crowd.untilClosed();
      while ((await server.held()).sockets > 1);
    }
    // What is left of the sockets of a round would show in the next.
    expect(((heaps[2] ?? 0) - (heaps[1] ?? 0)) / SOCKETS).toBeLessThan(BYTES / 10);
  },
  isLong ? 120_000 : 30_000,
);
