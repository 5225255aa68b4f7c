import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../../src/index";
import { createProcessTier, type ProcessTierOptions } from "../../../../src/tools/code/process/create-process-tier";
import { type Kit, runOf } from "../sandbox/kit";

/** The program of the tier's processes. */
export const WORKER = join(import.meta.dir, "../../../../src/tools/code/process/process-worker.ts");

/** The tier, and what runs in it without a word of how. */
export function processes(options: Partial<ProcessTierOptions> = {}): Kit {
  const tier = createProcessTier({ size: 1, maxWaiting: 1_000, clock: systemClock, ...options });
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

/** Whether this machine has what the tier asks of it. */
export const isOffered = process.platform === "linux" && process.arch === "x64";

/** The processes of this tier that this process has started and that are still there. */
export function workers(): number[] {
  const pids = readdirSync("/proc/self/task").flatMap((thread) => textOf(`self/task/${thread}/children`).split(" "));
  return pids.filter((pid) => pid !== "" && textOf(`${pid}/cmdline`).includes("process-worker")).map(Number);
}

function textOf(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, "utf8");
  } catch {
    return ""; // It ended meanwhile.
  }
}
