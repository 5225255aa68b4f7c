import { connect, cpuOf, type Exchange, type Gauge, isOk, ORDER, post, timeOf } from "../subjects/http-load";
import type { Server } from "../subjects/http-process";
import { type Candidate, Lacks, type Room, type Task } from "./room";

const candidates: readonly Candidate[] = [
  {
    name: "envoi",
    how: "a gateway of this repository, as it is by default, with an actor that gives back what it is asked",
  },
  {
    name: "hono",
    packages: ["hono", "@hono/typebox-validator"],
    how: "`app.post` with `tbValidator`, whose schema is compiled, by `Bun.serve`; no limit of the body's size, depth or time",
  },
  {
    name: "elysia",
    packages: ["elysia"],
    how: "`app.post` with the `body` of its options, which it compiles, by its own `listen`; no limit of depth or time",
  },
  {
    name: "fastify",
    packages: ["fastify"],
    how: "`app.post` with the `schema` of its body, by its own `listen`, on the `node:http` of Bun; no limit of depth",
  },
  {
    name: "Bun.serve",
    isFloor: true,
    how: "`Response.json(await request.json())`; nothing is checked",
  },
];

/** Requests of a sample, and the samples after which the code of a server is compiled for good. */
const SAMPLE = 4_000;
const WARM_UP = 8;

const row = (name: string, gauge: Gauge): Task<Server> => ({
  name,
  heads: [{ table: "time", row: name, unit: "ns" }],
  kind: "timed",
  warmUp: WARM_UP,
  async prepare(server) {
    const take = await gauge(server);
    return async ({ time, fewest }) => {
      const samples: number[] = [];
      for (const end = performance.now() + time; samples.length < fewest || performance.now() < end; )
        samples.push(1_000 * (await take(SAMPLE)));
      return [samples];
    };
  },
});

const PATH = "/actors/desk/take";
const wrong = post(PATH, ORDER.replace("3", '"three"'));
const echoed = (): Exchange => ({
  requests: [post(PATH, ORDER)],
  isRight: (answer) => isOk(answer) && answer.endsWith(ORDER),
});
const refused = (): Exchange => ({
  requests: [wrong],
  isRight: (answer) => /^HTTP\/1\.1 4(?:00|22) /.test(answer),
});

const refusal: Gauge = async (server) => {
  if (isOk(await (await connect(server.port)).ask(wrong))) throw new Lacks("it checks nothing");
  return cpuOf(refused)(server);
};

/** Servers beside each other. Those that listen, and the load, are in processes of their own. */
export const http: Room<Server> = {
  candidates,
  tasks: [
    row("a JSON request, validated: the server's processor", cpuOf(echoed)),
    row("a JSON request, validated: until the answer has come", timeOf(echoed)),
    row("a JSON request, refused: the server's processor", refusal),
  ],
};
