/** The servers of the suite http, by name: gateways, and the least that serves such requests on Bun, by hand and without envoi. */
import { join } from "node:path";
import { type Context, createSystem, defineProtocol, type SignaturesOf, type System, Type } from "envoi";
import { bearerTokens, serve } from "envoi/http";
import { disk, makeFolder } from "../harness/places";
import { TOKEN } from "./http-load";
import type { Started } from "./http-process";

const tags = Type.Array(Type.String());
const Order = Type.Object({ item: Type.String(), count: Type.Integer(), tags, note: Type.String() });
const Desk = defineProtocol("desk", {
  take: { payload: Order, reply: Order, hints: { readOnly: true } },
  takeAll: { payload: Type.Object({ orders: Type.Array(Order) }) },
  ticks: { payload: Type.Number(), stream: Type.Number() },
  hang: { stream: Type.Number() },
  left: { reply: Type.Null() },
});
const operations = ["take", "takeAll", "ticks", "hang", "left"] as const;

async function* ticks(count: number) {
  for (let tick = 1; tick <= count; tick++) yield tick;
}

let left = Promise.withResolvers<null>();
const handlers = (ctx: Context<SignaturesOf<typeof Desk>>) => ({
  take: <Taken>(order: Taken) => order,
  takeAll() {},
  ticks,
  async *hang() {
    left = Promise.withResolvers();
    yield 1;
    await new Promise<void>((resolve) => ctx.onAbort(resolve));
    left.resolve(null);
  },
  /** Answers once the last stream that hung is cancelled. */
  left: () => left.promise,
});

/** Exposes a desk that takes one order after the other, and a source of many streams at once. */
export function expose(system: System) {
  const desk = { ref: system.spawn("desk", Desk, handlers), operations };
  return { desk, source: { ref: system.spawn("source", Desk, handlers, { concurrency: 1_000 }), operations } };
}
const options = { port: 0, hostname: "127.0.0.1", signals: [], limits: { streams: 100_000 } };

export function gateway(): Started {
  const system = createSystem();
  return { port: Number(serve(system, { ...options, expose: expose(system) }).url.port) };
}

/** With everything on: tokens, a rate limit, sessions in a file, metrics and `Server-Timing`. Its path is of the messages of a session. */
export async function full(): Promise<Started> {
  const system = createSystem({ metrics: true });
  const path = join(makeFolder(disk, "envoi-http-").path, "sessions.sqlite");
  const { url } = serve(system, {
    ...options,
    expose: expose(system),
    authenticate: bearerTokens({ [TOKEN]: "ada" }),
    rateLimit: "1000000/s;100000000/min",
    serverTiming: true,
    metrics: true,
    sessions: { protocol: Desk, operations: ["take", "ticks"], path, factory: handlers },
  });
  const made = await fetch(`${url}sessions`, { method: "POST", headers: { authorization: `Bearer ${TOKEN}` } });
  return { port: Number(url.port), path: `${made.headers.get("location")}/messages` };
}

type Answer = (request: Request, server: Bun.Server<undefined>) => Promise<Response | undefined>;

function bare(fetch: Answer, websocket: Bun.WebSocketHandler<undefined> = { message() {} }): Started {
  return { port: Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, websocket }).port ?? 0 };
}

/** Gives JSON back. */
export const echo = () => bare(async (request) => Response.json(await request.json()));

const encoder = new TextEncoder();
const events = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-store",
  "x-accel-buffering": "no",
};

/** The numbers of an asynchronous generator as events: `most` in a piece of the body. */
const eventsBy = (most: number): Started =>
  bare(async (request, server) => {
    const items = ticks((await request.json()) as number); // Its rows send one.
    server.timeout(request, 0);
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(encoder.encode(": open\n\n")),
      async pull(controller) {
        let text = "";
        let isOver = false;
        for (let taken = 0; taken < most && !isOver; taken++) {
          const { done = false, value } = await items.next();
          text += done ? "event: end\ndata: {}\n\n" : `data: ${JSON.stringify(value)}\n\n`;
          isOver = done;
        }
        controller.enqueue(encoder.encode(text));
        if (isOver) controller.close();
      },
      cancel: () => void items.return(),
    });
    return new Response(body, { headers: events });
  });

/** Each event is written as soon as it is there. */
export const oneByOne = () => eventsBy(1);
/** Sixteen events are waited for, and written together. */
export const bySixteen = () => eventsBy(16);

/** Answers the frames of a message with their payloads. */
export const socket = () =>
  bare(
    async (request, server) => {
      const isOne = server.upgrade(request, { headers: { "sec-websocket-protocol": "envoi.v1" } });
      return isOne ? undefined : new Response(null, { status: 426 });
    },
    {
      open: (socket) => void socket.send('[{"kind":"welcome"}]'),
      message(socket, text) {
        const frames: readonly { readonly id: string; readonly payload: unknown }[] = JSON.parse(String(text));
        socket.send(JSON.stringify(frames.map(({ id, payload }) => ({ kind: "reply", id, payload }))));
      },
    },
  );
