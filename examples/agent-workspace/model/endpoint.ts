/** Where a model is asked. */
export interface Endpoint {
  /** Up to what comes before `/chat/completions`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Undefined for a server that wants none. */
  readonly key: string | undefined;
}

/**
 * The endpoint that the environment names: OPENAI_BASE_URL, OPENAI_MODEL, and OPENAI_API_KEY where one is needed.
 * Undefined where it names none; a key alone names none, since many have one that is not meant for this.
 *
 * @throws TypeError where what it says cannot be used.
 */
export function endpointIn(env: Readonly<Record<string, string | undefined>>): Endpoint | undefined {
  const { OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: model, OPENAI_API_KEY: key } = env;
  if (!baseUrl && !model) return undefined;
  if (!baseUrl || !model) {
    throw new TypeError(
      "A model needs both OPENAI_BASE_URL, such as http://localhost:11434/v1, and OPENAI_MODEL; " +
        "with --planner scripted, none is asked.",
    );
  }
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new TypeError(`OPENAI_BASE_URL is a URL such as http://localhost:11434/v1; got ${JSON.stringify(baseUrl)}.`);
  }
  return { baseUrl: baseUrl.replace(/\/+$/, ""), model, key: key || undefined };
}
