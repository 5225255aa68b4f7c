import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type AskResult, createSystem } from "../../../src";
import {
  type FetchError,
  type FetchOptions,
  type FetchReply,
  resultOf,
  spawnFetch,
  type ToolReply,
} from "../../../src/tools";

/** A request that a server received. */
export interface Heard {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** The certificate of api.example.com and of all hosts below example.com. It is its own authority, and holds until 2126. */
export const certificate = readFileSync(join(import.meta.dir, "certificate.pem"), "utf8");
const key = readFileSync(join(import.meta.dir, "key.pem"), "utf8");

interface ServerOptions {
  readonly hostname?: string;
  readonly port?: number;
  readonly isSecure?: boolean;
}

/** A server on this machine that notes what it is sent. */
export function serve(
  answer: (request: Request) => Response | Promise<Response> = () => new Response("hello"),
  { hostname = "127.0.0.1", port = 0, isSecure = false }: ServerOptions = {},
) {
  const heard: Heard[] = [];
  const server = Bun.serve({
    hostname,
    port,
    idleTimeout: 0,
    ...(isSecure && { tls: { key, cert: certificate } }),
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      heard.push({
        method,
        path: pathname + search,
        headers: Object.fromEntries(headers),
        body: await request.clone().text(),
      });
      return answer(request);
    },
  });
  return { heard, port: server.port ?? 0, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** A server that writes what it likes. It closes each connection when the test ends. */
export async function serveRaw(answer: (socket: Socket) => void, hostname = "127.0.0.1") {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((listening) => server.listen(0, hostname, listening));
  const at = server.address();
  return {
    port: typeof at === "object" && at !== null ? at.port : 0,
    /** Resolves when a connection is closed by the other side. */
    get closed(): Promise<unknown> {
      return Promise.all([...sockets].map((socket) => new Promise((end) => socket.once("close", end))));
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((end) => server.close(end));
    },
  };
}

/** The addresses of this machine, which a rule has to name. */
export const LOCAL = ["127.0.0.0/8", "::1"];

/** A rule for all paths of a host, which may be on this machine. */
export const local = (url: string, more: object = {}) => ({ url, addresses: LOCAL, ...more });

/** A fetch actor in a system of its own, whose names all lead to this machine. */
export function web(options: FetchOptions) {
  const system = createSystem();
  const ref = spawnFetch(system, { resolve: () => ["127.0.0.1"], ...options });
  const told = async (
    reply: Promise<AskResult<ToolReply<FetchReply, FetchError>>>,
  ): Promise<FetchReply | FetchError> => {
    const result = resultOf(await reply);
    if (result.isOk()) return result.value;
    if ("retryable" in result.error) throw new Error(result.error.message);
    return result.error;
  };
  return {
    system,
    ref,
    get: (url: string, more: object = {}) => told(ref.ask("get", { url, ...more }, { timeout: 30_000 })),
    send: (method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "PATCH" | "OPTIONS", url: string, more: object = {}) =>
      told(ref.ask("request", { url, method, ...more }, { timeout: 30_000 })),
    async stream(url: string, more: object = {}) {
      const items: unknown[] = [];
      for await (const item of ref.stream("requestStream", { url, ...more }))
        items.push(item.ok ? item.value : item.error);
      return items;
    },
    async [Symbol.asyncDispose]() {
      await system.shutdown();
    },
  };
}

/** Lets the event loop turn, so that what is under way on this machine goes on. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((go) => setImmediate(go));
}
