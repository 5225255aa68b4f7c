import { checkOptions, option, quote } from "../../index";
import { type Authenticate, readsFrom, refuseUnknown } from "./authenticate";
import { type Callers, KnownSecrets } from "./known-secrets";

/** The header in which callers send their keys, and the owners of the keys. */
export interface ApiKeyOptions {
  /** The header that has the key. Default: `"x-api-key"`. */
  readonly header?: string;
  /** The caller of each key: its id, or the caller itself. */
  readonly keys: Callers;
}

/** Finds callers by their keys. */
export interface ApiKeys extends Authenticate {
  /** Lets these keys in from now on, and no others. Requests under way are answered. */
  replace(keys: Callers): void;
}

/** A list of keys, a header, or a token of RFC 9110. */
const KEY = /^[\x21-\x7e]{1,1024}$/;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/**
 * Takes an API key in a header. Keys are compared in constant time, and only their hashes are kept.
 *
 * @throws TypeError when an option is invalid.
 * @example
 * const keys = apiKeys({ keys: { [process.env.ROBOT_KEY]: "robot" } });
 * serve(system, { authenticate: keys, expose });
 * keys.replace(await readKeys()); // At any time.
 */
export function apiKeys(options: ApiKeyOptions): ApiKeys {
  checkOptions(options, CHECKS, "API keys", '{ keys: { "k3y": "robot" } }');
  const { header = "x-api-key" } = options;
  const known = new KnownSecrets("key", KEY, options.keys);
  const challenge = `ApiKey header=${quote(header.toLowerCase())}`;
  const authenticate: Authenticate = ({ headers }) => {
    const key = headers.get(header);
    if (key === null) return refuseUnknown(challenge, `The request has no key: send it in the header ${header}.`);
    const caller = KEY.test(key) ? known.callerOf(key) : undefined;
    return caller ?? refuseUnknown(challenge, "The key names no caller who is let in: send another one.");
  };
  return Object.assign(readsFrom(authenticate, [header.toLowerCase()]), {
    replace: (keys: Callers) => known.replace(keys),
  });
}

const CHECKS = {
  header: option.rule("is the name of a header", (value) => typeof value === "string" && HEADER.test(value)),
  keys: option.any, // KnownSecrets looks at them.
};
