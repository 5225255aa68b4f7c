import { type ChildProgram, childProgram } from "../child-program";
import { type PoolOptions, ProcessPool } from "../pool/process-pool";
import type { Tier } from "../tier";

/** How the tier `process` is made. */
export interface ProcessTierOptions extends Pick<PoolOptions, "size" | "maxWaiting" | "clock"> {
  /** @internal For tests: another program in place of the processes' own. */
  readonly program?: ChildProgram;
}

/**
 * Makes the tier `process`: the engine of Bun itself, at full speed, in processes that are used once and that the kernel
 * keeps from files, network and other processes. Where the kernel cannot, each run ends as `unavailable`.
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
