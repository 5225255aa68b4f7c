import { connect, connectAll, expectRight, isOk, ORDER, post, repeat } from "../subjects/http-load";
import type { Server } from "../subjects/http-process";
import { type Candidate, Lacks, type Room, type Task, timed } from "./room";

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

/** Connections that ask at the same time. */
const WIDTH = 8;
/** Requests of a sample. Fewer would tell what a server does after a pause. */
const SAMPLE = 1_500;

/** What a request costs the server's process of its processor. */
const cost = (row: string, body: string, isRight: (answer: string) => boolean): Task<Server> => ({
  name: row,
  heads: [{ table: "time", row, unit: "ns" }],
  kind: "timed",
  async prepare(server) {
    const connections = await connectAll(server.port, WIDTH);
    const request = post(server.path, body);
    if (isRight === isRefused && isOk((await connections[0]?.ask(request)) ?? "")) throw new Lacks("it checks nothing");
    return async ({ time, fewest }) => {
      const samples: number[] = [];
      for (const end = performance.now() + time; samples.length < fewest || performance.now() < end; ) {
        const before = await server.call("cpu");
        await repeat(connections, request, isRight, SAMPLE);
        samples.push((((await server.call("cpu")) - before) / SAMPLE) * 1_000);
      }
      return [samples];
    };
  },
});

const isEchoed = (answer: string): boolean => isOk(answer) && answer.endsWith(ORDER);
const isRefused = (answer: string): boolean => /^HTTP\/1\.1 4(?:00|22) /.test(answer);

/** Servers beside each other. Those that listen, and the load, are in processes of their own. */
export const http: Room<Server> = {
  candidates,
  tasks: [
    cost("a JSON request, validated: the server's processor", ORDER, isEchoed),
    timed({
      row: "a JSON request, validated: until the answer has come",
      operations: 20,
      async prepare({ port, path }) {
        const connection = await connect(port);
        const request = post(path, ORDER);
        return async (count) => {
          for (let i = 0; i < count; i++) expectRight(await connection.ask(request), isEchoed);
          return count;
        };
      },
    }),
    cost("a JSON request, refused: the server's processor", ORDER.replace("3", '"three"'), isRefused),
  ],
};
