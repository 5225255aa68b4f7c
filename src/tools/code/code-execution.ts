import type { Factory, SignaturesOf, Spawner } from "../../index";
import { Executor } from "./executor";
import { type CodeExecutionOptions, type CodeLimits, limitsOf } from "./options";
import { CodeExecution, type CodeExecutionRef, CodeStreams } from "./protocol";
import { runStream } from "./run-stream";
import { openTier } from "./tiers";

/**
 * Spawns an actor that runs JavaScript and TypeScript: in a sandbox, unless it is told to trust what it runs.
 *
 * @param spawner a system, or the context of the actor that is to be its parent.
 * @throws TypeError or RangeError for an option that cannot be one; Error where the name is in use.
 * @example
 * const code = spawnCodeExecution(system);
 * const ran = await runCode(code, { code: "input.reduce((a, b) => a + b)", input: [1, 2, 3] });
 * if (ran.isOk()) console.log(ran.value.value); // 6
 */
export function spawnCodeExecution(spawner: Spawner, options: CodeExecutionOptions = {}): CodeExecutionRef {
  return spawnCodeOver(spawner, options, openTier);
}

/** @internal The same over tiers of somebody else, which are closed with the actor. */
export function spawnCodeOver(
  spawner: Spawner,
  options: CodeExecutionOptions,
  open: typeof openTier,
): CodeExecutionRef {
  const limits = limitsOf(options);
  const { name = "code", supervision, phase, capacity, overflow } = options;
  return spawner.spawn(name, CodeExecution, factoryOf(limits, open), {
    ...handlingOf(limits),
    ...(supervision && { supervision }),
    ...(phase !== undefined && { phase }),
    ...(capacity !== undefined && { capacity }),
    ...(overflow !== undefined && { overflow }),
  });
}

function factoryOf(limits: CodeLimits, open: typeof openTier): Factory<SignaturesOf<typeof CodeExecution>> {
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

const handlingOf = ({ concurrency, maxWaiting, maxSessions }: CodeLimits) =>
  ({
    // All that may run or wait in any tier, or be held, and a few beside them that are told `busy`.
    concurrency: 4 * (concurrency + maxWaiting) + maxSessions + 64,
    validate: "always", // Whoever asks: what an agent makes up comes from within, too.
  }) as const;
