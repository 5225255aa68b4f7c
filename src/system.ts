import { type Cell, cellOf } from "./actor/cell/cell";
import { deadLetterOf } from "./actor/envelopes/envelope";
import type { Logger, PublishedEvent, SystemEvent } from "./actor/events";
import { type Attachment, type AttachOptions, attach } from "./actor/face/attach";
import { actorBehind, refAt } from "./actor/face/by-address";
import type { Factory } from "./actor/face/context";
import { type ActorReport, type ActorView, inspect, viewsOf } from "./actor/face/inspect";
import type { Opener } from "./actor/face/opening";
import { type ResolveOptions, resolve } from "./actor/face/resolvers";
import { settledWithin, shutDown } from "./actor/face/shutdown";
import { spawnCell } from "./actor/face/spawn";
import { stop } from "./actor/life/lifecycle";
import type { Measured } from "./actor/metrics";
import type { Observable } from "./actor/observers";
import type { ActorOptions } from "./actor/options";
import { logIn, type Ref } from "./actor/refs/ref";
import type { Transport } from "./actor/transport";
import { type Address, type AnyRef, quote } from "./message/address";
import { type DeliveryError, isDeliveryError } from "./message/delivery-error";
import { sentenceOf } from "./message/sentence-of";
import type { Protocol } from "./protocol/protocol";
import { deadLetterOfNobody } from "./router/dead-letters";
import { createEnvironment, type SystemOptions } from "./router/environment";
import { AddressRouter, type Router } from "./router/router";
import type { Clock } from "./runtime/clock";
import type { Feed } from "./runtime/feed";
import { onSignals, type SignalName } from "./runtime/signals";

/** The result of a shutdown. */
export interface ShutdownReport {
  /** The actors that did not stop in time. They were abandoned, and the results of their handlers are lost. */
  readonly unfinished: readonly Address[];
}

/** The options of a shutdown. */
export interface ShutdownOptions {
  /**
   * Milliseconds, or `Infinity`, after which the actors that have not stopped are abandoned, logged and named in the report.
   * Default: 5,000.
   */
  readonly timeout?: number;
  /**
   * True to handle the waiting messages of each mailbox first; false to dead-letter them. With true, a message from one actor
   * may still find another one stopping: give the stages of a pipeline ascending phases (`ActorOptions.phase`). A stream or a
   * run of code under way is cut off in both cases. Default: false.
   */
  readonly drain?: boolean;
  /** True to log nothing of actors that are abandoned: the report names them. Default: false. */
  readonly quiet?: boolean;
}

/** The options of a shutdown by a signal. */
export interface SignalOptions extends ShutdownOptions {
  /** Any but `SIGKILL` and `SIGSTOP`, which no process can catch. Default: `SIGINT` and `SIGTERM`. */
  readonly signals?: readonly SignalName[];
  /** Called and awaited before the shutdown, such as to take no new requests and let streams end. Default: none. */
  readonly onSignal?: (signal: SignalName) => unknown;
  /** Called and awaited after the shutdown, before the process ends. Default: none. */
  readonly onShutdown?: (report: ShutdownReport, signal: SignalName) => unknown;
}

