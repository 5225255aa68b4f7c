/** Bare servers: the least that serves such requests on Bun, by hand and without envoi. */
import type { Started } from "./http-process";

type Handler = (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response | undefined>;

function serve(fetch: Handler, message: (socket: Bun.ServerWebSocket, text: string) => void = () => {}): Started {
  const websocket = { message: (socket: Bun.ServerWebSocket, text: string | Buffer) => message(socket, String(text)) };
  const { port = 0 } = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, websocket });
  return { port, path: "/" };
}

/** Gives JSON back. */
export const echo = (): Started => serve(async (request) => Response.json(await request.json()));

async function* ticks(count: number) {
  for (let tick = 1; tick <= count; tick++) yield tick;
}

const encoder = new TextEncoder();
const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-store",
  "x-accel-buffering": "no",
};
/** The numbers of an asynchronous generator as events: so many in a piece, if that many are there. */
const eventsInPieces = (most: number): Started =>
  serve(async (request, server) => {
    const items = ticks((await request.json()) as number); // Its row sends a number.
    server.timeout(request, 0);
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(encoder.encode(": open\n\n")),
      async pull(controller) {
        let text = "";
        for (let i = 0; i < most; i++) {
          const { done, value } = await items.next();
          if (done === true) {
            controller.enqueue(encoder.encode(`${text}event: end\ndata: {}\n\n`));
            controller.close();
            return;
          }
          text += `data: ${JSON.stringify(value)}\n\n`;
        }
        controller.enqueue(encoder.encode(text));
      },
      cancel: () => void items.return(),
    });
    return new Response(body, { headers: HEADERS });
  });

/** Each event is written as soon as the body takes it. */
export const events = (): Started => eventsInPieces(1);
/** The same with less work, for items of which the server knows that many are there. */
export const eventsAtOnce = (): Started => eventsInPieces(16);

/** Answers the frames of one message with its payload. */
export const socket = (): Started =>
  serve(
    async (request, server) => {
      const headers = { "sec-websocket-protocol": "envoi.v1" };
      return server.upgrade(request, { headers }) ? undefined : new Response(null, { status: 426 });
    },
    (socket, text) => {
      const frames: readonly { readonly id: string; readonly payload: unknown }[] = JSON.parse(text);
      socket.send(JSON.stringify(frames.map(({ id, payload }) => ({ kind: "reply", id, payload }))));
    },
  );
