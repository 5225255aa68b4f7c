import { setPriority } from "node:os";
import { createRandom } from "envoi/testing";
import { type memoryHere, slopes } from "../harness/heap";
import { Latencies } from "../harness/latency";
import { median, ratios } from "../harness/statistics";
import type { Charted, Readings } from "../harness/suite";
import { Generator, type Request } from "../stress/generator";
import { climb } from "../stress/trouble";
import { type Connection, connect, connectAll, expectRight, get, isOk, ORDER, post, repeat, TOKEN } from "./http-load";
import { type Server, startServer } from "./http-process";

// What the suite http runs, each in a process of its own, which is the load; the servers are others.

const startGateway = (name: string) => startServer(new URL("http-gateway.ts", import.meta.url).href, name);
const startFloor = (name: string) => startServer(new URL("http-floors.ts", import.meta.url).href, name);

/** Makes what puts load on a server: it does so many operations, and sees that each was done. */
type Load = (server: Server) => Promise<(total: number) => Promise<void>>;

/** Connections that ask at the same time. */
const WIDTH = 8;
/** Turns that each of two servers has. */
const TURNS = 12;

/** Microseconds of its processor that an operation takes a gateway, and what it takes a bare server, in turns. */
async function costs(count: number, name: string, floor: string, load: Load): Promise<Readings> {
  await using gateway = await startGateway(name);
  await using bare = await startFloor(floor);
  const turn = Math.ceil(count / TURNS);
  const open = async (server: Server) => ({ server, run: await load(server), taken: [] as number[] });
  const [own, under] = [await open(gateway), await open(bare)];
  for (const { run } of [own, under]) await run(count / 2); // The engine compiles it first.
  for (let i = 0; i < TURNS; i++) {
    for (const { server, run, taken } of [own, under]) {
      const before = await server.call("cpu");
      await run(turn);
      taken.push(((await server.call("cpu")) - before) / turn);
    }
  }
  const [gatewayCost, bareCost] = [median(own.taken), median(under.taken)];
  return { gateway: gatewayCost, bare: bareCost, "times bare": ratios(own.taken, under.taken).median };
}

/** Has connections send a body again and again. */
const posting =
  (body: string, isRight: (answer: string, path: string) => boolean, headers = ""): Load =>
  async ({ port, path }) => {
    const connections = await connectAll(port, WIDTH);
    const check = (answer: string): boolean => isOk(answer) && isRight(answer, path);
    return (total) => repeat(connections, post(path, body, headers), check, total);
  };

const echoes = posting(ORDER, (answer) => answer.endsWith(ORDER));
export const ask = (count: number) => costs(count, "ask", "echo", echoes);

const AUTHORIZED = `authorization: Bearer ${TOKEN}\r\n`;
const MESSAGE = `{"operation":"take","payload":${ORDER}}`;
const messages = posting(
  MESSAGE,
  (answer, path) =>
    answer.endsWith(path === "/" ? MESSAGE : ORDER) && (path === "/" || /\nserver-timing: auth/i.test(answer)),
  `${AUTHORIZED}prefer: server-timing\r\n`,
);
export const full = (count: number) => costs(count, "full", "echo", messages);

const EVENTS = 100;
const streams = posting(`${EVENTS}`, (answer) => answer.split("\ndata: ").length === EVENTS + 2); // And the end.
export const events = (count: number) => costs(count, "events", "events", streams);
export const eventsAtOnce = (count: number) => costs(count, "events", "eventsAtOnce", streams);

const sockets: Load = async ({ port, path }) => {
  const all = await Promise.all(
    Array.from({ length: WIDTH }, async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, ["envoi.v1"]);
      await new Promise((resolve) => socket.addEventListener("open", resolve));
      return socket;
    }),
  );
  let id = 0;
  const askOver = (socket: WebSocket) =>
    new Promise<void>((resolve, reject) => {
      const due = `[{"kind":"reply","id":"${++id}","payload":${ORDER}}]`;
      socket.onmessage = ({ data }) => {
        if (data === due) resolve();
        else if (!String(data).includes('"welcome"')) reject(new Error(`an answer was not the due one: ${data}`));
      };
      socket.send(`[{"kind":"ask","id":"${id}","to":"desk","type":"take","payload":${ORDER}}]`);
    });
  return async (total) => {
    let left = total;
    const work = async (socket: WebSocket) => {
      while (left-- > 0) await askOver(socket);
    };
    await Promise.all(all.map(work));
  };
};

export const socket = (count: number) => costs(count, "socket", "socket", sockets);

/**
 * How long one request after the other takes a gateway and a bare server in turns, in microseconds, as a median: until a text has come, or
 * the whole answer.
 */
const times = (name: string, own: (path: string) => string, under: string, mark?: string) => async (count: number) => {
  await using gateway = await startGateway(name);
  await using bare = await startFloor("events");
  const sides = [
    { connection: await connect(gateway.port), request: own(gateway.path), taken: [] as number[] },
    { connection: await connect(bare.port), request: under, taken: [] as number[] },
  ] as const;
  for (let i = 0; i < count * 1.5; i++) {
    for (const { connection, request, taken } of sides) {
      const start = Bun.nanoseconds();
      const come = await connection.ask(request, mark);
      if (i >= count / 2) taken.push((Bun.nanoseconds() - start) / 1_000);
      expectRight(mark === undefined ? come : await connection.rest(), isOk);
    }
  }
  const [here, there] = [median(sides[0].taken), median(sides[1].taken)];
  return { gateway: here, bare: there, "times bare": here / there, added: here - there };
};

