import { err, type Result } from "neverthrow";
import { type ClientError, ClientStreamError, failure } from "./client-error";
import { type Calls, nameOf } from "./http-calls";
import { inOrder } from "./items";
import { positive, type Settings, type StreamCallOptions } from "./settings";
import type { SocketCalls } from "./socket-calls";
import type { SubscribeOptions } from "./subscription";

type Items = AsyncIterableIterator<unknown, undefined>;

/** Milliseconds in which the code of the socket must have come. */
const LOADING = 10_000;

/** The socket of a client. Its code is loaded with its first use: it is 40 % of the client, and most pages do without. */
export class LateSocket implements Calls {
  readonly #settings: Settings;
  #calls: Promise<SocketCalls> | null = null;
  #loaded: SocketCalls | null = null;
  #isClosed = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  ask(...call: Parameters<Calls["ask"]>): Promise<Result<unknown, ClientError>> {
    return this.#send(call, (calls) => calls.ask(...call));
  }

  tell(...call: Parameters<Calls["tell"]>): Promise<Result<void, ClientError>> {
    return this.#send(call, (calls) => calls.tell(...call));
  }

  #send<Reply>(
    [actor, operation]: Parameters<Calls["ask"]>,
    send: (calls: SocketCalls) => Promise<Result<Reply, ClientError>>,
  ): Promise<Result<Reply, ClientError>> {
    return this.#load().then(send, (cause: unknown) => err(notLoaded(nameOf(actor, operation), cause)));
  }

  stream(actor: string, operation: string, payload: unknown, options: StreamCallOptions): Items {
    return this.#late(nameOf(actor, operation), (calls) => calls.stream(actor, operation, payload, options));
  }

  subscribe(topic: string, options: SubscribeOptions): Items {
    if (options.buffer !== undefined) positive(options.buffer, "buffer");
    return this.#late(`the topic "${topic}"`, (calls) => calls.subscribe(topic, options));
  }

  close(): void {
    this.#isClosed = true;
    this.#loaded?.close();
  }

  #late(what: string, begin: (calls: SocketCalls) => Items): Items {
    let items: Items | null = null;
    let isLeft = false;
    const read = async (): Promise<IteratorResult<unknown, undefined>> => {
      try {
        if (items === null) {
          const calls = await this.#load();
          if (isLeft) return { done: true, value: undefined };
          items = begin(calls);
        }
      } catch (cause) {
        throw new ClientStreamError(notLoaded(what, cause));
      }
      return items.next();
    };
    return inOrder(read, () => {
      isLeft = true;
      void items?.return?.();
    });
  }

  #load(): Promise<SocketCalls> {
    this.#calls ??= new Promise<SocketCalls>((resolve, reject) => {
      const timer = this.#settings.setTimer(() => reject(new Error("it took too long")), LOADING);
      import("./socket-calls")
        .then(({ SocketCalls }) => {
          const calls = new SocketCalls(this.#settings);
          this.#loaded = calls;
          if (this.#isClosed) calls.close();
          resolve(calls);
        }, reject)
        .finally(() => timer.cancel());
    });
    this.#calls.catch(() => {
      this.#calls = null; // The next message tries again.
    });
    return this.#calls;
  }
}

const notLoaded = (what: string, cause: unknown): ClientError =>
  failure("unreachable", `${what} was not sent: the code of the socket could not be loaded.`, { cause });
