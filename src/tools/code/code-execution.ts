import type { Spawner } from "../../index";
import { loadCodeActor } from "../late";
import { type CodeExecutionOptions, limitsOf } from "./options";
import { CodeExecution, type CodeExecutionRef } from "./protocol";
import type { openTier } from "./tiers";
import type { KnownTools, Tools } from "./tools/tool-set";

/**
 * Spawns an actor that runs JavaScript and TypeScript, in a sandbox by default.
 *
 * @param spawner a system, or the context of the parent actor.
 * @throws TypeError or RangeError for an invalid option; Error if the name is in use, or if the programs of its processes or
 * the packages that its isolation needs are missing.
 * @example
 * const code = spawnCodeExecution(system);
 * const ran = await runCode(code, { code: "input.reduce((a, b) => a + b)", input: [1, 2, 3] });
 * if (ran.isOk()) console.log(ran.value.value); // 6
 */
export function spawnCodeExecution<const T extends Tools = Tools>(
  spawner: Spawner,
  options: CodeExecutionOptions & { readonly tools?: T & KnownTools<T> } = {},
): CodeExecutionRef {
  return spawnCodeOver(spawner, options);
}

/** @internal Like `spawnCodeExecution`, with tiers from the given `open`. The actor closes them when it stops. */
export function spawnCodeOver(
  spawner: Spawner,
  options: CodeExecutionOptions,
  open?: typeof openTier,
): CodeExecutionRef {
  const limits = limitsOf(options);
  const { name = "code", supervision, phase, capacity, overflow } = options;
  const { factoryOf, handlingOf, requireChildPrograms, requirePeers } = loadCodeActor();
  requireChildPrograms();
  requirePeers(limits.isolation, limits.languages);
  return spawner.spawn(name, CodeExecution, factoryOf(limits, open), {
    ...handlingOf(limits),
    ...(supervision && { supervision }),
    ...(phase !== undefined && { phase }),
    ...(capacity !== undefined && { capacity }),
    ...(overflow !== undefined && { overflow }),
  });
}
