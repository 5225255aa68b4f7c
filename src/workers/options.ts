import { fileURLToPath } from "node:url";
import { type Address, type AnyRef, isRef, quote, type RoutingOptions, type Supervision } from "../index";
import { writePart } from "../link/index";
import { isInExecutable, PROCESS_MARK } from "./control";

/** The options of workers. */
export interface WorkersOptions {
  /** The module that each worker runs, which calls `serveWorker`: a path, or a URL as of `new URL("./render.ts", import.meta.url)`. */
  readonly entry: string | URL;
  /** The number of workers, a whole number from 1. Default: one for each core but one, and at least one. */
  readonly size?: number;
  /**
   * A thread starts in some milliseconds, and has the memory of this process at risk: what runs out of memory ends all. A process starts in
   * some tens of milliseconds, and costs more for each message; what it breaks is itself alone. Default: `"thread"`.
   */
  readonly as?: "thread" | "process";
  /** The first segment of the addresses: `@(workers/1/render)` is the actor `render` of the first worker. Default: `"workers"`. */
  readonly name?: string;
  /** Data for each worker, as JSON can carry it: `worker.data`. Default: none. */
  readonly data?: unknown;
  /** The actors of this system that workers may reach, by the names that they have there, or a function of the address. Default: none. */
  readonly exposes?: Readonly<Record<string, AnyRef>> | ((at: Address) => AnyRef | undefined);
  /** The environment variables of the workers, beside those of this process. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The supervision of the workers. One that has died, or hangs, has failed. Default: `{ backoff: { initial: 100 }, beyondLimit: "hold" }`, which starts
   * it again for ever, with pauses up to 30 s.
   */
  readonly supervision?: Supervision;
  /** The time within which a worker must be ready after its start, in milliseconds. Default: 10,000. */
  readonly readyWithin?: number;
  /** Milliseconds between two questions whether a worker is alive. `Infinity`: none is asked, and none is ended because it hangs. Default: 1,000. */
  readonly heartbeatEvery?: number;
  /**
   * The time without an answer, in milliseconds, after which a worker hangs and is ended. It has to be longer than any computation of its actors that does
   * not wait for anything. `Infinity`: none is ended so. Default: 10,000.
   */
  readonly heartbeatLimit?: number;
  /**
   * Most messages, in each direction, that a worker or this program has not read yet, because it computes without waiting: a whole number from 1. A further tell becomes a
   * dead letter, and an ask, an offer or a stream comes back, as `mailbox-full`. Up to a quarter of them may have been read meanwhile. Default: `Infinity`, they wait in memory.
   */
  readonly mostUnread?: number;
  /**
   * The time in which a worker handles what it has, when it is asked to leave, in milliseconds. One that takes longer is ended. `Infinity`: none is. Default: 4,000, which is less than
   * the `hookTimeout` and the shutdown of a system wait.
   */
  readonly leaveWithin?: number;
}

/** The options of a pool over workers. */
export interface WorkerPoolOptions extends RoutingOptions {
  /** The number of workers that it is spread over, a whole number from 1. Default: all. */
  readonly size?: number;
}

type Rule = readonly [fits: (value: unknown) => boolean, rule: string, Kind?: new (message: string) => Error];

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const COUNT: Rule = [
  (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  "is a whole number from 1",
  RangeError,
];
const DURATION: Rule = [
  (value) => typeof value === "number" && value > 0,
  "is a number of milliseconds above 0, or Infinity",
  RangeError,
];

const RULES: { readonly [Name in keyof Required<WorkersOptions>]: Rule } = {
  entry: [
    (value) => isText(value) || value instanceof URL,
    'is a path or a URL: new URL("./render.ts", import.meta.url)',
  ],
  size: COUNT,
  as: [(value) => value === "thread" || value === "process", 'is "thread" or "process"'],
  name: [(value) => isText(value) && !String(value).includes("/"), 'is a segment of an address, such as "workers"'],
  data: [() => true, ""],
  exposes: [
    (value) => typeof value === "function" || (isObject(value) && Object.values(value as object).every(isRef)),
    "has references by name: { store }, or is a function of an address",
  ],
  env: [
    (value) => isObject(value) && Object.values(value as object).every((each) => typeof each === "string"),
    'has texts by name: { LOG: "off" }',
  ],
  supervision: [isObject, "is a supervision: { limit: 5 }"],
  readyWithin: DURATION,
  heartbeatEvery: DURATION,
  heartbeatLimit: DURATION,
  mostUnread: [
    (value) => (Number.isSafeInteger(value) && Number(value) >= 1) || value === Number.POSITIVE_INFINITY,
    "is a whole number from 1, or Infinity",
    RangeError,
  ],
  leaveWithin: DURATION,
};

export const pathOf = (entry: string | URL): string => (entry instanceof URL ? fileURLToPath(entry) : entry);

/**
 * The data as JSON, which each start of a worker sends.
 *
 * @throws TypeError when JSON cannot carry them.
 */
export function writeData(data: unknown): string | undefined {
  if (data === undefined) return undefined;
  const written = writePart(data);
  if ("text" in written) return written.text;
  throw new TypeError(`The data of workers are what JSON carries. ${written.message}`);
}

/**
 * A process of a program that is one executable, and a program that was started as a worker, would start themselves without an end.
 *
 * @throws TypeError when the entry cannot be that of a process; Error when this program is a worker that has not begun.
 */
export function checkStart({ entry, as }: WorkersOptions): void {
  if (as === "process" && isInExecutable(pathOf(entry))) {
    throw new TypeError(
      `A process cannot be started by an entry that lies in the executable (bun build --compile): ${quote(pathOf(entry))}. Use as: "thread", or ship the entry as a file beside the executable and name that.`,
    );
  }
  if (process.env[PROCESS_MARK] === undefined) return;
  throw new Error(
    "spawnWorkers() was called in a program that was started as a worker and has not called serveWorker(): call that first, or name the module that does as the entry.",
  );
}

/** @throws TypeError or RangeError when the options cannot be. */
export function checkOptions(options: WorkersOptions): void {
  if (!isObject(options))
    throw new TypeError(`The options of workers are an object: { entry, size: 4 }; got ${quote(options)}.`);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(RULES, name)) continue;
    throw new TypeError(`There is no option "${name}" for workers; write one of ${Object.keys(RULES).join(", ")}.`);
  }
  for (const [name, [fits, rule, Kind = TypeError]] of Object.entries(RULES)) {
    const value = (options as unknown as Record<string, unknown>)[name]; // Any object has such a property, or not.
    if ((value === undefined && name !== "entry") || fits(value)) continue;
    throw new Kind(`The ${name} of workers ${rule}; got ${quote(value)}.`);
  }
}
