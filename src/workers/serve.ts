import { isMainThread, parentPort } from "node:worker_threads";
import {
  type AnyRef,
  address,
  createSystem,
  isRef,
  type Protocol,
  quote,
  type Ref,
  type System,
  type SystemOptions,
} from "../index";
import { type Binary, createLink, type Link } from "../link/index";
import {
  BUN_MARK,
  type FromWorker,
  isControl,
  type LastMessage,
  type Posted,
  PROCESS_MARK,
  postWith,
  readPosted,
  readToWorker,
  type ToWorker,
} from "./control";
import { dieWith } from "./parent-death";

/** The knowledge of a worker about itself. */
export interface WorkerContext {
  /** Its number, from 1. */
  readonly index: number;
  /** The data of `spawnWorkers`. */
  readonly data: unknown;
  /**
   * The reference to an actor of the system that started the worker, by its name in `exposes`.
   *
   * @example
   * const store = worker.ref("store", Store);
   */
  ref<Signatures>(name: string, protocol: Protocol<string, Signatures>): Ref<Signatures>;
}

/** Makes the actors of a worker, and gives those that can be reached, by their names. */
export type StartWorker = (
  system: System,
  worker: WorkerContext,
) => Readonly<Record<string, AnyRef>> | Promise<Readonly<Record<string, AnyRef>>>;

interface Port {
  post(text: string, bytes?: readonly Binary[]): boolean;
  exit(code: number): void;
}

function openPort(onText: (text: string, bytes?: readonly unknown[]) => void): Port {
  if (!isMainThread && parentPort !== null) {
    const port = parentPort;
    port.on("message", (data: unknown) => readPosted(data, onText));
    let isAsked = false;
    // The engine tells the end of a thread once its memory is freed, tens of milliseconds later where that is large.
    process.on("exit", (code) => {
      if (!isAsked) port.postMessage({ envoiExitCode: code } satisfies LastMessage);
    });
    return {
      post(text, bytes) {
        if (bytes === undefined) port.postMessage(text);
        else postWith(port, text, bytes);
        return true;
      },
      exit(code) {
        isAsked = true; // Nothing waits for it: its end is the real one.
        process.exit(code);
      },
    };
  }
  const parent = process.env[PROCESS_MARK];
  if (parent === undefined || process.send === undefined) {
    throw new Error(
      "serveWorker() is for a module that spawnWorkers() starts, as its entry; this one was started by itself.",
    );
  }
  delete process.env[BUN_MARK];
  delete process.env[PROCESS_MARK]; // Programs that it starts are no workers.
  dieWith(Number(parent));
  const send = process.send.bind(process);
  process.on("message", (data: unknown) => readPosted(data, onText));
  process.on("disconnect", () => process.exit(1)); // Nobody is left to work for.
  process.on("SIGINT", () => undefined); // Ctrl-C goes to all processes of a terminal: the first one asks this one to leave.
  return {
    post: (text, bytes) => process.connected && send((bytes === undefined ? text : [text, ...bytes]) satisfies Posted),
    exit: (code) => process.exit(code),
  };
}

class ServedWorker {
  readonly #start: StartWorker;
  readonly #options: SystemOptions;
  readonly #port: Port;
  #system: System | null = null;
  #link: Link | null = null;
  #exposed: Readonly<Record<string, AnyRef>> = {};

  constructor(start: StartWorker, options: SystemOptions) {
    this.#start = start;
    this.#options = options;
    this.#port = openPort((text, bytes) => this.#take(text, bytes));
    this.#say({ kind: "here" });
  }

  #say(message: FromWorker): void {
    this.#port.post(JSON.stringify(message));
  }

  #take(text: string, bytes: readonly unknown[] | undefined): void {
    if (!isControl(text)) {
      if (this.#link?.take(text, bytes) === false) this.#say({ kind: "refused" });
      return;
    }
    const message = readToWorker(text);
    if (message === undefined) this.#say({ kind: "refused" });
    else if (message.kind === "start") void this.#begin(message);
    else if (message.kind === "ping") this.#say({ kind: "pong" });
    else if (message.kind === "leave") void this.#leave(message.within);
    else this.#port.exit(0);
  }

  async #begin({
    name,
    index,
    data,
    mostUnread = Number.POSITIVE_INFINITY,
  }: ToWorker & { kind: "start" }): Promise<void> {
    const system = createSystem({ name: `${name}/${index}`, ...this.#options });
    const link = createLink({
      system,
      prefix: "main/",
      send: (text, bytes) => this.#port.post(text, bytes),
      carriesBytes: true,
      mostUnread,
      exposed: (at) => this.#reachable(at.slice(2, -1)),
      tellsErrors: true,
    });
    this.#system = system;
    this.#link = link;
    try {
      this.#exposed = checked(
        await this.#start(system, { index, data, ref: (to, protocol) => link.ref(address(to), protocol) }),
      );
      link.lookAgain(); // References of a former start were opened before.
      this.#say({ kind: "ready" });
    } catch (thrown) {
      this.#say({
        kind: "failed",
        message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
      });
    }
  }

  #reachable(name: string): AnyRef | undefined {
    return Object.hasOwn(this.#exposed, name) ? this.#exposed[name] : undefined;
  }

  async #leave(within = Number.POSITIVE_INFINITY): Promise<void> {
    this.#link?.leave();
    await this.#system?.shutdown({ timeout: within, drain: true });
    this.#link?.flush();
    this.#say({ kind: "left" });
  }
}

function checked(exposed: unknown): Readonly<Record<string, AnyRef>> {
  if (typeof exposed === "object" && exposed !== null && !isRef(exposed)) {
    const wrong = Object.entries(exposed).find(([, ref]) => !isRef(ref));
    if (wrong === undefined) return exposed as Readonly<Record<string, AnyRef>>; // Each was looked at.
    throw new TypeError(`The actors of a worker are references by name; ${quote(wrong[0])} is ${quote(wrong[1])}.`);
  }
  throw new TypeError(`The function of serveWorker() gives references by name: { render }; got ${quote(exposed)}.`);
}

let isServing = false;

/**
 * Makes the module that calls it the entry of a worker: it makes a system, calls the function with it, and lets the other side reach the actors
 * that this gives. The same function can start them in the system of a program that has no workers.
 *
 * @throws Error when the module was not started by `spawnWorkers`, or serves already.
 * @example
 * serveWorker((system) => ({ render: system.spawn("render", Render, createRender) }));
 */
export function serveWorker(start: StartWorker, options: SystemOptions = {}): void {
  if (typeof start !== "function") {
    throw new TypeError(`serveWorker() takes a function: (system) => ({ render }); got ${quote(start)}.`);
  }
  // Two would take each message twice.
  if (isServing)
    throw new Error(
      "serveWorker() was called twice in one worker: call it once, by a function that gives all its actors.",
    );
  new ServedWorker(start, options);
  isServing = true;
}
