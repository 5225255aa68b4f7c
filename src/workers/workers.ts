import {
  type AnyRef,
  address,
  createPool,
  defineProtocol,
  type Pool,
  type Protocol,
  type Ref,
  type System,
} from "../index";
import { Member, WorkerMember, type WorkerReport } from "./member";
import { checkOptions, checkStart, pathOf, type WorkerPoolOptions, type WorkersOptions, writeData } from "./options";

/** Threads or processes that run systems of their own. */
export interface Workers extends AsyncDisposable {
  readonly size: number;
  /** The state of each at this moment. */
  readonly members: readonly WorkerReport[];
  /**
   * The reference to an actor that workers expose by this name: that of one worker, which its name decides, or the one with the given number, from 1. It lives on when
   * the worker is started anew. While that is down, messages come back as `unreachable`. It ends when its actor stops, as any reference does (`stopped`): after the next start of the
   * worker, a reference that is made anew leads to the new actor.
   *
   * @throws TypeError when the name or the protocol is none; RangeError when there is no such worker; Error once the workers were stopped.
   * @example
   * const render = workers.ref("render", Render);
   */
  ref<Signatures>(name: string, protocol: Protocol<string, Signatures>, worker?: number): Ref<Signatures>;
  /**
   * The reference to a pool of the actors of this name in each worker. Each call makes a pool, which is an actor: keep its reference. Workers that are down, or whose actor has stopped, get nothing until they have been started again.
   *
   * @throws TypeError or RangeError when an option is invalid; Error once the workers were stopped.
   * @example
   * const render = workers.pool("render", Render, { routing: "least-busy" });
   */
  pool<Signatures>(name: string, protocol: Protocol<string, Signatures>, options?: WorkerPoolOptions): Ref<Signatures>;
  /** Asks all to leave, and resolves when they have. The shutdown of the system does the same. */
  stop(): Promise<void>;
}

const Keeper = defineProtocol("envoi/workers", {});

interface OpenPool {
  readonly pool: Pool<never>;
  readonly refs: Map<WorkerMember, Ref<never>>;
  /** Gives the reference to its actor in a worker: another one where the former has ended with its actor. */
  readonly refTo: (member: WorkerMember) => Ref<never>;
}

class WorkerGroup implements Workers {
  readonly #system: System;
  readonly #name: string;
  readonly #members: readonly WorkerMember[];
  readonly #keeper: AnyRef;
  readonly #pools: OpenPool[] = [];
  #hasStopped = false;

