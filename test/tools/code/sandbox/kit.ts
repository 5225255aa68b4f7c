import { readdirSync, readFileSync } from "node:fs";
import { systemClock } from "../../../../src/index";
import { createSandbox, type SandboxOptions } from "../../../../src/tools/code/sandbox/create-sandbox";
import type { Ended, Run, Tier } from "../../../../src/tools/code/tier";

export interface Kit {
  readonly tier: Tier;
  run(body: string, options?: Partial<Run>): Promise<Ended>;
  /** The value of code that ends with one. */
  value(body: string, options?: Partial<Run>): Promise<unknown>;
}

export const never = new AbortController().signal;

export function runOf(body: string, options: Partial<Run> = {}): Run {
  return {
    program: { body, declares: [], place: (line, column) => ({ line, column }) },
    input: undefined,
    timeout: 20_000,
    memory: 64 * 1024 * 1024,
    maxOutput: 1024 * 1024,
    signal: never,
    ...options,
  };
}

export function sandbox(options: Partial<SandboxOptions> = {}): Kit {
  const tier = createSandbox({ size: 1, maxWaiting: 1_000, clock: systemClock, ...options });
  const run: Kit["run"] = async (body, given) => tier.run(runOf(body, given));
  return {
    tier,
    run,
    async value(body, given) {
      const ended = await run(body, given);
      if (ended.kind !== "value") throw new Error(`${ended.kind}: ${ended.message}`);
      return ended.value === undefined ? undefined : JSON.parse(ended.value);
    },
  };
}

/** The processes of sandboxes that this one started and that are still there, as the kernel tells. */
export function children(of = process.pid): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isWorkerOf(name, of))
    .map(Number);
}

function isWorkerOf(pid: string, parent: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const isAlive = !/^State:\s+Z/m.test(status) && new RegExp(`^PPid:\\s+${parent}$`, "m").test(status);
    return isAlive && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sandbox-worker");
  } catch {
    return false; // It ended meanwhile.
  }
}

/** Waits for what nobody tells of. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
