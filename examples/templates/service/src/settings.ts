/** What the environment says. */
export interface Settings {
  readonly port: number;
  /** The ids of callers, by their tokens. */
  readonly tokens: Readonly<Record<string, string>>;
  /** How often each caller may ask. */
  readonly rateLimit: string;
}

/** A token with fewer characters could be guessed: 22 letters and digits are 128 bits. */
const SHORTEST = 22;

/**
 * Reads the settings out of the environment: `TOKENS="ada=…, bob=…"`, `PORT` and `RATE_LIMIT`.
 *
 * @throws Error with a sentence for whoever starts the service. It has no token in it, because it will be logged.
 */
export function settingsOf(env: Readonly<Record<string, string | undefined>>): Settings {
  const { TOKENS = "", PORT = "3000", RATE_LIMIT = "50/s;1000/min" } = env;
  const tokens: Record<string, string> = {};
  for (const pair of TOKENS.split(",")) {
    if (pair.trim() === "") continue;
    const [, id, token] = /^\s*([\w.-]+)=(\S+)\s*$/.exec(pair) ?? [];
    if (id === undefined || token === undefined) throw new Error('TOKENS is a list such as "ada=TOKEN, bob=TOKEN".');
    if (token.length < SHORTEST) throw new Error(`The token of ${id} is short: write ${SHORTEST} characters or more.`);
    tokens[token] = id;
  }
  if (Object.keys(tokens).length === 0) {
    throw new Error('Say who may call: TOKENS="ada=TOKEN". For a token, run: openssl rand -hex 16');
  }
  const port = Number(PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`PORT is a whole number from 0 to 65535, and not "${PORT}".`);
  }
  return { port, tokens, rateLimit: RATE_LIMIT };
}
