import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Address,
  address,
  type Context,
  type Factory,
  type Operation,
  type Ref,
  type System,
  traceOf,
} from "../../index";
import type { ClientParts } from "../sdk";
import { Link } from "./link";
import { type ConnectMcpOptions, type RemoteLimits, remoteLimitsOf } from "./options";
import { type RemoteTool, type RemoteTools, remoteTools } from "./remote-protocol";
import type { RemoteReply, RemoteSignatures } from "./remote-signatures";
import { errorOf, replyOf } from "./replies";
import { isSoonChecked } from "./written-out";

/** Least milliseconds between two readings of the list of tools, however often the server reports a change. */
const PAUSE = 1_000;
/** The longest delay of a timer. */
const LONGEST = 2 ** 31 - 1;

/** An actor's hold on the connection. The actor fails when the connection is lost, so that its supervisor restarts it. */
interface Holder {
  lost(cause: Error): void;
}

/**
 * Another server, and the actor that stands for it. The actor has one operation for each tool. When the tools change, a new actor takes its
 * place, with the same connection. Messages by address then go to the new one; the old one finishes its calls.
 */
export class RemoteServer {
  readonly address: Address;
  readonly #system: System;
  readonly #sdk: ClientParts;
  readonly #options: ConnectMcpOptions;
  readonly #limits: RemoteLimits;
  #remote: RemoteTools;
  #link: Link | null = null;
  /** The connection, open or being made. Null while nobody needs one. */
  #linking: Promise<Link> | null = null;
  /** Gives up the connection that is being made. */
  #opening: AbortController | null = null;
  #holder: Holder | null = null;
  #actor: Ref<RemoteSignatures> | null = null;
  /** Counts the actors. Each has an address of its own. */
  #version = 0;
  #unresolve: () => void = () => {};
  #reread: "none" | "waiting" | "again" = "none";
  #isClosed = false;

  constructor(system: System, sdk: ClientParts, options: ConnectMcpOptions) {
    this.#system = system;
    this.#sdk = sdk;
    this.#options = options;
    this.#limits = remoteLimitsOf(options.limits);
    this.address = address(`mcp/${options.name}/tools`);
    this.#remote = remoteTools(options.name, [], this.#limits);
  }

  get protocol(): RemoteTools["protocol"] {
    return this.#remote.protocol;
  }

  get server(): Link["server"] | undefined {
    return this.#link?.server;
  }

  /** Makes the first connection, and the actor. Rejects if that fails. */
  async open(): Promise<void> {
    const { name } = this.#options;
    this.#unresolve = this.#system.resolve(`mcp/${name}/`, (at) =>
      at === this.address ? (this.#actor ?? undefined) : undefined,
    );
    try {
      await this.#connect();
      this.#spawn();
    } catch (cause) {
      this.#unresolve();
      await this.#link?.close();
      throw new Error(`The MCP server "${name}" could not be reached: ${wordsOf(cause)}`, { cause });
    }
  }

