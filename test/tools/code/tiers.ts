import { createSystem } from "../../../src";
import type { CodeError } from "../../../src/tools/code/code-error";
import { spawnCodeExecution } from "../../../src/tools/code/code-execution";
import type { CodeExecutionOptions } from "../../../src/tools/code/options";
import type { CodeExecutionRef, CodeInspection, ExecuteReply, ExecuteRequest } from "../../../src/tools/code/protocol";
import type { Isolation } from "../../../src/tools/code/tier";
import { isLong } from "../../property/runs";

/** A tier, and how code is written there. */
export interface TierRow {
  readonly isolation: Isolation;
  /** Whether code cannot hold up the host. */
  readonly isIsolated: boolean;
  /** Code that takes so many milliseconds: it waits where it can, and is busy elsewhere. */
  pause(milliseconds: number): string;
}

const wait = (milliseconds: number): string => `await new Promise((go) => setTimeout(go, ${milliseconds}))`;
const spin = (milliseconds: number): string => `for (const end = Date.now() + ${milliseconds}; Date.now() < end; );`;

/** The tiers that every promise of an execution is tested over. */
export const tiers: readonly TierRow[] = [
  { isolation: "trusted", isIsolated: false, pause: wait },
  { isolation: "process", isIsolated: true, pause: wait },
  { isolation: "sandbox", isIsolated: true, pause: spin },
];

/** The one language of each tier in the short verification, which has each tier and each language in it. */
const ONE_LANGUAGE = { trusted: "typescript", process: "javascript", sandbox: "typescript" } as const;

/**
 * Each tier in each language, in the long verification. A language is another parser, and what comes out of it goes to each
 * tier in the same way: so the short one has each tier once.
 */
export const ways = tiers.flatMap((tier) =>
  (["javascript", "typescript"] as const)
    .filter((language) => isLong || language === ONE_LANGUAGE[tier.isolation])
    .map((language) => ({ ...tier, language })),
);

export type Outcome = { ok: true; value: ExecuteReply } | { ok: false; error: CodeError };
export type Execute = (code: string, more?: Partial<ExecuteRequest>) => Promise<Outcome>;

/** Runs a test with an actor of its own, which is gone after it; its code is of that language where it says nothing else. */
export async function withCode(
  options: CodeExecutionOptions,
  body: (execute: Execute, code: CodeExecutionRef) => Promise<void>,
  language: "javascript" | "typescript" = "javascript",
): Promise<void> {
  await using system = createSystem({ askTimeout: 20_000, logger: { warn() {}, error() {} } });
  const ref = spawnCodeExecution(system, options);
  await body(async (code, more = {}) => {
    const answer = await ref.ask("execute", { code, language, ...more });
    if (answer.isErr()) throw new Error(answer.error.message);
    return answer.value;
  }, ref);
}

/** The value of what went well. */
export function valueIn(outcome: Outcome): unknown {
  if (!outcome.ok) throw new Error(`${outcome.error.kind}: ${outcome.error.message}`);
  return outcome.value.value;
}

/** The error of what did not. */
export function errorIn(outcome: Outcome): CodeError {
  if (outcome.ok) throw new Error(`It gave ${JSON.stringify(outcome.value.value)}.`);
  return outcome.error;
}

/** An actor's inspection of itself. */
export async function inspectionOf(code: CodeExecutionRef): Promise<CodeInspection> {
  const answer = (await code.ask("inspect"))._unsafeUnwrap();
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}
