import type { AnyGateway, Client, ClientTools } from "./client-types";
import { type Calls, HttpCalls } from "./http-calls";
import { LateSocket } from "./late-socket";
import { sessionsOf } from "./sessions";
import { type CallOptions, type ClientOptions, checkTimeout, Settings, type StreamCallOptions } from "./settings";
import type { SubscribeOptions } from "./subscription";

/** An actor behind a gateway. It knows its name alone: what it takes, the compiler knows. */
class Remote {
  readonly #calls: Calls;
  readonly #name: string;

  constructor(calls: Calls, name: string) {
    this.#calls = calls;
    this.#name = name;
  }

  ask(operation: string, payload?: unknown, options: CallOptions = {}) {
    checkTimeout(options);
    return this.#calls.ask(this.#name, operation, payload, options);
  }

  tell(operation: string, payload?: unknown, options: CallOptions = {}) {
    checkTimeout(options);
    return this.#calls.tell(this.#name, operation, payload, options);
  }

  stream(operation: string, payload?: unknown, options: StreamCallOptions = {}) {
    return this.#calls.stream(this.#name, operation, payload, options);
  }
}

/**
 * Makes a client of a gateway. Its types come from that of the gateway, which a page imports by `import type`: no code of the server goes
 * along.
 *
 * @throws TypeError or RangeError when an option cannot be one.
 * @example
 * const client = createClient<typeof gateway>({ url: "https://service.example" });
 * const total = await client.counter.ask("add", 2);
 */
export function createClient<G = AnyGateway>(options: ClientOptions): Client<G> {
  const settings = new Settings(options);
  const socket = new LateSocket(settings); // It is opened by the first message.
  const calls = options.socket === true ? socket : new HttpCalls(settings);
  const actors = new Map<string, Remote>();
  const actor = (name: string): Remote => {
    const known = actors.get(name) ?? new Remote(calls, name);
    actors.set(name, known);
    return known;
  };
  const tools: { readonly [Name in keyof ClientTools<unknown>]: unknown } = {
    actor,
    sessions: sessionsOf(settings),
    subscribe: (topic: string, given: SubscribeOptions = {}) => socket.subscribe(topic, given),
    close: () => socket.close(),
  };
  const client = new Proxy(tools, {
    get(_, name) {
      if (typeof name === "symbol" || name === "then") return undefined; // An awaited client is itself.
      return Object.hasOwn(tools, name) ? tools[name as keyof typeof tools] : actor(name); // It has that name.
    },
  });
  return client as unknown as Client<G>; // The compiler alone knows the names and payloads: each is sent as it is.
}