  constructor(system: System, options: WorkersOptions) {
    const {
      size = Math.max(1, navigator.hardwareConcurrency - 1),
      name = "workers",
      exposes = {},
      entry,
      data,
    } = options;
    this.#system = system;
    this.#name = name;
    const exposed =
      typeof exposes === "function"
        ? exposes
        : (at: string) => (Object.hasOwn(exposes, at.slice(2, -1)) ? exposes[at.slice(2, -1)] : undefined);
    const entryPath = pathOf(entry);
    const dataText = writeData(data);
    const onState = (member: WorkerMember, isReady: boolean): void => this.#turn(member, isReady);
    const of = { ...options, system, name, entryPath, dataText, exposed, onState };
    this.#members = Array.from({ length: size }, (_, at) => new WorkerMember(at + 1, of));
    const supervision = { backoff: { initial: 100 }, beyondLimit: "hold" as const, ...options.supervision };
    try {
      this.#keeper = system.spawn(
        name,
        Keeper,
        (ctx) => {
          for (const member of this.#members) {
            const held = ctx.spawn(String(member.index), Member, member.factory);
            ctx.watch(held, ({ error }) => member.link.end(error ?? new Error(this.#goodbye)));
          }
          return { onStop: () => this.#end() };
        },
        { supervision, phase: Number.MAX_VALUE },
      );
    } catch (thrown) {
      this.#end(); // The name is in use.
      throw thrown;
    }
  }

  get size(): number {
    return this.#members.length;
  }

  get members(): readonly WorkerReport[] {
    return this.#members.map(({ report }) => report);
  }

  /** Resolves when all are ready. */
  async begin(): Promise<void> {
    try {
      await Promise.all(this.#members.map(({ first }) => first.promise));
    } catch (cause) {
      await this.stop();
      throw new Error(
        `The workers "${this.#name}" could not be started. ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
  }

  ref<Signatures>(name: string, protocol: Protocol<string, Signatures>, worker?: number): Ref<Signatures> {
    this.#checkOpen();
    const at = worker ?? (Bun.hash.crc32(name) % this.size) + 1;
    const member = this.#members[at - 1];
    if (member === undefined)
      throw new RangeError(`There is no worker ${at}: they are numbered from 1 to ${this.size}.`);
    return member.link.ref(address(name), protocol);
  }

  pool<Signatures>(
    name: string,
    protocol: Protocol<string, Signatures>,
    { size = this.size, ...routing }: WorkerPoolOptions = {},
  ): Ref<Signatures> {
    this.#checkOpen();
    if (!Number.isSafeInteger(size) || size < 1 || size > this.size) {
      throw new RangeError(`The size of a pool is a number of workers from 1 to ${this.size}; got ${size}.`);
    }
    const refTo = (member: WorkerMember): Ref<Signatures> => member.link.ref(address(name), protocol);
    const refs = new Map(this.#members.slice(0, size).map((member) => [member, refTo(member)]));
    const pool = createPool(
      this.#system,
      `${this.#name}/pools/${name}-${this.#pools.length + 1}`,
      protocol,
      refs.values(),
      routing,
    );
    this.#pools.push({ pool, refs, refTo } as unknown as OpenPool); // Each of its references has the pool's protocol.
    for (const member of refs.keys()) if (member.report.state !== "ready") this.#turn(member, false);
    return pool.ref;
  }

  /** Takes a worker into its pools, or out of them. The last one stays until another one comes, so that its senders are told why it is away. */
  #turn(member: WorkerMember, isReady: boolean): void {
    for (const { pool, refs, refTo } of this.#pools) {
      const ref = refs.get(member);
      if (ref === undefined) continue;
      if (!isReady) {
        if (pool.size > 1) pool.remove(ref);
        continue;
      }
      const next = refTo(member);
      refs.set(member, next);
      if (next !== ref) pool.remove(ref); // Its actor had stopped: the pool may have kept it as its last one.
      pool.add(next);
      for (const [other, last] of refs) if (other.report.state !== "ready" && pool.size > 1) pool.remove(last);
    }
  }

  #checkOpen(): void {
    if (this.#hasStopped) throw new Error(this.#goodbye);
  }

  get #goodbye(): string {
    return `The workers "${this.#name}" were stopped for good: start others by spawnWorkers().`;
  }

  #end(): void {
    this.#hasStopped = true;
    for (const { link } of this.#members) link.end(new Error(this.#goodbye));
  }

  async stop(): Promise<void> {
    this.#hasStopped = true;
    await this.#system.stop(this.#keeper);
    for (const { pool } of this.#pools) await this.#system.stop(pool.ref);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/**
 * Starts threads or processes that run systems of their own, and resolves when they are ready. Their actors are references here, like any.
 *
 * A message is sent at most once. If its worker dies or hangs, it comes back as `unreachable` at once. Its handler may have begun there, which `mayHaveBegun` tells: what it did outside of the worker stays.
 *
 * @throws TypeError or RangeError when an option is invalid; Error when a worker cannot be started, with the reason.
 * @example
 * const workers = await spawnWorkers(system, { entry: new URL("./render-worker.ts", import.meta.url), size: 4 });
 * const render = workers.pool("render", Render, { routing: "least-busy" });
 */
export async function spawnWorkers(system: System, options: WorkersOptions): Promise<Workers> {
  checkOptions(options);
  checkStart(options);
  const group = new WorkerGroup(system, options);
  await group.begin();
  return group;
}
