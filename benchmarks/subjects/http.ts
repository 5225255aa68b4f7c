/** The probes of the suite http. They put load on servers in processes of their own. */
import { type memoryHere, slopes } from "../harness/heap";
import { Latencies } from "../harness/latency";
import { median, ratios } from "../harness/statistics";
import type { Charted, Readings, Scale } from "../harness/suite";
import { Generator } from "../stress/generator";
import { climb } from "../stress/trouble";
import {
  connect,
  type Exchange,
  type Gauge,
  get,
  isOk,
  ORDER,
  openAll,
  post,
  repeat,
  TOKEN,
  times,
  WIDTH,
} from "./http-load";
import { type Server, startServer } from "./http-process";

const start = (name: string) => startServer(new URL("http-servers.ts", import.meta.url).href, name);

/**
 * The turns of each server in a round, and those before that are not counted. A gateway has more of these: the compiler is done with it
 * after 12,000 streams of events or 40,000 asks, and with a bare server after some hundred.
 */
const [TURNS, WARM_UP] = [8, [14, 2, 2]];

/** A gateway and one or two bare servers take turns of so many requests; the figures of one turn are compared. */
export const beside =
  (names: readonly string[], gauge: Gauge, count: number) =>
  async (scale: Scale): Promise<Readings> => {
    await using servers = new AsyncDisposableStack();
    const sides: { readonly take: Awaited<ReturnType<Gauge>>; readonly taken: number[] }[] = [];
    for (const name of names) sides.push({ take: await gauge(servers.use(await start(name))), taken: [] });
    const turns = scale === "smoke" ? [WIDTH] : Array.from({ length: TURNS }, () => count);
    if (scale === "full") for (const [side, { take }] of sides.entries()) await take(count * (WARM_UP[side] ?? 0));
    for (const turn of turns) for (const { take, taken } of sides) taken.push(await take(turn));
    const [own = [], under = [], other = under] = sides.map(({ taken }) => taken);
    return {
      ...{ gateway: median(own), bare: median(under), "times bare": ratios(own, under).median },
      ...{ "16 at once": median(other), "times 16 at once": ratios(own, other).median },
      added: Math.max(0, median(own.map((figure, turn) => figure - (under[turn] ?? 0)))),
    };
  };

/** The time from the moment a client leaves its stream until another client has heard that it was cancelled. */
export async function disconnects(scale: Scale): Promise<Readings> {
  await using server = await start("gateway");
  const [taken, observer] = [new Latencies(), await connect(server.port)];
  for (let i = 0; i < { smoke: 3, full: 200 }[scale]; i++) {
    const leaver = await connect(server.port);
    await leaver.ask(post("/actors/source/hang", ""), "\ndata: 1\n");
    const cancelled = observer.ask(post("/actors/source/left", ""));
    const left = Bun.nanoseconds();
    leaver.leave();
    if (!isOk(await cancelled)) throw new Error("nobody told of the end of a stream");
    taken.record(Bun.nanoseconds() - left);
  }
  return taken.told("ms");
}

export const AUTHORIZED = `authorization: Bearer ${TOKEN}\r\n`;
export const MESSAGE = `{"operation":"take","payload":${ORDER}}`;

/** Of ten requests, four asks, two messages to a session, two streams of ten events, the manifest and the metrics. */
function mixFor({ path }: Server): Exchange {
  const [ask, message] = [post("/actors/desk/take", ORDER, AUTHORIZED), post(path, MESSAGE, AUTHORIZED)];
  const stream = post("/actors/source/ticks", "10", AUTHORIZED);
  const [manifest, metrics] = [get("/manifest", AUTHORIZED), get("/metrics", AUTHORIZED)];
  const requests = [ask, message, ask, stream, manifest, ask, message, ask, stream, metrics];
  return { requests, isRight: (answer) => isOk(answer) && !answer.includes("event: error") };
}

/** So many users of a service, each with one request after the other. */
export const users =
  (count: number) =>
  async (scale: Scale): Promise<Readings> => {
    await using server = await start("full");
    const [clients, mix, taken] = [await openAll(server.port, count), mixFor(server), new Latencies()];
    const total = { smoke: 100, full: 10_000 }[scale];
    await repeat(clients, mix, times(total * 1.5)); // The compiler is done with the gateway after some 10,000.
    const begun = performance.now();
    await repeat(clients, mix, times(total), (each) => taken.record(each));
    return { rate: (total * 1_000) / (performance.now() - begun), ...taken.told("ms") };
  };

/** The growth of memory with each request of the mix. */
export async function memory(scale: Scale): Promise<Charted> {
  await using server = await start("full");
  const [clients, mix] = [await openAll(server.port, WIDTH), mixFor(server)];
  const work = (total: number) => repeat(clients, mix, times(total));
  const read = () => server.call<ReturnType<typeof memoryHere>>("memory");
  return await slopes("requests", { smoke: 200, full: 40_000 }[scale], work, read);
}

/** Connections for a load on an open schedule. */
const OPEN = 200;
/** Requests a second to begin with: fewer where a machine does not hold as many. */
const BEGINNINGS = [1_000, 250, 60];

/** Raises the load of the mix on an open schedule by steps, until one does not hold or cannot be sent in time. */
export async function steps(scale: Scale): Promise<Readings> {
  await using server = await start("full");
  const [{ requests, isRight }, clients] = [mixFor(server), await openAll(server.port, OPEN)];
  const lines = clients.map((client) => ({ client, last: Promise.resolve() }));
  let isOver = false; // Requests that wait then would try to connect, one after the other.
  const serve = async ({ client, last }: (typeof lines)[number], id: number, index: string) => {
    await last;
    if (isOver || !generator.isOpen(id)) return;
    const answer = await client.ask(requests[Number(index)] ?? "");
    generator.settle(id, isRight(answer) ? undefined : answer.slice(9, 12));
  };
  const send = (sent: readonly (readonly [id: number, index: string])[]): void => {
    for (const [id, index] of sent) {
      const line = lines[id % OPEN];
      if (line !== undefined) line.last = serve(line, id, index).catch(() => {}); // Its server has ended: nobody waits.
    }
  };
  const generator = new Generator({ patience: 1_000, send });
  const step = async (rate: number, window = 1_000) => {
    generator.change(rate, Object.fromEntries(requests.map((_, index) => [index, 1])));
    await Bun.sleep(window / 4);
    return generator.window(window);
  };
  const timer = setInterval(() => generator.tick(), 1);
  try {
    if (scale === "smoke") {
      const { rate, due, ok, p95 } = await step(500, 50);
      if (ok !== due) throw new Error(`${ok} of ${due} requests were answered`);
      return { held: rate, p95 };
    }
    for (const from of BEGINNINGS) {
      const { held, steps } = await climb({ from, factor: 1.5 }, step);
      const p95 = steps.findLast(({ rate }) => rate === held)?.p95;
      if (p95 !== undefined) return { held, p95 };
    }
    throw new Error(`not even ${BEGINNINGS.at(-1)} requests a second were held`);
  } finally {
    isOver = true;
    clearInterval(timer);
  }
}
