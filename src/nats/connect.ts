import type { Authenticator, ConnectionOptions, NatsConnection, Status } from "@nats-io/transport-node";
import type { Clock, System } from "../index";
import { Connection } from "./connection";
import { type ClusterOptions, checkClusterOptions, type NatsCredentials } from "./options";
import { loadSdk, type Sdk } from "./sdk";

/** The oldest server that ends leases by itself: 2.9 ignores the time to live of a key in silence. */
const OLDEST = [2, 11] as const;
/** The longest time of a further try at the start where servers are silent, in milliseconds: a busy process takes as long to hear them. */
const LONGEST_TRY = 2_000;
/** Milliseconds between two tries to reconnect to one server: at first, and at most. */
const [FIRST_WAIT, LONGEST_WAIT] = [50, 2_000];
/** A server that says nothing for two of these is given up, in milliseconds. */
const PING_EVERY = 2_000;

/** The server ends such a connection, and the client is not told why. */
const SILENT_TLS =
  " One that asks its clients for a certificate is silent where that is missing or is not of its authority: see tls.cert and tls.key.";

/**
 * Connects to the servers.
 *
 * @throws Error (as a rejection) when no server answers, it is too old, or the system was shut down meanwhile.
 */
export async function openConnection(system: System, options: ClusterOptions): Promise<Connection> {
  checkClusterOptions(options);
  let connection: Connection | undefined;
  let isOver = false;
  // Before there is a connection, too: nothing else would end one that a shutdown did not wait for.
  const remove = system.onShutdown(() => {
    isOver = true;
    return connection?.close();
  });
  try {
    const sdk = await loadSdk();
    const nc = await connected(sdk, system.clock, options);
    try {
      checkVersion(nc);
      if (isOver) throw new Error(`The system was shut down before it had joined cluster "${options.name}".`);
    } catch (thrown) {
      await nc.close();
      throw thrown;
    }
    connection = new Connection(nc, sdk, system, options);
  } catch (thrown) {
    remove();
    throw thrown;
  }
  void follow(connection);
  connection.onClose(remove);
  return connection;
}

async function connected(sdk: Sdk, clock: Clock, options: ClusterOptions): Promise<NatsConnection> {
  const { connectTimeout = 500 } = options;
  for (let timeout = connectTimeout; ; timeout *= 2) {
    try {
      return await connectedWithin(timeout, sdk, clock, options);
    } catch (thrown) {
      const isSilence = thrown instanceof Error && thrown.cause instanceof sdk.transport.TimeoutError;
      if (!isSilence || timeout * 2 > LONGEST_TRY) throw thrown;
    }
  }
}

async function connectedWithin(
  timeout: number,
  sdk: Sdk,
  clock: Clock,
  options: ClusterOptions,
): Promise<NatsConnection> {
  const servers = typeof options.servers === "string" ? [options.servers] : [...options.servers];
  let lostAt: number | undefined;
  const settings: ConnectionOptions = {
    servers,
    name: `envoi ${options.name}/${options.node}`,
    timeout,
    maxReconnectAttempts: -1,
    pingInterval: PING_EVERY,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true, // A server that starts anew may not know its accounts yet.
    // It is asked again and again while it waits, so that a wait which grew with each question would never be over.
    reconnectDelayHandler: () => {
      const now = clock.monotonicTime();
      lostAt ??= now;
      return Math.min(Math.max((now - lostAt) / 4, FIRST_WAIT), LONGEST_WAIT);
    },
    ...authenticationOf(sdk, options.credentials),
  };
  if (options.tls !== undefined) {
    const { first, ...files } = options.tls;
    settings.tls = first === undefined ? files : { ...files, handshakeFirst: first };
  }
  try {
    const nc = await sdk.transport.connect(settings);
    lostAt = undefined;
    void resetAtReconnect(nc, () => {
      lostAt = undefined;
    });
    return nc;
  } catch (cause) {
    const sentence = `connectCluster reached none of ${servers.join(", ")} (${String(cause)}): start a server, or mend the option servers, credentials or tls.`;
    const isSilent = options.tls !== undefined && cause instanceof sdk.transport.TimeoutError;
    throw new Error(isSilent ? `${sentence}${SILENT_TLS}` : sentence, { cause });
  }
}

async function resetAtReconnect(nc: NatsConnection, reset: () => void): Promise<void> {
  for await (const { type } of nc.status()) if (type === "reconnect") reset();
}

function authenticationOf({ transport }: Sdk, credentials: NatsCredentials = {}): { authenticator?: Authenticator[] } {
  const { creds, seed, token, user, password } = credentials;
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const authenticator: Authenticator[] = [];
  if (creds !== undefined) authenticator.push(transport.credsAuthenticator(bytes(creds)));
  if (seed !== undefined) authenticator.push(transport.nkeyAuthenticator(bytes(seed)));
  if (token !== undefined) authenticator.push(transport.tokenAuthenticator(token));
  if (user !== undefined) authenticator.push(transport.usernamePasswordAuthenticator(user, password));
  return authenticator.length === 0 ? {} : { authenticator };
}

function checkVersion(nc: NatsConnection): void {
  const { version = "an unknown version", server_name: name = nc.getServer() } = nc.info ?? {};
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new Error(
    `connectCluster needs a server of NATS ${OLDEST.join(".")} or later, and ${name} is ${version}, which never ends the lease of a dead node: install a later one.`,
  );
}

/** Says in the log and by events what becomes of the connection. */
async function follow(connection: Connection): Promise<void> {
  const { nc, system } = connection;
  for await (const status of nc.status()) {
    const sentence = sentenceOf(status);
    if (sentence === undefined) continue;
    const [kind, text] = sentence;
    const line = `Cluster "${connection.cluster}": ${text}`;
    system.log.warn(line);
    connection.tell(kind, { text });
  }
}

function sentenceOf(status: Status): readonly [kind: string, text: string] | undefined {
  switch (status.type) {
    case "disconnect":
      return ["disconnected", `the connection to ${status.server} is lost; it is tried again for ever.`];
    case "reconnect":
      return ["reconnected", `connected to ${status.server}.`];
    case "ldm":
      return ["leaving", `${status.server} is about to stop.`];
    case "error":
      return ["error", `the server refused something: ${status.error.message}`];
    case "staleConnection":
      return ["stale", "the server does not answer any more."];
    default:
      return undefined;
  }
}
