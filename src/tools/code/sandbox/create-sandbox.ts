import { type ChildProgram, childProgram } from "../child-program";
import { INTERPRETER_COMMAND } from "../peers";
import { type PoolOptions, ProcessPool } from "../pool/process-pool";
import type { Tier } from "../tier";

/** Options of `createSandbox`. */
export interface SandboxOptions extends Omit<PoolOptions, "isolation" | "program" | "remedy"> {
  /** @internal For tests: a program that replaces the processes' own and need not keep the protocol. */
  readonly program?: ChildProgram;
}

/** Makes the tier `sandbox`: QuickJS in WebAssembly, with a clean context for each run, in processes that are kept ready. */
export function createSandbox(options: SandboxOptions): Tier {
  return new ProcessPool({
    program: childProgram("sandbox-worker"),
    ...options,
    isolation: "sandbox",
    remedy: `install its interpreter with \`${INTERPRETER_COMMAND}\``,
  });
}