const HUNDRED = `${EVENTS}`;
export const firstEvent = times("events", (path) => post(path, HUNDRED), post("/", HUNDRED), "\ndata: 1\n");
/** A message to a session, its ten events stored before they are sent, until the last has come. */
export const endToEnd = times(
  "full",
  (path) => post(path, '{"operation":"ticks","payload":10}', AUTHORIZED),
  post("/", "10", AUTHORIZED),
);

/** How long after its client has left a stream is cancelled, its server's word of it included, in milliseconds. */
export async function disconnects(count: number): Promise<Readings> {
  await using gateway = await startGateway("hang");
  const taken = new Latencies();
  for (let i = 0; i < count; i++) {
    const connection = await connect(gateway.port);
    await connection.ask(post(gateway.path, ""), "\ndata: 1\n");
    await gateway.call("begun");
    const cancelled = gateway.call("cancelled");
    const start = Bun.nanoseconds();
    connection.leave();
    await cancelled;
    taken.record(Bun.nanoseconds() - start);
  }
  return taken.told("ms");
}

/** The requests of the users of a service, as often as they are sent. */
const mixFor = ({ path }: Server): Readonly<Record<string, string>> => ({
  ask: post("/actors/desk/take", ORDER, AUTHORIZED),
  session: post(path, MESSAGE, AUTHORIZED),
  stream: post("/actors/desk/ticks", "10", AUTHORIZED),
  manifest: get("/manifest", AUTHORIZED),
  metrics: get("/metrics", AUTHORIZED),
});
const MIX = { ask: 4, session: 2, stream: 2, manifest: 1, metrics: 1 };

/** Has each user send one request after the other, as long as there are some. */
async function use(
  users: readonly Connection[],
  server: Server,
  hasMore: () => boolean,
  record?: (taken: number) => void,
) {
  const random = createRandom(1);
  const requests = Object.entries(mixFor(server)).flatMap(
    ([name, request]) => Array.from({ length: MIX[name as keyof typeof MIX] }, () => request), // Both have the same names.
  );
  const work = async (user: Connection) => {
    while (hasMore()) {
      const start = Bun.nanoseconds();
      expectRight(await user.ask(random.pick(requests)), isOk);
      record?.(Bun.nanoseconds() - start);
    }
  };
  await Promise.all(users.map(work));
}

const usedBy = (width: number) => async (milliseconds: number) => {
  await using server = await startGateway("full");
  const users = await connectAll(server.port, width);
  const taken = new Latencies();
  const until = (end: number) => () => performance.now() < end;
  await use(users, server, until(performance.now() + milliseconds / 2));
  const start = performance.now();
  await use(users, server, until(start + milliseconds), (time) => taken.record(time));
  return { rate: (taken.count * 1_000) / (performance.now() - start), ...taken.told("ms") };
};
export const tenUsers = usedBy(10);
export const twentyFiveUsers = usedBy(25);
export const fiftyUsers = usedBy(50);

/** How memory goes on growing with each request of the mix. */
export async function memory(count: number): Promise<Charted> {
  await using server = await startGateway("full");
  const users = await connectAll(server.port, WIDTH);
  const work = (total: number): Promise<void> => {
    let left = total;
    return use(users, server, () => left-- > 0);
  };
  return await slopes("requests", count, work, () => server.call<ReturnType<typeof memoryHere>>("memory"));
}

/** Connections for a load on an open schedule. */
const OPEN = 200;
/** The load goes before the server where all processors are busy: it needs little, but in time. */
const URGENT = -10;
const STEPS = { from: 500, factor: 1.5 };

/** Raises the load of the mix on an open schedule by fixed steps until one does not hold; a window below 100 ms is all there is. */
export async function steps(window: number): Promise<Readings> {
  await using server = await startGateway("full");
  try {
    setPriority(URGENT);
  } catch {
    // Only some users may. It is told when requests were sent late.
  }
  const requests = mixFor(server);
  const waiting: Request[] = [];
  const free = await connectAll(server.port, OPEN);
  const serve = async (connection: Connection) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [id, name] = next;
      if (!generator.isOpen(id)) continue;
      const answer = await connection.ask(requests[name] ?? "");
      generator.settle(id, isOk(answer) ? undefined : answer.slice(9, 12));
    }
    free.push(connection);
  };
  const send = (sent: readonly Request[]): void => {
    waiting.push(...sent);
    for (let connection = free.pop(); connection !== undefined; connection = free.pop()) {
      serve(connection).catch(() => {}); // Its server has ended, and nobody waits for what it had taken.
      if (waiting.length === 0) return;
    }
  };
  const generator = new Generator({ patience: 1_000, send });
  const timer = setInterval(() => generator.tick(), 1);
  try {
    const step = async (rate: number) => {
      generator.change(rate, MIX);
      await Bun.sleep(window / 4);
      return generator.window(window);
    };
    if (window < 100) {
      const { due, ok, p95 } = await step(STEPS.from);
      if (ok !== due) throw new Error(`${ok} of ${due} requests were answered`);
      return { held: STEPS.from, p95 };
    }
    const { held, steps, broke, why } = await climb(STEPS, step);
    if (held === 0) throw new Error(`At ${broke} requests a second, ${why}.`);
    return { held, p95: steps.findLast(({ rate }) => rate === held)?.p95 ?? Number.NaN };
  } finally {
    clearInterval(timer);
  }
}
