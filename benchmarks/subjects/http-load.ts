/** Load for servers, over bare connections, which cost it less than `fetch` does; and what a server takes for a request meanwhile. */
import { median } from "../harness/statistics";
import type { Server } from "./http-process";

/** The order that rows send, and get back. */
export const ORDER = '{"item":"tea","count":3,"tags":["a","b"],"note":"hello world, this is a note"}';
/** Names its caller where one is asked for. */
export const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyz";

/** A request. @param headers Each with its line end. */
export const get = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;

export const post = (path: string, body: string, headers = ""): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`;

export const isOk = (answer: string): boolean => answer.startsWith("HTTP/1.1 200");

/** Whether an answer has come as a whole. */
function isWhole(answer: string): boolean {
  const head = answer.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(answer.slice(0, head + 2))?.[1];
  return length === undefined ? answer.endsWith("\r\n0\r\n\r\n") : answer.length >= head + 4 + Number(length);
}

/** Sends a request, and gives the whole of its answer. */
export type Client = { readonly ask: (request: string) => Promise<string> };

/** Opens a connection, for one request of ASCII after the other. Answers are text of which each letter is a byte. */
export async function connect(port: number) {
  let [unsent, answer, isEnough] = ["", "", isWhole];
  let waiting: PromiseWithResolvers<string> | undefined;
  const look = (): void => {
    if (isEnough(answer)) waiting?.resolve(answer);
  };
  const until = (enough: typeof isWhole): Promise<string> => {
    [isEnough, waiting] = [enough, Promise.withResolvers()];
    look();
    return waiting.promise;
  };
  const send = (): void => {
    unsent = unsent.slice(socket.write(unsent));
  };
  const data = (_: unknown, bytes: Buffer): void => {
    answer += bytes.toString("latin1");
    look();
  };
  let isOpen = false;
  const close = () => {
    isOpen = false;
    waiting?.reject(new Error(`the server closed a connection after ${answer.slice(0, 300)}`));
  };
  const open = async () => {
    const opened = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data, drain: send, close } });
    isOpen = true;
    return opened;
  };
  let socket = await open();
  return {
    /** @param mark A text of the answer that is waited for, in place of its end. */
    async ask(request: string, mark?: string): Promise<string> {
      if (!isOpen) socket = await open(); // Servers close what was quiet for 10 s, such as the turns of others.
      [unsent, answer] = [request, ""];
      send();
      return until(mark === undefined ? isWhole : (come) => come.includes(mark));
    },
    /** Waits for the end of an answer that has begun. */
    rest: () => until(isWhole),
    /** Goes without a word. */
    leave: () => socket.terminate(),
  };
}

/** Opens a WebSocket, of which each message is an answer; the first one welcomes. */
export async function connectSocket(port: number): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, ["envoi.v1"]);
  const next = (): Promise<string> =>
    new Promise((resolve, reject) => {
      socket.onmessage = ({ data }) => resolve(String(data));
      socket.onclose = ({ code }) => reject(new Error(`the server closed a WebSocket with ${code}`));
    });
  await next();
  const ask = (request: string) => {
    socket.send(request);
    return next();
  };
  return { ask };
}

export const openAll = (port: number, width: number, open: (port: number) => Promise<Client> = connect) =>
  Promise.all(Array.from({ length: width }, () => open(port)));

/** Requests to send, one after the other and from the beginning, and whether an answer is a due one. */
export type Exchange = { readonly requests: readonly string[]; readonly isRight: (answer: string) => boolean };

/** Tells so many times that there is more to do. */
export function times(count: number): () => boolean {
  let left = count;
  return () => left-- > 0;
}

/**
 * Has each client send one request after the other as long as there is more to do. `record` takes the nanoseconds of each.
 *
 * @throws Error when an answer is not right.
 */
export async function repeat(
  clients: readonly Client[],
  { requests, isRight }: Exchange,
  hasMore: () => boolean,
  record?: (taken: number) => void,
): Promise<void> {
  let sent = 0;
  const work = async (client: Client) => {
    while (hasMore()) {
      const start = Bun.nanoseconds();
      const answer = await client.ask(requests[sent++ % requests.length] ?? "");
      record?.(Bun.nanoseconds() - start);
      if (!isRight(answer)) throw new Error(`an answer was not the due one: ${answer.slice(0, 500)}`);
    }
  };
  await Promise.all(clients.map(work));
}

/** Opens what measures a server: each call is a turn of so many requests, and gives the microseconds of one. */
export type Gauge = (server: Server) => Promise<(count: number) => Promise<number>>;

export const WIDTH = 8;

/** Measures what a request takes of the processors, by all threads of the server, while eight clients ask. */
export const cpuOf =
  (exchangeWith: (server: Server) => Exchange, open?: (port: number) => Promise<Client>): Gauge =>
  async (server) => {
    const [clients, exchange] = [await openAll(server.port, WIDTH, open), exchangeWith(server)];
    return async (count) => {
      const before = await server.call("cpu");
      await repeat(clients, exchange, times(count));
      return ((await server.call("cpu")) - before) / count;
    };
  };

/** Measures how long one client waits for an answer, or for a text in it: the median of a turn. */
export const timeOf =
  (exchangeWith: (server: Server) => Exchange, mark?: string): Gauge =>
  async (server) => {
    const [connection, exchange] = [await connect(server.port), exchangeWith(server)];
    return async (count) => {
      const taken: number[] = [];
      const ask = async (request: string) => {
        const start = Bun.nanoseconds();
        const come = await connection.ask(request, mark);
        taken.push((Bun.nanoseconds() - start) / 1_000);
        return mark === undefined ? come : connection.rest();
      };
      await repeat([{ ask }], exchange, times(count));
      return median(taken);
    };
  };
