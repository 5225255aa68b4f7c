import {
  type ActorOptions,
  defineProtocol,
  type Handlers,
  type Metadata,
  type Protocol,
  type Ref,
  type RefTo,
  type Spawner,
  Type,
} from "../../../index";
import { loadCodeActor } from "../../late";
import type { Approve } from "../approval";
import type { LogEntry } from "../code-error";
import { CodeRefusal } from "../code-refusal";
import type { Language } from "../language";
import { type CodeExecutionOptions, limitsOf } from "../options";
import type { Program as Code } from "../tier";
import { type ToolLimits, toolLimitsOf } from "../tools/tool-limits";
import { type KnownTools, ToolSet, type Tools } from "../tools/tool-set";
import type { ProgramInstance, ProgramSettings } from "./program-instance";

/** The default protocol of a program actor. */
export const Program = defineProtocol("program", { run: { payload: Type.Unknown(), reply: Type.Unknown() } });

/** Options of a program actor. All may be left out. */
export interface ProgramOptions
  extends Pick<CodeExecutionOptions, "isolation" | "timeout" | "memory" | "maxInputBytes" | "maxOutput">,
    Pick<ActorOptions, "phase" | "capacity" | "overflow"> {
  /** Default: `"javascript"`. */
  readonly language?: Language;
  /** Tools that the program may call, as `await tools.files.read({ path })`. Default: none. */
  readonly tools?: Tools;
  /** Limits of the tool calls of each message. Default: 1,000 calls, 16 MB, 30 s a call. */
  readonly toolLimits?: ToolLimits;
  /** Allows, changes or refuses each tool call before it is made. Default: all are allowed. */
  readonly approve?: Approve;
  /** Called for each entry that the program logs. If it throws, the message fails. Default: none. */
  readonly onLog?: (entry: LogEntry) => void;
}

type OptionsOf<Signatures> = ProgramOptions & {
  /** The actor's protocol, without streams. Default: `Program`. */
  readonly protocol?: Protocol<string, Signatures>;
};

const NAMES: ReadonlySet<string> = new Set<keyof OptionsOf<unknown>>([
  "protocol",
  "isolation",
  "language",
  "timeout",
  "memory",
  "maxInputBytes",
  "maxOutput",
  "tools",
  "toolLimits",
  "approve",
  "onLog",
  "phase",
  "capacity",
  "overflow",
]);

/**
 * Spawns an actor whose behaviour is source text. The source returns an object with a function for each operation of the
 * protocol, or one function that is called with the payload and the operation; its last expression counts as returned. The
 * source is compiled once. It runs in a room of its own, isolated as `isolation` says (default: `"sandbox"`). Its variables last
 * from message to message; a restart runs it again in a new room.
 *
 * A message fails if the function throws, exceeds its time (default: 5 s) or crashes its process. The asker gets
 * `handler-failed`, whose `cause` is a ProgramError, and the supervisor (the system's or the parent's) decides. If the program
 * did not start, because it does not compile, throws, or gives no behaviour, each message fails in the same way. A run goes on
 * when its asker gives up; it ends when the actor stops.
 *
 * @param spawner a system, or the context of the parent actor.
 * @throws TypeError or RangeError for an invalid option; Error if the name is in use, or if packages that the isolation and the
 * language need are missing.
 * @example
 * const counter = spawnProgram(system, "counter", "let n = 0; ({ run: (by) => (n += by) })");
 * await counter.ask("run", 2);
 * (await counter.ask("run", 3)).unwrapOr(0); // 5
 */