  #connect(): Promise<Link> {
    const linking = this.#makeLink();
    this.#linking = linking;
    return linking;
  }

  async #makeLink(): Promise<Link> {
    const opening = new AbortController();
    const { signal } = opening;
    this.#opening = opening;
    const link = await Link.open(this.#sdk, this.#options, this.#system.clock, signal);
    this.#link = link;
    link.onLost = (cause) => this.#lost(link, cause);
    link.onChanged = () => this.#read();
    try {
      const tools = await this.#toolsOf(link);
      signal.throwIfAborted();
      this.#take(tools);
    } catch (thrown) {
      if (this.#link === link) this.#link = null;
      await link.close();
      throw thrown;
    }
    return link;
  }

  /** Reads the list within the time that a call may take. */
  async #toolsOf(link: Link): Promise<RemoteTools> {
    const { name, timeout = 60_000 } = this.#options;
    const giveUp = new AbortController();
    const timer = this.#system.clock.setTimer(
      () => giveUp.abort(new Error(`The list of tools did not come within ${timeout} ms.`)),
      Math.min(timeout, LONGEST),
    );
    try {
      return remoteTools(name, await link.tools(this.#limits.tools, giveUp.signal), this.#limits);
    } finally {
      timer.cancel();
    }
  }

  /** Takes a list of tools. A new actor takes the place of the old one, if there is one, when the list has changed. */
  #take(remote: RemoteTools): void {
    if (remote.leftOut.length > 0) {
      const { leftOut } = remote;
      this.#system.log.warn(`Some tools of the MCP server "${this.#options.name}" are left out.`, { leftOut });
    }
    if (remote.fingerprint === this.#remote.fingerprint) return;
    this.#remote = remote;
    const old = this.#actor;
    if (old === null) return;
    this.#spawn();
    void this.#system.stop(old, { drain: true });
    this.#system.publish({ kind: "mcp:tools", address: this.address, detail: { tools: [...remote.tools.keys()] } });
  }

  #spawn(): void {
    const { name, concurrency = 64, capacity = 1_000 } = this.#options;
    const { protocol } = this.#remote;
    this.#version++;
    const at = `mcp/${name}/tools-${this.#version}`;
    this.#actor = this.#system.spawn(at, protocol, this.#factoryOf(this.#remote), { concurrency, capacity });
  }

  #factoryOf({ protocol, tools, widths }: RemoteTools): Factory<RemoteSignatures> {
    return (ctx) => {
      const holder: Holder = {
        lost(cause) {
          if (ctx.timers.has("lost")) return;
          ctx.timers.once("lost", 1, () => {
            throw cause;
          });
        },
      };
      this.#holder = holder;
      this.#ensure(holder);
      const handlers: Record<string, (payload: unknown) => Promise<RemoteReply>> = {};
      for (const [name, tool] of tools) {
        const operation = protocol.operations[name];
        const width = widths.get(name) ?? 1;
        handlers[name] = (payload) => this.#call(tool, operation, width, payload, ctx);
      }
      // The operations are known only at run time. The protocol was made of the same list, so each has a handler.
      return { ...handlers, onStop: () => this.#leave(holder) } as ReturnType<Factory<RemoteSignatures>>;
    };
  }

  /** Makes a connection if there is none. A failure fails the actor that holds it, and its supervisor decides. */
  #ensure(holder: Holder): void {
    if (this.#linking !== null) return;
    const linking = this.#connect();
    linking.catch((cause: unknown) => {
      if (this.#linking === linking) this.#linking = null;
      const said = new Error(`The MCP server "${this.#options.name}" could not be reached: ${wordsOf(cause)}`, {
        cause,
      });
      if (this.#holder === holder) holder.lost(said);
    });
  }

  #lost(link: Link, cause: Error): void {
    if (this.#link !== link) return;
    this.#link = null;
    this.#linking = null;
    this.#holder?.lost(cause);
  }

  /** Handles the stop or restart of an actor. An actor that has taken its place keeps the connection. */
  async #leave(holder: Holder): Promise<void> {
    if (this.#holder !== holder) return;
    this.#holder = null;
    const link = this.#link;
    this.#link = null;
    this.#linking = null;
    this.#opening?.abort(new Error("The connection was closed here."));
    await link?.close();
  }

  async #call(
    tool: RemoteTool,
    operation: Operation | undefined,
    width: number,
    payload: unknown,
    ctx: Context<RemoteSignatures>,
  ): Promise<RemoteReply> {
    const { timeout = 60_000 } = this.#options;
    const trace = traceOf(ctx.handsOn); // Read before the first await.
    const giveUp = new AbortController();
    const { signal } = giveUp;
    let given: { readonly up: unknown } | undefined;
    const forget = ctx.onAbort(() => {
      given = { up: ctx.signal.reason };
      giveUp.abort(new Error("Its asker gave up."));
    });
    const late = (): void => giveUp.abort(new Error(`It took more than ${timeout} ms.`));
    const timer = timeout > LONGEST ? null : this.#system.clock.setTimer(late, timeout);
    // The SDK calls back from its reading, outside of the message that is handled.
    const onProgress = AsyncLocalStorage.bind((done: number, total?: number, note?: string) => {
      // JSON can hold numbers that parse as infinite, such as 1e999.
      if (Number.isFinite(done) && Number.isFinite(total ?? 0)) ctx.progress(done, total, note?.slice(0, LONGEST_NOTE));
    });
    let link: Link | undefined;
    try {
      const found = await within(this.#linking ?? Promise.reject(new Error("There is no connection.")), signal);
      link = found;
      const result = await found.call(tool, payload as object | undefined, { signal, onProgress, trace }); // By its schema.
      return replyOf(result, tool, operation, (value) => isSoonChecked(value, width, this.#limits.message));
    } catch (thrown) {
      // An asker that gave up waits for no reply: it would be a dead letter. The asker of an actor that begins anew still waits.
      if (given !== undefined && !isStop(given.up)) throw given.up;
      if (given !== undefined) return LOST;
      const { error, isOver } = errorOf(thrown, this.#sdk, signal);
      if (isOver) link?.lose(thrown instanceof Error ? thrown : new Error("The session is gone."));
      return { ok: false, error };
    } finally {
      timer?.cancel();
      forget();
    }
  }

  /** Reads the list of tools again: at once, or after `PAUSE` if it was read a moment ago. */
  #read(): void {
    if (this.#reread !== "none") {
      this.#reread = "again";
      return;
    }
    const link = this.#link;
    if (link === null || this.#isClosed) return;
    this.#reread = "waiting";
    this.#toolsOf(link)
      .then((remote) => {
        if (this.#link === link && !this.#isClosed) this.#take(remote);
      })
      .catch((cause: unknown) =>
        this.#system.log.warn(`The tools of the MCP server "${this.#options.name}" could not be read again.`, {
          cause,
        }),
      );
    const timer = this.#system.clock.setTimer(() => {
      const isAgain = this.#reread === "again";
      this.#reread = "none";
      if (isAgain) this.#read();
    }, PAUSE);
    timer.unref();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unresolve();
    const actor = this.#actor;
    const link = this.#link;
    this.#opening?.abort(new Error("The connection was closed here."));
    if (actor !== null) await this.#system.stop(actor);
    await link?.close();
  }
}

const LOST: RemoteReply = { ok: false, error: { kind: "lost", message: "The connection was closed." } };

/** True for the reason of an actor's end, and not for that of an asker. */
const isStop = (reason: unknown): boolean => reason instanceof DOMException && reason.name === "AbortError";

/** Most characters of a note of progress. */
const LONGEST_NOTE = 1_024;

/** Waits for a value until the signal aborts. */
function within<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const giveUp = (): void => reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  value.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  return promise;
}

function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { message } = thrown;
  const status = "status" in thrown && typeof thrown.status === "number" ? `HTTP ${thrown.status}` : "";
  return message.includes(status) ? message : `${message.replace(/[:\s]+$/, "")} (${status})`;
}
