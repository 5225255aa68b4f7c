import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SignaturesOf } from "envoi";
import type { SessionsOptions } from "envoi/http";
import { type FetchRule, spawnCodeExecution, spawnFetch, spawnFileSystem, type Tools, toolsFor } from "envoi/tools";
import type { Model } from "./model";
import type { Agent, Happening } from "./protocols";
import { Run, runsIn } from "./run";

export interface AgentOptions {
  /** The folder that has a folder for each session. */
  readonly workspaces: string;
  /** Milliseconds before each step, as a model takes its time. */
  readonly pause: number;
  readonly model: Model;
  /** URLs that the agent may ask for, such as `https://api.example.com/*`. It has no tool for that where there are none. */
  readonly allow: readonly (string | FetchRule)[];
}

/** Most steps for a message: a model may go round in a circle. */
const MOST_STEPS = 20;

/** Makes the agent of a session: it asks its model what to do, does it, shows the model what came of it, until there is an answer. */
export function agentOf(options: AgentOptions): SessionsOptions<SignaturesOf<typeof Agent>>["factory"] {
  const { workspaces, pause, model, allow } = options;
  return (ctx, session) => {
    const root = join(workspaces, session.id);
    mkdirSync(root, { recursive: true });
    const files = spawnFileSystem(ctx, { root, quotaBytes: 5_000_000, maxReadBytes: 100_000 });
    const code = spawnCodeExecution(ctx, {
      languages: ["javascript"],
      concurrency: 1,
      maxOutput: 100_000,
      tools: { files: { ref: files, operations: ["read", "list"] } },
    });
    const granted: Tools = {
      files: { ref: files, operations: ["list", "read", "write"] },
      code: { ref: code, operations: ["execute"] },
      ...(allow.length > 0 && {
        web: { ref: spawnFetch(ctx, { allow, maxReplyBytes: 100_000 }), operations: ["get"] },
      }),
    };
    const tools = toolsFor(granted, { format: "openai" });
    // By its log an agent becomes what it was, after the death of its process, too.
    const logged = runsIn(session.events());
    const runs = [...logged.values()];

    /** Goes on with a run to its end. Each item is stored as an event of the session before anybody sees it. */
    async function* workOn(run: Run): AsyncGenerator<Happening> {
      const tell = (happening: Happening): Happening => {
        run.note(happening);
        return happening;
      };
      while (run.steps < MOST_STEPS) {
        await new Promise<void>((go) => ctx.clock.setTimer(go, pause));
        if (ctx.signal.aborted) return; // Its session was deleted, or the service ends.
        const others = runs.flatMap((each) => (each === run ? [] : each.turns));
        const move = await model([...others, ...run.turns], tools.declarations, ctx.signal);
        if ("answer" in move) return yield tell({ kind: "answer", text: move.answer });
        const { why, call, input } = move;
        const step = run.steps + 1;
        yield tell({ kind: "call", step, why, tool: call, input });
        const done = await tools.callTool(call, input, { signal: ctx.signal });
        yield tell({ kind: "result", step, ok: done.isOk(), result: done.isOk() ? done.value : done.error });
      }
      yield { kind: "failed", why: `There was no answer after ${MOST_STEPS} steps.` };
    }

    return {
      async *work({ text }) {
        const run = new Run(text);
        runs.push(run);
        yield* workOn(run);
      },
      async *goOn({ request }) {
        const run = logged.get(request);
        if (run === undefined) yield { kind: "failed", why: "The log has no such message: send it again." };
        else yield* workOn(run);
      },
    };
  };
}
