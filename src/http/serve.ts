import type { ShutdownOptions, ShutdownReport, SignalName, System } from "../index";
import type { BunServer } from "./contract";
import type { Checked, Exposing } from "./exposure";
import { createGateway, type Gateway, type GatewayOptions } from "./gateway";

/** The options of a server. */
export interface ServeOptions<E extends Exposing = Exposing> extends GatewayOptions<E> {
  /** Default: `$PORT`, or 3000. 0 takes any free port. */
  readonly port?: number;
  /** The address to listen at. Default: all (`0.0.0.0`). */
  readonly hostname?: string;
  /**
   * Signals that end the server, its actors, and the process. Default: `SIGINT` and `SIGTERM`. An empty array for none: then call
   * `stop` yourself.
   */
  readonly signals?: readonly SignalName[];
  /** How a signal ends the server. */
  readonly shutdown?: StopOptions;
}

/** How a server ends. */
export interface StopOptions extends ShutdownOptions {
  /** Milliseconds that streams and sockets have to end by themselves, before the actors are stopped. Default: 5,000. */
  readonly streams?: number;
}

/** A server that runs. */
export interface Serving<E = Exposing> {
  /** Where it listens, with a slash at the end. */
  readonly url: URL;
  readonly gateway: Gateway<E>;
  /** Bun's server. */
  readonly server: BunServer;
  /**
   * Ends it in order: no new streams, and those that run may end; sockets and the clients of streams are told to come back; then the actors
   * stop, phase by phase; then the port is closed. Later calls get the report of the first one.
   */
  stop(options?: StopOptions): Promise<ShutdownReport>;
}

const STREAMS = 5_000;

/** Requests are refused by the gateway, with a sentence, before Bun cuts them off. */
const BEYOND = 65_536;

/**
 * Serves a system over HTTP.
 *
 * @throws TypeError when an option is invalid; Error when the port is in use.
 * @example
 * const { url } = serve(system, { port: 0, expose: { counter: { ref: counter, operations: ["add", "total"] } } });
 */
export function serve<const E extends Exposing>(
  system: System,
  options: ServeOptions<E> & { readonly expose: Checked<E> },
): Serving<E> {
  const gateway: Gateway<E> = createGateway<E>(system, options);
  const { port, hostname, signals = ["SIGINT", "SIGTERM"], shutdown = {} } = options;
  const server: BunServer = Bun.serve({
    ...(port !== undefined && { port }),
    ...(hostname !== undefined && { hostname }),
    maxRequestBodySize: gateway.limits.body + BEYOND,
    fetch: gateway.fetch,
    websocket: gateway.websocket,
  });
  let stopped: Promise<ShutdownReport> | undefined;

  const drain = ({ streams = STREAMS }: StopOptions): Promise<void> => gateway.drain(streams);
  const close = async (): Promise<void> => {
    await gateway.close();
    await server.stop(true);
  };
  const stopOnce = async (given: StopOptions): Promise<ShutdownReport> => {
    await drain(given);
    const report = await system.shutdown(given);
    await close();
    return report;
  };
  if (signals.length > 0) {
    const { streams: _, ...rest } = shutdown;
    system.shutdownOnSignals({ signals, ...rest, onSignal: () => drain(shutdown), onShutdown: close });
  }
  return {
    url: server.url,
    gateway,
    server,
    stop: (given = shutdown) => (stopped ??= stopOnce(given)),
  };
}
