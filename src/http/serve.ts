import {
  checkOptions,
  type OptionChecks,
  option,
  type Schema,
  type ShutdownOptions,
  type ShutdownReport,
  type SignalName,
  type System,
} from "../index";
import type { BunServer } from "./contract";
import { idleTimeOf } from "./disconnects";
import type { Checked, Exposing } from "./exposure";
import { type Gateway, gatewayOf } from "./gateway";
import { checkGatewayOptions, type GatewayOptions } from "./gateway-options";
import { refuse, SERVICE_FAILED } from "./problem";
import type { OperationName, SessionsOf, SessionsOptions } from "./sessions/options";
import type { ExposedTopics, NoTopics } from "./socket/relay";

/** The options of a server, beside those of its gateway. */
export interface ServerOptions {
  /** Default: `$PORT`, or 3000. 0 takes any free port. */
  readonly port?: number;
  /** The address to listen at. Default: all (`0.0.0.0`). */
  readonly hostname?: string;
  /**
   * Signals that end the server, its actors, and the process. Default: `SIGINT` and `SIGTERM`. An empty array for none: then call `stop`
   * yourself, as for two servers of one system. They take the place of `system.shutdownOnSignals`.
   */
  readonly signals?: readonly SignalName[];
  /** The bounds of a shutdown that a signal begins. Default: streams have 5 seconds, and each phase of the system as long as `system.shutdown()` gives it. */
  readonly shutdown?: StopOptions;
}

/** The options of a server and its gateway. */
export interface ServeOptions<
  E extends Exposing = Exposing,
  Sessions = never,
  Topics extends ExposedTopics = ExposedTopics,
> extends GatewayOptions<E, Sessions, Topics>,
    ServerOptions {}

/** The way in which a server ends. */
export interface StopOptions extends ShutdownOptions {
  /** Milliseconds that streams, sockets and running requests have to end by themselves, before the actors are stopped. Default: 5,000. */
  readonly streams?: number;
}

/** A server that runs. */
export interface Serving<E = Exposing, Sessions = unknown, Topics = unknown> {
  /** The URL at which it listens, with a slash at the end. */
  readonly url: URL;
  readonly gateway: Gateway<E, Sessions, Topics>;
  /** Bun's server. */
  readonly server: BunServer;
  /**
   * Ends it in order: no new streams, and those that run may end; sockets and the clients of streams are told to come back; requests that
   * run are answered; then the actors stop, phase by phase; then the port is closed. Later calls get the report of the first one.
   *
   * @throws TypeError or RangeError at once when an option is invalid.
   */
  stop(options?: StopOptions): Promise<ShutdownReport>;
}

/** Milliseconds for streams. */
const STREAMS = 5_000;

/** Milliseconds in which the last answers leave for their clients. */
const LAST = 1_000;

const STOP: OptionChecks<StopOptions> = {
  streams: option.wait,
  timeout: option.wait,
  drain: option.flag,
  quiet: option.flag,
};

const SERVER: OptionChecks<ServerOptions> = {
  port: option.whole(0, 65_535),
  hostname: option.text,
  signals: option.any, // The system looks at it.
  shutdown: option.group(STOP, "{ timeout: 8_000 }"),
};

/**
 * Serves a system over HTTP.
 *
 * @throws TypeError or RangeError when an option is invalid; Error when the port is in use.
 * @example
 * const { url } = serve(system, { port: 0, expose: { counter: { ref: counter, operations: ["add", "total"] } } });
 */
export function serve<
  const E extends Exposing,
  Signatures = never,
  Metadata extends Schema = Schema,
  const Name extends OperationName<Signatures> = never,
  const Topics extends ExposedTopics = NoTopics,
>(
  system: System,
  options: ServeOptions<E, SessionsOptions<Signatures, Metadata, Name>, Topics> & { readonly expose: Checked<E> },
): Serving<E, SessionsOf<Signatures, Metadata, Name>, Topics> {
  checkGatewayOptions(options, SERVER, "a server");
  const { port, hostname, signals = ["SIGINT", "SIGTERM"], shutdown = {} } = options;
  const gateway = gatewayOf<E, SessionsOf<Signatures, Metadata, Name>, Topics>(system, options);
  let server: BunServer | undefined;
  let stopped: Promise<ShutdownReport> | undefined;

  const drain = ({ streams = STREAMS }: StopOptions): Promise<void> => gateway.drain(streams);
  const close = async (): Promise<void> => {
    await gateway.close();
    if (server !== undefined) await closePort(server, system);
  };
  const stopOnce = async (given: StopOptions): Promise<ShutdownReport> => {
    await drain(given);
    const { streams: _, ...rest } = given;
    const report = await system.shutdown(rest);
    await close();
    return report;
  };
  const { streams: _, ...rest } = shutdown;
  // Bound first: it looks at the names.
  const onSignal = (): Promise<void> => drain(shutdown);
  const unbind =
    signals.length > 0 ? system.shutdownOnSignals({ signals, ...rest, onSignal, onShutdown: close }) : null;
  try {
    server = listen(gateway, system, port, hostname);
  } catch (thrown) {
    unbind?.();
    void gateway.close(); // It logs what fails.
    throw thrown;
  }
  return {
    url: server.url,
    gateway,
    server,
    stop(given = shutdown) {
      checkOptions(given, STOP, "stop", "{ timeout: 8_000 }");
      stopped ??= stopOnce(given);
      return stopped;
    },
  };
}

function listen(
  { limits, fetch, websocket }: Gateway<unknown>,
  { log }: System,
  port?: number,
  hostname?: string,
): BunServer {
  try {
    return Bun.serve({
      ...(port !== undefined && { port }),
      ...(hostname !== undefined && { hostname }),
      idleTimeout: idleTimeOf(Math.max(limits.bodyTime, limits.time)),
      maxRequestBodySize: Number.MAX_SAFE_INTEGER, // The gateway refuses by itself, with a sentence.
      development: false, // Else Bun answers what it cannot send with a page that has the stack, and the source around it.
      reusePort: false, // Else `development: false` turns it on, and a second server would share the port in silence.
      error(cause) {
        log.error("A response could not be sent: make a new one for each request.", { cause });
        return refuse("internal-error", SERVICE_FAILED);
      },
      fetch,
      websocket,
    });
  } catch (thrown) {
    const code: unknown = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code !== "EADDRINUSE") throw thrown;
    throw new Error(`Port ${port ?? process.env["PORT"] ?? 3000} is in use: end its server, or give another port.`, {
      cause: thrown,
    });
  }
}

/** Lets the last answers out, and closes all connections. */
async function closePort(server: BunServer, { clock }: System): Promise<void> {
  let timer: { cancel(): void } | undefined;
  const late = new Promise<void>((resolve) => {
    timer = clock.setTimer(resolve, LAST);
  });
  await Promise.race([server.stop(), late]);
  timer?.cancel();
  await server.stop(true);
}
