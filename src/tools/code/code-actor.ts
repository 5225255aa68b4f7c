import type { Factory, SignaturesOf } from "../../index";
import { Executor } from "./executor";
import type { CodeLimits } from "./options";
import { type CodeExecution, CodeStreams } from "./protocol";
import { runStream } from "./run-stream";
import { openTier } from "./tiers";

export { requireChildPrograms } from "./child-program";
export { requirePeers } from "./peers";
// What programs are made of, too.
export { ProgramInstance } from "./program/program-instance";
export { Sources } from "./source/sources";

/** Makes the handlers of an actor that runs code. */
export function factoryOf(limits: CodeLimits, open = openTier): Factory<SignaturesOf<typeof CodeExecution>> {
  return (ctx) => {
    const executor = new Executor(limits, ctx.clock, open);
    // Streams last as long as their readers like: an actor of their own keeps them from holding up the requests.
    const streams = ctx.spawn("streams", CodeStreams, streamsOf(executor), handlingOf(limits));
    return {
      onStart: () => executor.warmUp(),
      execute: (request) => executor.execute(request, ctx),
      executeStream: () => ctx.forward(streams),
      check: (request) => executor.check(request),
      compile: (request) => executor.compile(request),
      run: (request) => executor.run(request, ctx),
      session: (request) => executor.openSession(request),
      endSession: ({ session }) => executor.endSession(session),
      inspect: () => ({ ok: true, value: executor.inspect() }),
      onStop: () => executor.dispose(),
    };
  };
}

function streamsOf(executor: Executor): Factory<SignaturesOf<typeof CodeStreams>> {
  return (ctx) => ({
    executeStream(request) {
      const { signal } = ctx; // A generator's body is no part of its handler any more.
      return runStream((listeners) => executor.execute(request, { signal }, listeners));
    },
  });
}

/** How many messages such an actor handles at once, and that it checks them. */
export const handlingOf = ({ concurrency, maxWaiting, maxSessions }: CodeLimits) =>
  ({
    // All that may run or wait in any tier, or be held, and a few beside them that are told `busy`.
    concurrency: 4 * (concurrency + maxWaiting) + maxSessions + 64,
    validate: "always", // Whoever asks: what an agent makes up comes from within, too.
  }) as const;