/** Actors, and the router that reaches them. */
export interface System extends AsyncDisposable, Observable, Measured {
  /** The name that its log lines begin with (`SystemOptions.name`). */
  readonly name: string;
  /** The router that reaches this system's actors by address, and takes handlers of its own. */
  readonly router: Router;
  /** Its source of time: for doors and other code beside the system, so that a test's manual clock rules them too. */
  readonly clock: Clock;
  /** Its log, limited in number: for doors and other code beside the system. Each line begins with the system's `name`. */
  readonly log: Logger;
  /**
   * Starts an actor under a name; its address is `@(name)`.
   *
   * @throws TypeError when the name cannot be in an address, or the factory lacks a handler or has one that names neither an
   * operation nor a hook; Error when the name is in use; also any error that the factory throws.
   * @example
   * const echo = system.spawn("echo", Echo, () => ({ say: (text) => text }));
   */
  spawn<Signatures>(
    name: string,
    protocol: Protocol<string, Signatures>,
    factory: NoInfer<Factory<Signatures>>,
    options?: ActorOptions,
  ): Ref<Signatures>;
  /**
   * Says who opens the addresses below a prefix when a message by address needs them: through the router, or by a
   * reference of `system.ref`. The longest prefix wins; the empty one covers all addresses. The function makes the actor
   * there (`system.spawn(id, …)`), or gives a reference to another one, which is asked for again at the next message; an
   * address that it has nobody for (`undefined`) is `no-recipient`. It is called once at a time for an address. While its
   * promise is pending, messages to the address wait, in order. If it throws, rejects or takes longer than `hookTimeout`,
   * they come back as `unreachable`, and the next message calls it again. While an actor below the prefix stops, messages
   * to its address wait too, for the next one. A shutdown dead-letters what waits as `stopped`.
   *
   * With `idle`, an actor that has had nothing to do for a while is stopped, and made again by the next message to its
   * address. A reference from `spawn` or `ctx.self` then leads to the stopped actor: reach such actors by address.
   *
   * @returns a function that ends it. Messages that wait are still delivered; actors that were made stay.
   * @throws TypeError or RangeError when an argument cannot be one; Error when the prefix is resolved already, or the
   * system has shut down.
   * @example
   * system.resolve("sessions/", (at, id) => system.spawn(id, Session, createSession), { idle: 60_000 });
   */
  resolve(prefix: string, open: Opener, options?: ResolveOptions): () => void;
  /**
   * A reference by address: it looks for its actor at each message, so it outlives each actor that is there. Messages
   * find `no-recipient` while nobody is there, unless `resolve` opens the address. Stopping it stops the actor that is
   * there now; watching it tells nothing, because an address does not end.
   *
   * @throws TypeError when the address or the protocol is none.
   * @example
   * const session = system.ref(address("sessions/7"), Session);
   */
  ref<Signatures>(at: Address, protocol: Protocol<string, Signatures>): Ref<Signatures>;
  /**
   * Makes a reference whose actor is elsewhere. Each message to it is handed to the transport, and counted as `sent`. It is a
   * reference like any other: `ctx.ask`, `ctx.watch`, `ctx.forward`, topics, pools and the router take it, and its asks time out and
   * are cancelled as any. A circle of asks across a transport cannot be seen: the timeout ends it. A shutdown ends the
   * attachment after all actors.
   *
   * @throws TypeError when the address, the protocol or the transport is none; Error when the address is in use, or the system has
   * shut down.
   * @example
   * const { ref, end } = system.attach(address("node-7/files"), Files, transport);
   * socket.onclose = (event) => end("unreachable", event.reason);
   */
  attach<Signatures>(
    at: Address,
    protocol: Protocol<string, Signatures>,
    transport: Transport,
    options?: AttachOptions,
  ): Attachment<Signatures>;
  /**
   * Publishes an event of another kind in `events`: for transports and other code beside the system.
   *
   * @throws TypeError when the kind has no colon (`"nats:connected"`), or the address is none.
   * @example
   * system.publish({ kind: "nats:connected", address: address("node-7"), detail: { attempts: 2 } });
   */
  publish(event: PublishedEvent): void;
  /**
   * Makes a dead letter of a message that never reached an actor, and counts it (P1). It is logged unless `asked` says that its sender
   * was told. Default: `asked: false`.
   *
   * @throws TypeError when the error is none of `createDeliveryError`, or of an ask.
   * @example
   * system.deadLetter(createDeliveryError("payload-too-large", message, 1_048_576));
   */
  deadLetter(error: DeliveryError, options?: { readonly asked?: boolean }): void;
  /** The events of the system: actors that start, stop, fail and restart, dead letters, full mailboxes, slow handlers. */
  readonly events: Feed<SystemEvent>;
  /** A report of each actor at this moment, as a tree: those without a parent, and their children. */
  inspect(): readonly ActorReport[];
  /**
   * Shows all actors, one by one, each before its children: for monitors that look often at many actors. It makes no report and no
   * copy, so that a loop over 10,000 takes a millisecond or two. The loop may wait between two of them. Actors that stop meanwhile
   * are left out, and those that start meanwhile may be.
   *
   * @example
   * for (const { ref, queued } of system.actors()) if (queued > 1_000) console.log(ref.address, queued);
   */
  actors(): IterableIterator<ActorView>;
  /** The restarts of all actors so far, also of those that have stopped since. */
  readonly restarts: number;
  /**
   * Shuts down when the process gets a signal, and then lets the process end by that signal. A second signal ends it at once.
   * The first process of a container, which no signal ends by itself, exits with 128 plus the signal's number instead.
   *
   * @returns a function that removes the listeners. A shutdown removes them too.
   * @throws RangeError at once when `timeout` is not a number of milliseconds from 0, or Infinity; TypeError at once when
   * `signals` is not an array of signals that can be caught, or `onShutdown` is not a function.
   * @example
   * system.shutdownOnSignals({ timeout: 10_000 });
   */
  shutdownOnSignals(options?: SignalOptions): () => void;
  /**
   * Stops an actor and its children, and resolves once they have stopped (P13). The running message is finished. Waiting
   * messages are dead-lettered, or handled first with `drain: true`. An actor that awaits its own stop waits for ever.
   * Default: `drain: false`.
   *
   * @throws TypeError (as a rejection) when `ref` is not a reference.
   * @example
   * await system.stop(counter, { drain: true });
   */
  stop(ref: AnyRef, options?: { readonly drain?: boolean }): Promise<void>;
  /**
   * Calls back when the shutdown begins, while all actors still run and may be called, and waits for a returned promise at most for the
   * `timeout` of the shutdown (default: 5,000 ms) before the actors stop: for code beside the system that hands over to others, such as a node of
   * a cluster. An error is logged. Nothing is called when the system shuts down already.
   *
   * @returns a function that removes the callback.
   * @throws TypeError when it is no function.
   * @example
   * system.beforeShutdown(() => node.handOver());
   */
  beforeShutdown(callback: () => unknown): () => void;
  /**
   * Calls back at the shutdown, once all actors have stopped, and waits for a returned promise as long as for the actors (the `timeout`
   * of the shutdown): for code beside the system that has something to finish, such as a recording. An error is logged. Nothing is
   * called when the system has shut down already.
   *
   * @returns a function that removes the callback.
   * @throws TypeError when it is no function.
   * @example
   * system.onShutdown(() => recording.close());
   */
  onShutdown(callback: () => unknown): () => void;
  /**
   * Stops all actors, phase by phase and children first, once `beforeShutdown` has ended. Later calls get the report of the first one, and their options are
   * ignored.
   *
   * @throws RangeError at once when `timeout` is not a number of milliseconds from 0, or Infinity.
   * @example
   * const { unfinished } = await system.shutdown({ timeout: 1_000, drain: true });
   */
  shutdown(options?: ShutdownOptions): Promise<ShutdownReport>;
}

