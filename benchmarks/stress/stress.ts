import { setPriority } from "node:os";
import { describeMachine } from "../harness/machine";
import type { Terminal } from "../harness/terminal";
import { FAULTS, measureFault } from "./faults";
import type { Mix } from "./generator";
import { startLoad } from "./load";
import type { Ladder, StressResults, Trouble } from "./results";
import { climb, errorsOf, judge, NotFound, trouble } from "./trouble";

/** The length of a window, in milliseconds, and how many times as much load each step has as the one before. */
export const FULL = { window: 3_000, factor: 1.5 };
export const QUICK = { window: 1_000, factor: 2.5 };

const LADDERS = [
  { name: "messaging only", about: "asks of one actor through the router", mix: { ask: 1 }, from: 5_000 },
  {
    name: "all together",
    about:
      "of a hundred requests, 40 asks, 20 streams of ten items, 15 reads and 15 writes of 100 B, and 10 executions in the default tier",
    mix: { ask: 40, stream: 20, read: 15, write: 15, code: 10 },
    from: 1_000,
  },
];
/** Where all processors are busy, the generator goes before what is under load, if it may: it needs little, but in time. */
const URGENT = -10;
const SETTLE = 0.25; // Of a window, before it begins.
/** What held is offered before and after the overload, in such a share; in between, what broke so many times. */
const CALM = 0.5;
const OVER = 2;
const FAULT = 0.6; // Of a window, which a fault goes on, and the times before and after it.

export async function measureStress(effort: typeof FULL, around: Terminal): Promise<StressResults> {
  try {
    setPriority(URGENT);
  } catch {
    // Only some users may. Windows tell when requests were sent late.
  }
  const ladders: Ladder[] = [];
  for (const plan of LADDERS) ladders.push(await climbLadder(plan, effort, around));
  const faults: Trouble[] = [];
  for (const plan of FAULTS) {
    around.progress(plan.name);
    faults.push(await measureFault(plan, effort.window * FAULT, around.signal));
  }
  return { machine: describeMachine(around.root), ladders, faults };
}

async function climbLadder(
  { name, about, mix, from }: (typeof LADDERS)[number],
  { window, factor }: typeof FULL,
  { progress, signal }: Terminal,
): Promise<Ladder> {
  await using load = await startLoad({ subject: new URL("actors.ts", import.meta.url), signal });
  const settle = async (rate: number, mixed: Mix) => {
    load.change(rate, mixed);
    await Bun.sleep(window * SETTLE);
  };
  const step = async (rate: number, mixed: Mix = mix) => {
    progress(`${name}: ${rate.toLocaleString("en")} requests a second`);
    await settle(rate, mixed);
    const figures = await load.window(window);
    await load.rest();
    return figures;
  };
  const { kind, ...found } = await climb({ from, factor }, step);
  const { held, broke, why } = found;
  if (kind === "void" || held === 0) throw new NotFound(`At ${broke} requests a second, ${why}.`);
  const floor = await step(broke, { bare: 1 });
  const bare = judge(floor);
  if (bare.kind !== "held") throw new NotFound(`At ${broke} requests a second that no actor answers, ${bare.why}.`);
  progress(`${name}: more than it bears, and after`);
  const calm = held * CALM;
  await settle(calm, mix);
  const overload = await trouble(load, {
    name: `more than it bears: ${name}`,
    about: `Past the break, ${(broke * OVER).toLocaleString("en")} requests a second are asked for.`,
    window,
    windows: 2,
    begin: () => load.change(broke * OVER),
    end: () => load.change(calm),
    async told(during) {
      // A full mailbox refuses, and so does the queue behind one.
      const refusals = during.flatMap(errorsOf).filter(([kind]) => / (mailbox-full|busy)$/.test(kind));
      return { happened: { "requests refused": refusals.reduce((sum, [, times]) => sum + times, 0) }, failed: [] };
    },
  });
  return { name, about, ...found, floor, overload };
}
