import { type Factory, type SignaturesOf, StreamError, type Supervision } from "envoi";
import type { Recording } from "envoi/record";
import { CodeExecution, type FileSystemRef, resultOf, spawnCodeExecution, type Tools } from "envoi/tools";
import { PlannerFault } from "./fault";
import { type Instruments, perform } from "./perform";
import { approve } from "./permission";
import {
  type Agent,
  type Happening,
  type Observation,
  type PlanItem,
  Planner,
  type Step,
  type Turn,
} from "./protocols";
import { toolsOf } from "./tools";

/** Makes a planner, which may tell what code in the sandbox can call. */
export type PlannerFor = (tools: Tools) => Factory<SignaturesOf<typeof Planner>>;

/** How often a planner is asked for one step while it fails by what may pass. */
const ATTEMPTS = 3;

export interface AgentOptions {
  readonly files: FileSystemRef;
  readonly planner: PlannerFor;
  /** Most steps of a task. */
  readonly maxSteps: number;
  /** Says what is outside of a replay: the planner and the code. */
  readonly recording: Pick<Recording, "outside">;
}

type End = Extract<Happening, { kind: "finished" | "failed" }>;
type Proposal = Exclude<PlanItem, { kind: "thought" }> | Extract<End, { kind: "failed" }>;

/**
 * How an agent looks after its children: a planner that failed by what may pass begins anew after a pause, twice as long each
 * time; one that failed by what does not pass ends.
 */
export const supervisionWith = (pause: number): Supervision => ({
  decide: (thrown) => (thrown instanceof PlannerFault && !thrown.mayPass ? "stop" : "restart"),
  backoff: { initial: pause },
});

/** An agent: it asks its planner what to do, does it, shows the planner what came of it, until there is a report. */
export function agentOf({
  files,
  planner: plannerFor,
  maxSteps,
  recording,
}: AgentOptions): Factory<SignaturesOf<typeof Agent>> {
  return (ctx) => {
    const tools = toolsOf(files);
    const code = recording.outside("code", CodeExecution, () =>
      spawnCodeExecution(ctx, { tools, approve, concurrency: 1 }),
    );
    const planner = recording.outside("planner", Planner, () => ctx.spawn("planner", Planner, plannerFor(tools)));
    const instruments: Instruments = { ctx, files, code };

    /** Passes the planner's thoughts on as they come, and returns what it proposes. */
    async function* proposalFor(task: string, turns: Turn[]): AsyncGenerator<Happening, Proposal> {
      for (let attempt = 1; ; attempt++) {
        try {
          for await (const item of ctx.stream(planner, "plan", { task, turns })) {
            if (item.kind !== "thought") return item;
            yield item;
          }
          return { kind: "nonsense", reply: "", fault: "Nothing was proposed." };
        } catch (thrown) {
          if (!(thrown instanceof StreamError)) throw thrown;
          // It keeps nothing, so that the one that takes its place can be asked the same.
          const mayPass = thrown.cause instanceof PlannerFault && thrown.cause.mayPass;
          if (mayPass && attempt < ATTEMPTS) continue;
          return { kind: "failed", why: thrown.cause instanceof Error ? thrown.cause.message : thrown.message };
        }
      }
    }

    /** The end that a step asks for, if it can be had; an observation if it cannot. */
    async function endOf(step: Extract<Step, { do: "finish" | "giveUp" }>): Promise<End | Observation> {
      if (step.do === "giveUp") return { kind: "failed", why: step.why };
      const { report, summary } = step;
      const read = resultOf(await ctx.ask(files, "read", { path: report }));
      if (read.isErr()) return { kind: "error", error: read.error.kind, message: `No report: ${read.error.message}` };
      return { kind: "finished", report, summary, content: String(read.value.content) };
    }

    return {
      async *work({ task }) {
        const turns: Turn[] = [];
        for (let number = 1; number <= maxSteps; number++) {
          const proposal = yield* proposalFor(task, turns);
          if (proposal.kind === "failed") return yield proposal;
          if (proposal.kind === "nonsense") {
            const observation: Observation = { kind: "error", error: "no-step", message: proposal.fault };
            turns.push({ step: { do: "nothing", reply: proposal.reply }, observation });
            yield { kind: "observed", observation };
            continue;
          }
          const { step } = proposal;
          yield { kind: "step", number, step };
          const outcome =
            step.do === "finish" || step.do === "giveUp" ? await endOf(step) : await perform(step, instruments);
          if (outcome.kind === "finished" || outcome.kind === "failed") return yield outcome;
          turns.push({ step, observation: outcome });
          yield { kind: "observed", observation: outcome };
        }
        yield { kind: "failed", why: `The task was not done after ${maxSteps} steps.` };
      },
    };
  };
}
