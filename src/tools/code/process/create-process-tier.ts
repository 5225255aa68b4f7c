import { type ChildProgram, childProgram } from "../child-program";
import { type PoolOptions, ProcessPool } from "../pool/process-pool";
import type { Tier } from "../tier";

/** Options of `createProcessTier`. */
export interface ProcessTierOptions extends Pick<PoolOptions, "size" | "maxWaiting" | "clock"> {
  /** @internal For tests: a program that replaces the processes' own. */
  readonly program?: ChildProgram;
}

/**
 * Makes the tier `process`: Bun's own engine, at full speed, in processes that are used once. The kernel keeps them from
 * files, network and other processes. If it cannot, each run ends as `unavailable`.
 */
export function createProcessTier(options: ProcessTierOptions): Tier {
  return new ProcessPool({
    program: childProgram("process-worker"),
    ...options,
    isolation: "process",
    needs: ["no-capabilities", "dies-with-parent", "limits", "no-new-privileges", "landlock", "seccomp"],
    isSingleUse: true,
    watchMemory: true,
    standsStill: true,
    remedy:
      "it needs Linux 5.13 or newer on x64, with Landlock and seccomp, and allowed to use them; use `sandbox` elsewhere",
  });
}
