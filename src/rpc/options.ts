import { checkOptions, type OptionChecks, option, quote } from "../index";
import type { PeerOptions } from "./contract";
import { CANCEL_NAMES, PROGRESS_NAMES } from "./conventions";

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

const CHECKS: OptionChecks<PeerOptions> = {
  name: option.rule('is the id of an address, such as "editor"', (value) => typeof value === "string" && value !== ""),
  serves: option.rule('has each method by its name: { "files/read": { ref, operation: "read" } }', isObject),
  calls: option.rule(
    'has each part of the other side: { client: { protocol, methods: { read: "files/read" } } }',
    isObject,
  ),
  capabilities: option.rule(
    'are names, as in ["fs.readTextFile"]',
    (value) => typeof value === "object" && value !== null,
  ),
  cancel: option.oneOf(...CANCEL_NAMES),
  progress: option.oneOf(...PROGRESS_NAMES),
  trace: option.flag,
  errorOf: option.function(" of an error and its method"),
  most: option.count,
  longest: option.duration,
  maxBytes: option.count,
  maxDepth: option.whole(1, 512, ", the deepest that a message may be"),
  maxBatch: option.whole(0),
  maxUnsent: option.count,
  stalledAfter: option.duration,
};

/** @throws TypeError or RangeError when the options of a peer cannot be. */
export const checkPeerOptions = (options: object): void => checkOptions(options, CHECKS, "a peer", "{ serves, calls }");

const METHODS = ["send", "open", "pause", "resume", "close"] as const;

/** @throws TypeError when something is no channel. */
export function checkChannel(channel: unknown): void {
  for (const name of METHODS) {
    if (typeof (channel as Record<string, unknown> | null | undefined)?.[name] === "function") continue;
    throw new TypeError(
      `A peer speaks over a channel, such as stdioChannel(); this one has no ${name}(): got ${quote(channel)}.`,
    );
  }
}
