/** Requests and their answers over bare connections: they cost the load less than `fetch` does. */

/** The order that rows send, and get back. */
export const ORDER = '{"item":"tea","count":3,"tags":["a","b"],"note":"hello world, this is a note"}';
/** Names its caller where one is asked for. */
export const TOKEN = "0123456789abcdefghijklmnopqrstuvwxyz";

/** Whether an answer has come as a whole. */
function isWhole(answer: string): boolean {
  const head = answer.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(answer.slice(0, head + 2))?.[1];
  return length === undefined ? answer.endsWith("\r\n0\r\n\r\n") : answer.length >= head + 4 + Number(length);
}

export type Connection = Awaited<ReturnType<typeof connect>>;

/** Opens a connection, for one request after the other. Answers are text of which each letter is a byte. */
export async function connect(port: number) {
  let answer = "";
  let isEnough = isWhole;
  let waiting: PromiseWithResolvers<string> | undefined;
  const look = (): void => {
    if (!isEnough(answer)) return;
    waiting?.resolve(answer);
    waiting = undefined;
  };
  const until = (enough: typeof isWhole): Promise<string> => {
    isEnough = enough;
    waiting = Promise.withResolvers();
    const { promise } = waiting;
    look();
    return promise;
  };
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, bytes) {
        answer += bytes.toString("latin1");
        look();
      },
      close: () => waiting?.reject(new Error(`the server closed a connection after ${answer.slice(0, 300)}`)),
    },
  });
  return {
    /** Sends a request, and gives its answer: the whole of it, or what has come once a text is in it. */
    ask(request: string, mark?: string): Promise<string> {
      answer = "";
      socket.write(request);
      return until(mark === undefined ? isWhole : (come) => come.includes(mark));
    },
    /** Waits for the whole of an answer that has begun. */
    rest: () => until(isWhole),
    /** Goes without a word. */
    leave: () => socket.terminate(),
  };
}

export const connectAll = (port: number, width: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: width }, () => connect(port)));

/** A request. @param headers Each with its line end. */
export const get = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;

export const post = (path: string, body: string, headers = ""): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`;

export const isOk = (answer: string): boolean => answer.startsWith("HTTP/1.1 200");

/**
 * Sends a request so many times over some connections, each again as soon as its answer has come.
 *
 * @throws Error when an answer is not right.
 */
export async function repeat(
  connections: readonly Connection[],
  request: string,
  isRight: (answer: string) => boolean,
  total: number,
): Promise<void> {
  let left = total;
  const work = async (connection: Connection) => {
    while (left-- > 0) expectRight(await connection.ask(request), isRight);
  };
  await Promise.all(connections.map(work));
}

export function expectRight(answer: string, isRight: (answer: string) => boolean): void {
  if (!isRight(answer)) throw new Error(`an answer was not the due one: ${answer.slice(0, 500)}`);
}
