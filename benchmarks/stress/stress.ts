import { setPriority } from "node:os";
import { describeMachine } from "../harness/machine";
import { FAULTS, measureFault } from "./faults";
import type { Mix } from "./generator";
import { Load } from "./load";
import type { Fault, Ladder, StressResults, Window } from "./results";
import { climb, judge, NotFound } from "./steps";
import { trouble } from "./trouble";

/** How much is measured. */
export interface Effort {
  /** Of each window, in milliseconds. */
  readonly window: number;
  /** How many times as much each step has as the one before. */
  readonly factor: number;
}

export const FULL: Effort = { window: 3_000, factor: 1.5 };
export const QUICK: Effort = { window: 1_000, factor: 2.5 };

export interface StressOptions {
  readonly effort: Effort;
  /** The folder whose commit is named. */
  readonly root: string;
  /** Told where the run is. */
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

const LADDERS = [
  { name: "messaging only", about: "asks of one actor through the router", mix: { ask: 1 }, from: 5_000 },
  {
    name: "all together",
    about:
      "of a hundred requests, 40 asks, 20 streams of ten items, 15 reads and 15 writes of 100 B, and 10 executions in the default tier",
    mix: { ask: 40, stream: 20, read: 15, write: 15, code: 10 },
    from: 1_000,
  },
] as const;
const ACTORS = new URL("actors.ts", import.meta.url);
/** Where all processors are busy, the generator goes before what is under load, if it may: it needs little, but in time. */
const URGENT = -10;
/** A share of a window passes before it, so that it begins with a load that is borne or not. */
const SETTLE = 0.25;
/** What held is offered before and after the overload, in such a share; in between, what broke so many times. */
const CALM = 0.5;
const OVER = 2;
/** What is asked of a full mailbox, or of the queue behind one, is refused so. */
const REFUSED = / (mailbox-full|busy)$/;
/** The share of a window that a fault goes on, and the times before and after it. */
const FAULT = 0.6;

/** Does the whole run. Rejects with `NotFound` when there is no breaking point, or when aborted. */
export async function measureStress(options: StressOptions): Promise<StressResults> {
  const { effort, root, progress, signal } = options;
  try {
    setPriority(URGENT);
  } catch {
    // Only some users may. Windows tell when requests were sent late.
  }
  const start = performance.now();
  const ladders: Ladder[] = [];
  for (const plan of LADDERS) ladders.push(await climbLadder(plan, options));
  const faults: Fault[] = [];
  for (const plan of FAULTS) {
    progress(plan.name);
    faults.push(await measureFault(plan, Math.round(effort.window * FAULT), signal));
  }
  const machine = describeMachine(root);
  return { machine, seconds: (performance.now() - start) / 1_000, ladders, faults };
}

async function climbLadder(
  { name, about, mix, from }: (typeof LADDERS)[number],
  options: StressOptions,
): Promise<Ladder> {
  const { effort, progress, signal } = options;
  const { window, factor } = effort;
  await using load = await Load.start({ subject: ACTORS, signal });
  const step = async (rate: number, mixed: Mix = mix): Promise<Window> => {
    progress(`${name}: ${rate.toLocaleString("en")} requests a second`);
    load.change(rate, mixed);
    await Bun.sleep(window * SETTLE);
    const figures = await load.window(window);
    await load.rest();
    return figures;
  };
  const { kind, ...found } = await climb({ from, factor }, step);
  const { held, broke, why } = found;
  if (kind === "void" || held === 0) throw new NotFound(`At ${broke} requests a second, ${why}.`);
  const floor = await step(broke, { bare: 1 });
  const { kind: bare, why: limit } = judge(floor);
  if (bare !== "held") throw new NotFound(`At ${broke} requests a second that no actor answers, ${limit}.`);
  progress(`${name}: more than it bears, and after`);
  const calm = () => load.change(Math.round(held * CALM), mix);
  calm();
  await Bun.sleep(window * SETTLE);
  const overload = await trouble(load, { window, windows: 2, begin: () => load.change(broke * OVER), end: calm });
  const failed = [...overload.failed];
  if (!overload.during.some(({ errors }) => Object.keys(errors).some((kind) => REFUSED.test(kind)))) {
    failed.push("However much was asked for, nothing was refused.");
  }
  return { name, about, ...found, floor, overload: { ...overload, failed } };
}
