import type { Factory } from "./actor/context";
import type { Environment } from "./actor/environment";
import { type AnyRef, cellOf, type Ref } from "./actor/ref";
import { shutDown } from "./actor/shutdown";
import { spawnCell } from "./actor/spawn";
import type { Address } from "./message/address";
import type { Protocol } from "./protocol/protocol";
import type { DeadLetters } from "./router/dead-letters";
import { createEnvironment, type SystemOptions } from "./router/environment";
import { AddressRouter, type Router } from "./router/router";

/** What a shutdown did. */
export interface ShutdownReport {
  /** The actors that did not stop in time; they were abandoned, and what they did is lost. */
  readonly unfinished: readonly Address[];
}

/** Actors, and the router that reaches them. */
export interface System extends AsyncDisposable {
  /** The router that reaches this system's actors by address, and takes handlers of its own. */
  readonly router: Router;
  /**
   * Starts an actor under a name; its address is `@(name)`.
   *
   * @throws TypeError when the name cannot be in an address or the factory lacks a handler; Error when the name is in
   * use; and what the factory throws.
   * @example
   * const echo = system.spawn("echo", Echo, () => ({ say: (text) => text }));
   */
  spawn<Signatures>(
    name: string,
    protocol: Protocol<string, Signatures>,
    factory: Factory<Signatures>,
  ): Ref<Signatures>;
  /**
   * Stops an actor and its children, and resolves once they have (P13). The running message is finished; those that
   * wait are dead-lettered, or handled first with `drain: true`. An actor that awaits its own stop waits for ever.
   * Default: `drain: false`. Throws a TypeError when `ref` is no reference.
   *
   * @example
   * await system.stop(counter, { drain: true });
   */
  stop(ref: AnyRef, options?: { readonly drain?: boolean }): Promise<void>;
  /**
   * Stops all actors, once; later calls get the first one's report, and their options are ignored. What did not stop within `timeout` milliseconds
   * (default: 5,000) is abandoned, logged and named in the report. `drain: true` handles first what waits
   * in each mailbox; what an actor sends to another one meanwhile finds it stopping. Drain a pipeline from its beginning,
   * with `stop(ref, { drain: true })` for each stage.
   *
   * @throws RangeError at once when `timeout` is no number of milliseconds from 0, or Infinity.
   * @example
   * const { unfinished } = await system.shutdown({ timeout: 1_000, drain: true });
   */
  shutdown(options?: { readonly timeout?: number; readonly drain?: boolean }): Promise<ShutdownReport>;
}

class ActorSystem implements System {
  readonly router: Router;
  readonly #environment: Environment;
  readonly #deadLetters: DeadLetters;
  #report: Promise<ShutdownReport> | null = null;

  constructor(options: SystemOptions) {
    const { environment, deadLetters } = createEnvironment(options);
    this.#environment = environment;
    this.#deadLetters = deadLetters;
    this.router = new AddressRouter(environment, deadLetters.feed);
  }

  spawn<Signatures>(
    name: string,
    protocol: Protocol<string, Signatures>,
    factory: Factory<Signatures>,
  ): Ref<Signatures> {
    return spawnCell(this.#environment, null, name, protocol, factory);
  }

  stop(ref: AnyRef, { drain = false }: { readonly drain?: boolean } = {}): Promise<void> {
    return new Promise((resolve) => cellOf(ref).stop(drain, resolve));
  }

  shutdown({
    timeout = 5_000,
    drain = false,
  }: {
    readonly timeout?: number;
    readonly drain?: boolean;
  } = {}): Promise<ShutdownReport> {
    if (typeof timeout !== "number" || !(timeout >= 0)) {
      throw new RangeError(`The timeout of shutdown is a number of milliseconds, or Infinity; got ${String(timeout)}.`);
    }
    this.#report ??= this.#shutDown(timeout, drain);
    return this.#report;
  }

  async #shutDown(timeout: number, drain: boolean): Promise<ShutdownReport> {
    const unfinished = await shutDown(this.#environment, timeout, drain);
    this.#deadLetters.flush();
    return { unfinished };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }
}

/**
 * Makes a system of actors.
 *
 * @throws TypeError or RangeError when an option cannot be one.
 * @example
 * await using system = createSystem();
 * const counter = system.spawn("counter", Counter, () => ({ add() {}, total: () => 0 }));
 */
export function createSystem(options: SystemOptions = {}): System {
  return new ActorSystem(options);
}