/**
 * Makes a system of actors.
 *
 * @throws TypeError or RangeError when an option is invalid.
 * @example
 * await using system = createSystem();
 * const counter = system.spawn("counter", Counter, () => ({ add() {}, total: () => 0 }));
 */
export function createSystem(options: SystemOptions = {}): System {
  const { environment, deadLetters } = createEnvironment(options);
  const { settling, events, observers, meters, directory, logger, clock } = environment;
  const router = new AddressRouter(environment, deadLetters.feed);
  let reported: Promise<ShutdownReport> | null = null;
  let unbind: () => void = () => undefined;
  const [leavers, finishers] = [new Set<Listener>(), new Set<Listener>()];
  const attempt = async (name: string, hook: () => unknown): Promise<void> => {
    try {
      await hook();
    } catch (thrown) {
      logger.error(`${name} threw: ${sentenceOf(thrown)}`, { cause: thrown });
    }
  };

  const callAll = (name: string, listeners: ReadonlySet<Listener>, timeout: number): Promise<void> => {
    const called = [...listeners].map(({ callback }) => attempt(name, () => environment.enter(callback)));
    return settledWithin(environment, called, timeout);
  };

  async function shutDownOnce(timeout: number, drain: boolean, isQuiet: boolean): Promise<ShutdownReport> {
    if (leavers.size > 0) await callAll("beforeShutdown", leavers, timeout);
    const unfinished = await shutDown(environment, timeout, drain, isQuiet);
    router.close();
    deadLetters.flush();
    environment.logLimit.flush();
    events.flush();
    await callAll("onShutdown", finishers, timeout);
    unbind();
    return { unfinished };
  }

  const system: System = {
    name: options.name ?? "envoi",
    router,
    clock,
    log: logIn(environment),
    events: events.feed,
    spawn: (name, protocol, factory, options) => spawnCell(environment, null, name, protocol, factory, options),
    resolve: (prefix, open, options) => resolve(environment, prefix, open, options),
    ref: (at, protocol) => refAt(environment, at, protocol),
    attach: (at, protocol, transport, options) => attach(environment, at, protocol, transport, options),
    around: (observer, options) => observers.addAround(observer, options),
    onSend: (observer) => observers.addOnSend(observer),
    publish: (event) => events.publishOwn(event),
    inspect: () => directory.roots().map(inspect),
    actors: () => viewsOf(environment),
    get restarts() {
      return environment.counts.restarts;
    },
    deadLetter(error, { asked = false } = {}) {
      if (!isDeliveryError(error)) {
        throw new TypeError(
          `A dead letter has a delivery error; make one with createDeliveryError(); got ${quote(error)}.`,
        );
      }
      deadLetterOfNobody(environment, deadLetterOf(error, asked));
    },
    metrics() {
      if (meters !== null) return meters.report();
      throw new Error("This system counts nothing: make it with createSystem({ metrics: true }).");
    },
    stop(ref, { drain = false } = {}) {
      try {
        const cell = actorBehind(cellOf(ref));
        if (cell !== undefined) stop(cell, drain);
        // Most actors have stopped by now. A closure here would cost each of them some 20 ns.
        return cell?.isStopped === false ? whenStopped(cell, drain) : settling.resolved(undefined);
      } catch (thrown) {
        return settling.rejected(thrown);
      }
    },
    shutdownOnSignals({ signals = ["SIGINT", "SIGTERM"], onSignal, onShutdown, ...options }: SignalOptions = {}) {
      checkTimeout(options);
      checkSignals(signals);
      for (const [name, hook] of Object.entries({ onSignal, onShutdown })) {
        if (hook === undefined || typeof hook === "function") continue;
        throw new TypeError(
          `${name} is a function to call around the shutdown: () => server.stop(); got ${quote(hook)}.`,
        );
      }
      unbind();
      unbind = onSignals(signals, async (signal) => {
        await attempt("onSignal", () => onSignal?.(signal));
        const report = await system.shutdown(options);
        await attempt("onShutdown", () => onShutdown?.(report, signal));
      });
      return unbind;
    },
    beforeShutdown: (callback) => listen(leavers, "beforeShutdown", "node.handOver()", callback),
    onShutdown: (callback) => listen(finishers, "onShutdown", "recording.close()", callback),
    shutdown(options = {}) {
      checkTimeout(options);
      const { timeout = 5_000, drain = false, quiet = false } = options;
      if (reported !== null) return reported.then((report) => settling.resolved(report));
      reported = shutDownOnce(timeout, drain, quiet);
      return reported;
    },
    async [Symbol.asyncDispose]() {
      await system.shutdown();
    },
  };
  return system;
}

