import { createGateway, type Gateway, type GatewayOptions } from "../../../src/http/index";
import type { Frame, TreeRow } from "../../../src/http/inspector/shapes";
import {
  createSystem,
  defineProtocol,
  type Ref,
  type SignaturesOf,
  type System,
  type SystemOptions,
  Type,
} from "../../../src/index";
import { createManualClock, type ManualClock } from "../../../src/testing/index";
import { eventsOf } from "../streams/event-reader";

export const Worker = defineProtocol("worker", {
  work: { payload: Type.Number(), reply: Type.Number() },
  fail: {},
  wait: {},
});

export type WorkerRef = Ref<SignaturesOf<typeof Worker>>;

export const Boss = defineProtocol("boss", {
  hire: { payload: Type.String() },
  dismiss: { payload: Type.String() },
  work: {},
});

const createWorker = () => ({
  work: (n: number) => n,
  fail: () => Promise.reject(new Error("the disk is full")),
  wait: () => new Promise<void>(() => {}),
});

/** Spawns a boss, whose workers are its children. */
export function spawnBoss(system: System, name: string, workers: readonly string[]) {
  return system.spawn(
    name,
    Boss,
    (ctx) => {
      const hired = new Map<string, WorkerRef>();
      const hire = (each: string): void => void hired.set(each, ctx.spawn(each, Worker, createWorker));
      for (const each of workers) hire(each);
      return {
        hire,
        async dismiss(each) {
          const worker = hired.get(each);
          hired.delete(each);
          if (worker !== undefined) await ctx.stop(worker);
        },
        work() {
          for (const worker of hired.values()) worker.tell("work", 1);
        },
      };
    },
    { supervision: { decide: () => "restart", backoff: { initial: 100, max: 100 } } },
  );
}

export const spawnWorker = (system: System, name: string): WorkerRef => system.spawn(name, Worker, createWorker);

/** A system with a gateway and its inspector, on a clock that stands still. */
export interface Inspected {
  readonly system: System;
  readonly clock: ManualClock;
  readonly gateway: Gateway;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Opens the stream of a page. */
  look(query?: string): Promise<Look>;
}

/** A page that looks. */
export interface Look extends AsyncDisposable {
  readonly status: number;
  /** The next frame. Time must have passed for it, but for the first one. */
  next(): Promise<Frame>;
  /** Lets a second pass, and gives the frame of the look that it brings. */
  later(milliseconds?: number): Promise<Frame>;
}

const silent = { warn() {}, error() {} };

export function inspected(
  options: Omit<GatewayOptions, "expose"> = { inspector: { isOpen: true } },
  systemOptions: SystemOptions = {},
): Inspected {
  const clock = createManualClock(1_000_000);
  const system = createSystem({ clock, logger: silent, ...systemOptions });
  const gateway = createGateway(system, { name: "shop", version: "1.2.3", ...options, expose: {} });
  const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> => {
    const response = gateway.fetch(new Request(`http://shop.test${path}`, { headers }));
    await clock.settle();
    return response;
  };
  return {
    ...{ system, clock, gateway, get },
    async look(query = "") {
      const response = await get(`/inspect/live?${query}`);
      const events = eventsOf(response);
      const next = async (): Promise<Frame> => {
        const step = await events.next();
        if (step.done === true) throw new Error("The stream has ended.");
        if (step.value.event !== "message") throw new Error(`The stream told ${step.value.event}.`);
        return JSON.parse(step.value.data) as Frame; // The tests look at what is in it.
      };
      return {
        status: response.status,
        next,
        async later(milliseconds = 1_000) {
          await clock.advance(milliseconds);
          return next();
        },
        async [Symbol.asyncDispose]() {
          await events.return();
          await clock.settle();
        },
      };
    },
  };
}

/** The lines as a text tree. */
export const outline = ({ rows }: Frame): string[] =>
  rows.map(({ level, kind, name, count, isOpen }) => {
    const sign = isOpen === undefined ? " " : isOpen ? "-" : "+";
    const text = kind === "page" ? `(${name})` : name;
    return `${"  ".repeat(level - 1)}${sign} ${text}${count === undefined ? "" : ` ×${count}`}`;
  });

/** The line of a name. */
export function rowOf({ rows }: Frame, name: string): TreeRow {
  const row = rows.find((each) => each.name === name);
  if (row === undefined) throw new Error(`No line has the name ${name}: ${rows.map((each) => each.name).join(", ")}`);
  return row;
}

/** Names such as `worker-1`. */
export const named = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);

/** The query of lines that are open. */
export const open = (...keys: string[]): string =>
  keys.map((key) => `open=${encodeURIComponent(`0.${key}`)}`).join("&");