export function spawnProgram<const T extends Tools = Tools>(
  spawner: Spawner,
  name: string,
  source: string,
  options?: ProgramOptions & { readonly tools?: T & KnownTools<T> },
): RefTo<typeof Program>;
export function spawnProgram<Signatures, const T extends Tools = Tools>(
  spawner: Spawner,
  name: string,
  source: string,
  options: OptionsOf<Signatures> & { readonly tools?: T & KnownTools<T> },
): Ref<Signatures>;
export function spawnProgram(
  spawner: Spawner,
  name: string,
  source: string,
  options: OptionsOf<unknown> = {},
): Ref<unknown> {
  if (typeof source !== "string")
    throw new TypeError('The source of a program is a text, such as "(payload) => payload".');
  checkNames(options);
  const { protocol = Program, language = "javascript", phase, capacity, overflow } = options;
  const settings = settingsOf(options, protocol);
  if (language !== "javascript" && language !== "typescript") {
    throw new TypeError(`The language of a program is "javascript" or "typescript"; got ${Bun.inspect(language)}.`);
  }
  const parts = loadCodeActor();
  parts.requireChildPrograms();
  parts.requirePeers(settings.isolation, [language]);
  /** Kept for restarts, unless compiling again may give another result. */
  let compiled: Code | CodeRefusal | undefined;
  return spawner.spawn(
    name,
    protocol as Protocol<string, unknown>,
    (ctx) => {
      const { signal } = ctx; // Read now, while it is this instance's.
      let instance: ProgramInstance | undefined;
      const sources = new parts.Sources();
      const keep = (found: Code | CodeRefusal): Promise<void> => {
        if (!(found instanceof CodeRefusal) || found.error.kind === "compile-error") compiled = found;
        return sources.dispose();
      };
      const handedOn = (): Metadata | undefined => (settings.tools === null ? undefined : ctx.handsOn);
      const handlers: Record<string, (payload: unknown) => unknown> = {};
      for (const operation of Object.values(protocol.operations)) {
        handlers[operation.name] = (payload) => instance?.handle(operation, payload, handedOn());
      }
      const hooks = {
        onStart() {
          const reading = compiled ?? sources.compile(source, language, { isBehaviour: true });
          void Promise.resolve(reading).then(keep, () => {}); // The instance reports the error.
          instance = new parts.ProgramInstance(settings, reading, ctx.clock, signal);
        },
        onStop: () => Promise.all([sources.dispose(), instance?.dispose()]),
      };
      // The loop above made one for each operation of the protocol.
      return { ...(handlers as Handlers<unknown>), ...hooks };
    },
    {
      validate: "always", // The program gets only valid payloads, also from askers inside the system.
      ...(phase !== undefined && { phase }),
      ...(capacity !== undefined && { capacity }),
      ...(overflow !== undefined && { overflow }),
    },
  );
}

function checkNames(options: object): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError("The options of a program are an object, such as { timeout: 1_000 }.");
  }
  for (const key of Object.keys(options)) {
    if (NAMES.has(key)) continue;
    throw new TypeError(`There is no option "${key}" of a program; write one of ${[...NAMES].join(", ")}.`);
  }
}

/** Fills in the defaults. An invalid option throws. */
function settingsOf(options: OptionsOf<unknown>, protocol: Protocol): ProgramSettings {
  if (typeof protocol !== "object" || typeof protocol?.operations !== "object") {
    throw new TypeError("The protocol of a program is what defineProtocol gives.");
  }
  const operations = Object.keys(protocol.operations);
  const streaming = operations.find((name) => protocol.operations[name]?.isStream);
  if (streaming !== undefined) {
    throw new TypeError(
      `A program cannot stream, and the protocol "${protocol.name}" has the stream "${streaming}"; write one without it.`,
    );
  }
  const { tools, toolLimits, approve, onLog } = options;
  if (onLog !== undefined && typeof onLog !== "function") {
    throw new TypeError(`The onLog of a program is a function of an entry; got ${Bun.inspect(onLog, { depth: 1 })}.`);
  }
  const { isolation, timeout, memory, maxInputBytes, maxOutput } = limitsOf({
    ...(options.isolation !== undefined && { isolation: options.isolation }),
    ...(options.timeout !== undefined && { timeout: options.timeout }),
    ...(options.memory !== undefined && { memory: options.memory }),
    ...(options.maxInputBytes !== undefined && { maxInputBytes: options.maxInputBytes }),
    ...(options.maxOutput !== undefined && { maxOutput: options.maxOutput }),
    ...(approve !== undefined && { approve }),
  });
  return {
    isolation,
    timeout,
    memory,
    maxInputBytes,
    maxOutput,
    tools: tools === undefined ? null : new ToolSet(tools),
    toolLimits: toolLimitsOf(toolLimits),
    approve,
    onLog,
    operations,
  };
}
