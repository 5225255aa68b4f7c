import { checkOptions, type OptionChecks, option } from "../index";
import { isToken } from "./subjects";

/** The names and keys that a server of NATS asks for. */
export interface NatsCredentials {
  /** The text of a file of credentials (`.creds`): a JWT and the seed of its key. */
  readonly creds?: string;
  /** The seed of a key, where the server knows the key alone. */
  readonly seed?: string;
  readonly token?: string;
  readonly user?: string;
  readonly password?: string;
}

/** TLS to the servers. An empty object asks for TLS with the authorities of the system. */
export interface NatsTls {
  /** The authorities, as PEM. Default: those of the system. */
  readonly ca?: string;
  /** The certificate of this client and its key, as PEM. Default: none. */
  readonly cert?: string;
  readonly key?: string;
  /** True where the server begins with TLS, before its first line. Default: false. */
  readonly first?: boolean;
}

/** The options of a cluster. */
export interface ClusterOptions {
  /** The addresses of one or more servers, such as `nats://127.0.0.1:4222`. The others are learnt from them. */
  readonly servers: string | readonly string[];
  /** The cluster's name: nodes of one name see each other. Letters, digits, `-` and `_`. */
  readonly name: string;
  /** The name of this node, which no other node of the cluster has. Letters, digits, `-` and `_`. */
  readonly node: string;
  /** Default: none. Bind the node's name to the account or the user in the server's permissions where nodes do not trust each other. */
  readonly credentials?: NatsCredentials;
  /** Default: no TLS, unless a server asks for it. */
  readonly tls?: NatsTls;
  /**
   * The time to reach one server, in milliseconds, at the start and at each reconnection. Default: 500. A longer one makes
   * the way back from a network that swallows everything as much longer. At the start, servers that are silent are tried again with twice the time, up to 2,000:
   * a busy process takes as long to hear them. The time of the try that succeeds holds for reconnections.
   */
  readonly connectTimeout?: number;
  /**
   * The time for which a node is taken to live after its last heartbeat, in milliseconds, from 500. It sends four in that time.
   * What it owns moves when the time is over. All nodes have the same. Default: 2,000.
   */
  readonly lease?: number;
  /** The copies of what JetStream keeps for the cluster: 1, 3 or 5. Default: 1, which is lost with its server. */
  readonly replicas?: number;
  /**
   * The most bytes of durable messages that wait, on each server that keeps them. Further ones are refused as `unreachable` until some are handled. All nodes have
   * the same. Default: no limit but that of the servers (`max_file`). Once that one is reached, no node can renew its lease either, so set this to less. Delayed messages and
   * dead letters are not counted.
   */
  readonly durableBytes?: number;
}

const TOKEN = option.rule("has 1 to 64 letters, digits, - and _", isToken);

const CREDENTIALS: OptionChecks<NatsCredentials> = {
  creds: option.text,
  seed: option.text,
  token: option.text,
  user: option.text,
  password: option.text,
};
const TLS: OptionChecks<NatsTls> = { ca: option.text, cert: option.text, key: option.text, first: option.flag };

const isServer = (value: unknown): boolean => typeof value === "string" && /^((nats|tls):\/\/)?[^\s/]+$/.test(value);

const CHECKS: OptionChecks<ClusterOptions> = {
  servers: option.rule("is an address such as nats://127.0.0.1:4222, or an array of them", (value) =>
    Array.isArray(value) ? value.length > 0 && value.every(isServer) : isServer(value),
  ),
  name: TOKEN,
  node: TOKEN,
  credentials: option.group(CREDENTIALS, "{ creds: await Bun.file(path).text() }"),
  tls: option.group(TLS, "{ ca: await Bun.file(path).text() }"),
  connectTimeout: option.whole(1),
  lease: option.whole(500),
  replicas: option.rule("is 1, 3 or 5", (value) => value === 1 || value === 3 || value === 5, RangeError),
  durableBytes: option.whole(1),
};

/** @throws TypeError or RangeError that says what to write instead. */
export function checkClusterOptions(options: ClusterOptions): void {
  checkOptions(options, CHECKS, "a cluster", '{ servers: "nats://127.0.0.1:4222", name: "shop", node: "node-1" }');
  for (const name of ["servers", "name", "node"] as const) CHECKS[name](options[name], name, "a cluster"); // All must be there.
}