/** What a shutdown calls. The same function may be given twice. */
interface Listener {
  readonly callback: () => unknown;
}

function listen(listeners: Set<Listener>, name: string, example: string, callback: () => unknown): () => void {
  if (typeof callback !== "function") {
    throw new TypeError(`${name} takes a function: () => ${example}; got ${quote(callback)}.`);
  }
  const listener = { callback };
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Out of line: its closure would cost an actor that has stopped by then 20 ns. */
const whenStopped = (cell: Cell, isDraining: boolean): Promise<void> =>
  new Promise((resolve) => stop(cell, isDraining, () => cell.environment.settling.settle(resolve, undefined)));

function checkTimeout({ timeout = 0 }: ShutdownOptions): void {
  if (typeof timeout === "number" && timeout >= 0) return;
  throw new RangeError(`The timeout of shutdown is a number of milliseconds, or Infinity; got ${quote(timeout)}.`);
}

function checkSignals(signals: readonly SignalName[]): void {
  if (!Array.isArray(signals) || !signals.every((signal) => typeof signal === "string")) {
    throw new TypeError('signals is an array of names, such as ["SIGINT", "SIGTERM"].');
  }
  const deaf = signals.find((signal) => signal === "SIGKILL" || signal === "SIGSTOP");
  if (deaf !== undefined) throw new TypeError(`No process can catch ${deaf}; leave it out of signals.`);
}
