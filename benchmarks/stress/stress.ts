import { describeMachine } from "../harness/machine";
import { Child } from "./child";
import { FAULTS, measureFault } from "./faults/faults";
import { type Load, startLoad } from "./load";
import { overload } from "./overload";
import {
  type Capacity,
  type Fault,
  type Ladder,
  type Scenario,
  type Step,
  type StressResults,
  scenarioName,
  type WindowResult,
} from "./results";
import type { ScenarioHandlers } from "./scenario";
import type { Mix } from "./schedule";
import { type Climb, climb, judge, NotFound } from "./steps";

/** How much is measured. */
export interface Effort {
  /** Of each window, in milliseconds. */
  readonly window: number;
  /** Messages of the larger scenario. */
  readonly messages: number;
  /** How many times as much each step has as the one before. */
  readonly factor: number;
}

export const FULL: Effort = { window: 3_000, messages: 100_000, factor: 1.5 };
export const QUICK: Effort = { window: 1_000, messages: 10_000, factor: 2.5 };

export interface StressOptions {
  readonly effort: Effort;
  /** The folder whose commit is named. */
  readonly root: string;
  /** Told where the run is. */
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

interface LadderPlan {
  readonly name: string;
  readonly about: string;
  readonly mix: Mix;
  readonly from: number;
}

/** A share of a window passes before it, so that it begins with a load that is borne or not. */
const SETTLE = 0.25;
/** The share of a window that a fault goes on, and the times before and after it. */
const FAULT = 0.6;
/** Requests of a mix, in parts of a hundred. */
const MIXED: Mix = { ask: 40, stream: 20, read: 15, write: 15, code: 10 };

const LADDERS: readonly LadderPlan[] = [
  {
    name: "messaging only",
    about: "asks of one actor through the router",
    mix: { ask: 1 },
    from: 5_000,
  },
  {
    name: "all together",
    about:
      "of a hundred requests, 40 asks, 20 streams of ten items, 15 reads and 15 writes of 100 B, and 10 executions in the default tier",
    mix: MIXED,
    from: 250,
  },
];

/** Does the whole run. Rejects when a breaking point is not found, or when aborted. */
export async function measureStress(options: StressOptions): Promise<StressResults> {
  const { effort, root, progress, signal } = options;
  const start = performance.now();
  const scenarios: Scenario[] = [];
  for (const asked of [
    { messages: 1_000, isolation: "sandbox" },
    { messages: 1_000, isolation: "trusted" },
    { messages: effort.messages, isolation: "sandbox" },
  ] as const) {
    progress(scenarioName(asked));
    scenarios.push(await runScenario(asked, signal));
  }
  const capacity = await loaded(signal, (load) => measureCapacity(load, options));
  const ladders: Ladder[] = [];
  for (const plan of LADDERS) ladders.push(await loaded(signal, (load) => climbLadder(load, plan, options)));
  const faults: Fault[] = [];
  for (const plan of FAULTS) {
    progress(plan.name);
    faults.push(await measureFault(plan, { window: Math.round(effort.window * FAULT), signal }));
  }
  const machine = describeMachine(root);
  const seconds = (performance.now() - start) / 1_000;
  return { machine, seconds, scenarios, capacity, ladders, faults };
}

async function runScenario(asked: Parameters<ScenarioHandlers["run"]>[0], signal: AbortSignal): Promise<Scenario> {
  signal.throwIfAborted();
  const child = new Child<ScenarioHandlers>(new URL("scenario.ts", import.meta.url));
  const end = () => void child.end();
  signal.addEventListener("abort", end, { once: true });
  try {
    return await child.call("run", asked);
  } finally {
    signal.removeEventListener("abort", end);
    await child.end();
  }
}

/** Works with a load that ends with it. */
async function loaded<Value>(signal: AbortSignal, work: (load: Load) => Promise<Value>): Promise<Value> {
  await using load = await startLoad({ rate: 0, mix: { ask: 1 }, signal });
  return await work(load);
}

/** Puts on a load, waits until it has taken hold, and looks at a window of it. */
const stepOf =
  (load: Load, name: string, mix: Mix, { effort, progress }: StressOptions) =>
  async (rate: number): Promise<WindowResult> => {
    progress(`${name}: ${rate.toLocaleString("en")} requests a second`);
    await load.rest();
    await load.change({ rate, mix });
    await Bun.sleep(effort.window * SETTLE);
    const figures = await load.window(effort.window);
    await load.rest();
    const verdict = judge(figures);
    if (verdict.kind !== "held") progress(`${name}: ${rate.toLocaleString("en")} requests a second: ${verdict.why}`);
    return figures;
  };

async function measureCapacity(load: Load, options: StressOptions): Promise<Capacity> {
  const step = stepOf(load, "sockets alone", { bare: 1 }, options);
  const { steps, held, why } = await climb({ from: 20_000, factor: options.effort.factor }, step, judge);
  return { steps: steps.map(stepResult), held, why };
}

async function climbLadder(load: Load, plan: LadderPlan, options: StressOptions): Promise<Ladder> {
  const { name, about, mix, from } = plan;
  const { effort, progress } = options;
  const found = await climb({ from, factor: effort.factor }, stepOf(load, name, mix, options), judge);
  const { steps, held, ended: broke, kind, why } = found;
  if (kind === "void" || held === 0) throw new NotFound(`At ${broke} requests a second, ${why}.`);
  progress(`${name}: more than it bears, and after`);
  const past = await overload(load, { held, broke, window: effort.window });
  return { name, about, mix: { ...mix }, steps: steps.map(stepResult), held, broke, why, overload: past };
}

const stepResult = ({ step, verdict }: Climb<WindowResult>["steps"][number]): Step => ({
  window: step,
  verdict: verdict.kind,
  why: verdict.kind === "held" ? "" : verdict.why,
});
