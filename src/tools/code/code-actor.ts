import type { Factory, Metadata, SignaturesOf } from "../../index";
import { Executor } from "./executor";
import type { CodeLimits } from "./options";
import { type CodeExecution, CodeStreams } from "./protocol";
import { runStream } from "./run-stream";
import { openTier } from "./tiers";

export { requireChildPrograms } from "./child-program";
export { requirePeers } from "./peers";
// Program actors use these, too.
export { ProgramInstance } from "./program/program-instance";
export { Sources } from "./source/sources";

/** Makes the handlers of a code actor. */
export function factoryOf(limits: CodeLimits, open = openTier): Factory<SignaturesOf<typeof CodeExecution>> {
  return (ctx) => {
    const executor = new Executor(limits, ctx.clock, open);
    // Read now, and not when the code first calls a tool. Code without tools hands nothing on.
    const handedOn = (): Metadata | undefined => (limits.openCalls === undefined ? undefined : ctx.handsOn);
    // A stream lasts as long as its reader likes. Streams have an actor of their own, so they never delay requests.
    const streams = ctx.spawn("streams", CodeStreams, streamsOf(executor, limits), handlingOf(limits));
    return {
      onStart: () => executor.warmUp(),
      execute: (request) => executor.execute(request, ctx, handedOn()),
      executeStream: () => ctx.forward(streams),
      check: (request) => executor.check(request),
      compile: (request) => executor.compile(request),
      run: (request) => executor.run(request, ctx, handedOn()),
      session: (request) => executor.openSession(request),
      endSession: ({ session }) => executor.endSession(session),
      inspect: () => ({ ok: true, value: executor.inspect() }),
      onStop: () => executor.dispose(),
    };
  };
}

function streamsOf(executor: Executor, { openCalls }: CodeLimits): Factory<SignaturesOf<typeof CodeStreams>> {
  return (ctx) => ({
    executeStream(request) {
      const { signal } = ctx; // Read now: the generator's body runs after its handler.
      const metadata = openCalls === undefined ? undefined : ctx.handsOn;
      return runStream((listeners) => executor.execute(request, { signal }, metadata, listeners));
    },
  });
}

/** The concurrency and the validation of a code actor. */
export const handlingOf = ({ concurrency, maxWaiting, maxSessions }: CodeLimits) =>
  ({
    // Enough for all runs that may run, wait or be held in any tier, and for a few more that get `busy`.
    concurrency: 4 * (concurrency + maxWaiting) + maxSessions + 64,
    validate: "always", // Also for askers inside the system: they may pass on what an agent made up.
  }) as const;
