import { checkOptions, type OptionChecks, option, quote } from "../../index";
import type { ExposedTopics } from "./relay";

/** The bounds of the sockets of a gateway. */
export interface SocketOptions {
  /** Most messages of one socket that are under way at one time. Default: 1,000. */
  readonly messages?: number;
  /** Most subscriptions of one socket. Default: 100. */
  readonly subscriptions?: number;
  /**
   * Most bytes that wait for a client that reads slowly, and most of one answer. A socket with more is closed (1008); before that, its
   * streams wait, and items of its topics are left out. Default: 1,048,576.
   */
  readonly unsent?: number;
  /** Milliseconds in which the first frame must say who the caller is, where the handshake did not. Default: 5,000. */
  readonly authenticateWithin?: number;
  /** Seconds without a sign of the client after which its socket ends, from 8 to 960. It is pinged before. Default: 60. */
  readonly idleTimeout?: number;
}

const DEFAULTS: Required<SocketOptions> = {
  messages: 1_000,
  subscriptions: 100,
  unsent: 1_048_576,
  authenticateWithin: 5_000,
  idleTimeout: 60,
};

const CHECKS: OptionChecks<SocketOptions> = {
  messages: option.count,
  subscriptions: option.count,
  unsent: option.count,
  authenticateWithin: option.duration,
  idleTimeout: option.rule(
    "is a whole number of seconds from 8 to 960",
    (value) => Number.isInteger(value) && (value as number) >= 8 && (value as number) <= 960, // An integer is a number.
    RangeError,
  ),
};

/** @throws TypeError or RangeError when an option cannot be one. */
export function socketOptionsOf(given: SocketOptions): Required<SocketOptions> {
  checkOptions(given, CHECKS, "the socket of a gateway", "{ messages: 100 }");
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...DEFAULTS, ...Object.fromEntries(set) };
}

/** @throws TypeError when one of them is no topic. */
export function checkTopics(topics: ExposedTopics): void {
  if (typeof topics !== "object" || topics === null) {
    throw new TypeError(`The topics of a gateway are an object, such as { changes: topic }; got ${quote(topics)}.`);
  }
  for (const [name, topic] of Object.entries(topics)) {
    if (typeof topic === "object" && topic !== null && "subscribe" in topic) continue;
    throw new TypeError(`The topic "${name}" of a gateway is made by createTopic; got ${quote(topic)}.`);
  }
}
