import type { Server } from "bun";

/** Bun's server. Its sockets carry what the WebSocket part needs. */
export type BunServer = Server<unknown>;

/**
 * Bun's server in what a router hands on beside a request: the server itself, as `Bun.serve` does, or an object that has it, as hono's `env`.
 */
export function serverIn(given: unknown): BunServer | undefined {
  if (isServer(given)) return given;
  const server: unknown = typeof given === "object" && given !== null && "server" in given ? given.server : undefined;
  return isServer(server) ? server : undefined;
}

const isServer = (given: unknown): given is BunServer =>
  typeof given === "object" && given !== null && "requestIP" in given && typeof given.requestIP === "function";
