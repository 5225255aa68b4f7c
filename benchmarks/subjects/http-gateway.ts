/** Gateways, each as its row needs it. */
import { join } from "node:path";
import { type ActorOptions, type Context, createSystem, defineProtocol, type SignaturesOf, Type } from "envoi";
import { bearerTokens, createGateway, serve } from "envoi/http";
import { disk, makeFolder } from "../harness/places";
import type { Readings } from "../harness/suite";
import { ORDER, TOKEN } from "./http-load";
import type { Started } from "./http-process";

const Order = Type.Object({
  item: Type.String(),
  count: Type.Integer(),
  tags: Type.Array(Type.String()),
  note: Type.String(),
});

const Desk = defineProtocol("desk", {
  take: { payload: Order, reply: Order, hints: { readOnly: true } },
  takeAll: { payload: Type.Object({ orders: Type.Array(Order) }) },
  ticks: { payload: Type.Number(), stream: Type.Number() },
  hang: { stream: Type.Number() },
});

/** What an actor of a desk does; `hangs` tells of a stream that has begun, and of one that was cancelled. */
const handlers = (onAbort: (listener: () => void) => void, hangs: (told: "begun" | "cancelled") => void) => ({
  take: <Taken>(order: Taken) => order,
  takeAll() {},
  async *ticks(count: number) {
    for (let tick = 1; tick <= count; tick++) yield tick;
  },
  async *hang() {
    yield 1;
    const aborted = new Promise<void>((resolve) => onAbort(resolve));
    hangs("begun");
    await aborted;
    hangs("cancelled");
  },
});

const plain = handlers(
  () => {},
  () => {},
);

const SERVER = { port: 0, hostname: "127.0.0.1", signals: [], limits: { streams: 100_000 } } as const;
/** Streams that one actor may have under way. */
const AT_ONCE: ActorOptions = { concurrency: 1_000 };
const OPERATIONS = ["take", "takeAll", "ticks", "hang"] as const;

function open(path: string, options?: ActorOptions): Started {
  const system = createSystem();
  const told = { begun: Promise.withResolvers<void>(), cancelled: Promise.withResolvers<void>() };
  const factory = (ctx: Context<SignaturesOf<typeof Desk>>) =>
    handlers(
      (done) => ctx.onAbort(done),
      (what) => told[what].resolve(),
    );
  const desk = system.spawn("desk", Desk, factory, options);
  const { url } = serve(system, { ...SERVER, expose: { desk: { ref: desk, operations: OPERATIONS } } });
  const wait = async (what: keyof typeof told) => {
    await told[what].promise;
    told[what] = Promise.withResolvers();
  };
  const commands = { begun: () => wait("begun"), cancelled: () => wait("cancelled") };
  return { port: Number(url.port), path, commands };
}

export const ask = () => open("/actors/desk/take");
export const events = () => open("/actors/desk/ticks", AT_ONCE);
export const socket = () => open("/socket");
export const hang = () => open("/actors/desk/hang");

/** With everything on: tokens, a rate limit, sessions in a file, metrics and `Server-Timing`. Its path is that of the messages of a session. */
export async function full(): Promise<Started> {
  const system = createSystem({ metrics: true });
  const desk = system.spawn("desk", Desk, () => plain, AT_ONCE);
  const { url, gateway } = serve(system, {
    ...SERVER,
    expose: { desk: { ref: desk, operations: OPERATIONS } },
    authenticate: bearerTokens({ [TOKEN]: "ada" }),
    rateLimit: "1000000/s;100000000/min",
    serverTiming: true,
    metrics: true,
    sessions: {
      protocol: Desk,
      operations: ["take", "ticks"],
      path: join(makeFolder(disk, "envoi-http-").path, "sessions.sqlite"),
      factory: () => plain,
    },
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const made = await gateway.fetch(new Request(`${url}sessions`, { method: "POST", headers }));
  return { port: Number(url.port), path: `${made.headers.get("location")}/messages` };
}

/** The bytes of a body that is refused. */
const LARGE = 600_000;

/** How long the refusal of such a body takes at least, of which each order is wrong, and how long it takes to read its JSON alone. */
export async function refusals(times: number): Promise<Readings> {
  const system = createSystem();
  const desk = system.spawn("desk", Desk, () => plain);
  const gateway = createGateway(system, { expose: { desk: { ref: desk, operations: OPERATIONS } } });
  const wrong = ORDER.replace("3", '"three"');
  const body = `{"orders":[${Array.from({ length: Math.ceil(LARGE / wrong.length) }, () => wrong).join(",")}]}`;
  const headers = { "content-type": "application/json", "content-length": `${body.length}` };
  const request = () => new Request("http://localhost/actors/desk/takeAll", { method: "POST", headers, body });
  const timed = async <Done>(work: (request: Request) => Promise<Done>) => {
    const given = request();
    const start = performance.now();
    const done = await work(given);
    return { done, taken: performance.now() - start };
  };
  const [refused, read]: [number[], number[]] = [[], []];
  for (let i = 0; i < times * 2; i++) {
    const parsing = await timed((given) => given.json());
    const refusal = await timed((given) => gateway.fetch(given));
    const { issues } = (await refusal.done.json()) as { readonly issues: readonly unknown[] }; // A problem's.
    if (refusal.done.status !== 400 || issues.length !== 8) throw new Error(`it was answered ${refusal.done.status}`);
    if (i < times) continue; // The engine compiles it first.
    refused.push(refusal.taken);
    read.push(parsing.taken);
  }
  const [refusal, parsing] = [Math.min(...refused), Math.min(...read)]; // Longer ones met the collector, or another process.
  return { refusal, "its JSON read": parsing, "beyond that": Math.max(0, refusal - parsing) };
}
