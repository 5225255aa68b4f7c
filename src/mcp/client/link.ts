import type { Clock, TraceContext } from "../../index";
import type { ClientParts, ClientSdk } from "../sdk";
import { boundedFetch } from "./bounded-fetch";
import { tellOfCuts } from "./cuts";
import { type ConnectMcpOptions, remoteLimitsOf } from "./options";
import type { RemoteTool } from "./remote-protocol";

/** Most pages of a list of tools. */
const MOST_PAGES = 100;
/** The longest time that the SDK's own timers take: the actor's calls have limits by the system's clock. */
const ENDLESS = 2 ** 31 - 1;

/** One call on its way to the server. */
export interface Sending {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number | undefined, note: string | undefined) => void;
  /** The trace that it belongs to. */
  readonly trace: TraceContext | undefined;
}

/** One connection to a server, until it is lost. */
export class Link {
  readonly #client: ClientSdk.Client;
  /** Called once when the connection is lost, unless this side closed it. */
  onLost: (cause: Error) => void = () => {};
  /** Called when the server says that its tools have changed. */
  onChanged: () => void = () => {};
  #isOver = false;

  private constructor(client: ClientSdk.Client) {
    this.#client = client;
    client.onclose = () => this.#lose(new Error("The connection was closed."));
  }

  /**
   * Makes a connection within a time, or rejects.
   *
   * @param signal gives it up.
   */
  static async open(sdk: ClientParts, options: ConnectMcpOptions, clock: Clock, signal: AbortSignal): Promise<Link> {
    const { connectTimeout = 30_000 } = options;
    let changed = (): void => {};
    const onChanged = (): void => changed();
    const client = new sdk.Client(
      { name: "envoi", version: "1" },
      {
        capabilities: {},
        // The SDK takes a program for an old one if it does not answer the question for its versions in time.
        versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(connectTimeout, ENDLESS) / 3 } },
        jsonSchemaValidator: UNCHECKED, // The actor's protocol checks what comes.
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
      },
    );
    const transport = transportOf(sdk, options);
    const link: Link = new Link(client);
    changed = () => link.onChanged();
    const giveUp = new AbortController();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const stop = (error: unknown): void => {
      giveUp.abort(error);
      reject(error);
    };
    const timer = clock.setTimer(
      () => stop(new Error(`No connection stood within ${connectTimeout} ms.`)),
      Math.min(connectTimeout, ENDLESS),
    );
    const stopBySignal = (): void => stop(signal.reason);
    signal.addEventListener("abort", stopBySignal, { once: true });
    const connecting = client.connect(transport, { signal: giveUp.signal, timeout: ENDLESS });
    try {
      await Promise.race([connecting, late]);
      return link;
    } catch (thrown) {
      void link.close();
      connecting.then(
        () => link.close(), // It stood too late.
        () => {},
      );
      throw giveUp.signal.aborted ? giveUp.signal.reason : thrown;
    } finally {
      timer.cancel();
      signal.removeEventListener("abort", stopBySignal);
    }
  }

  get server(): { readonly name: string; readonly version: string; readonly protocolVersion: string } {
    const { name = "", version = "" } = this.#client.getServerVersion() ?? {};
    return { name, version, protocolVersion: this.#client.getNegotiatedProtocolVersion() ?? "" };
  }

  /** Reads the list of tools, page by page. */
  async tools(most: number, signal: AbortSignal): Promise<readonly RemoteTool[]> {
    const found: RemoteTool[] = [];
    if (this.#client.getServerCapabilities()?.tools === undefined) return found;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES && found.length <= most; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = await this.#client.request(
        { method: "tools/list", params },
        { signal, timeout: ENDLESS },
      );
      found.push(...tools);
      if (nextCursor === undefined || nextCursor === cursor) break;
      cursor = nextCursor;
    }
    return found;
  }

  /** Calls a tool. Rejects as the SDK does. */
  call(
    tool: RemoteTool,
    payload: object | undefined,
    { signal, onProgress, trace }: Sending,
  ): Promise<ClientSdk.CallToolResult> {
    return this.#client.callTool(
      // The SDK has made and checked it. A payload is an object, by the operation's schema.
      {
        name: tool.name,
        ...(payload !== undefined && { arguments: payload as Record<string, unknown> }),
        ...(trace !== undefined && { _meta: trace }),
      },
      {
        signal,
        timeout: ENDLESS,
        toolDefinition: tool as ClientSdk.Tool,
        onprogress: ({ progress, total, message }) => onProgress(progress, total, message),
      },
    );
  }

  /** Ends the connection because a call found the session gone: the server has restarted. */
  lose(cause: Error): void {
    this.#lose(cause);
    void this.close();
  }

  #lose(cause: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onLost(cause);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#client.close().catch(() => {}); // It has been lost.
  }
}

const UNCHECKED: ClientSdk.jsonSchemaValidator = {
  // The validator's callers pass on the value that they gave.
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

function transportOf(sdk: ClientParts, options: ConnectMcpOptions): ClientSdk.Transport {
  const { message } = remoteLimitsOf(options.limits);
  if (options.url !== undefined) {
    const { url, headers } = options;
    const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
      fetch: boundedFetch(message),
      ...(headers !== undefined && { requestInit: { headers: { ...headers } } }),
    });
    tellOfCuts(transport);
    return transport;
  }
  const { command, env, cwd, stderr } = options;
  const [program, ...args] = command;
  return new sdk.StdioClientTransport({
    command: program,
    args,
    maxBufferSize: message,
    ...(env !== undefined && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
    stderr: stderr ?? "inherit",
  });
}
