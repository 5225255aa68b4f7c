import { type Context, defineProtocol, type RefTo, type SignaturesOf, type Spawner, Type } from "envoi";
import {
  type Approve,
  CodeError,
  type CodeExecutionRef,
  type ExecuteItem,
  ExecuteReply,
  outcomeSchema,
  spawnCodeExecution,
  type Tools,
  typesFor,
} from "envoi/tools";

/** One tool that runs code, which calls the other tools: a model needs one call in place of ten. */
export const CodeMode = defineProtocol("code-mode", {
  run: {
    description: "Runs JavaScript in a sandbox, and replies with its value and its logs.",
    hints: { destructive: true },
    payload: Type.Object({
      code: Type.String({ description: "What it returns, or its last expression, is the value; it may await." }),
      input: Type.Optional(Type.Unknown({ description: "The code's variable `input`: any JSON." })),
    }),
    reply: outcomeSchema(ExecuteReply, CodeError),
  },
});
export type CodeModeRef = RefTo<typeof CodeMode>;

export interface CodeModeOptions {
  /** The tools that code may call. */
  readonly tools: Tools;
  /** Longest run, in milliseconds. */
  readonly time: number;
  /** Sees each call of a tool before it is made. Default: all are allowed. */
  readonly approve?: Approve;
}

/** The tool's description for a model, with the types of the tools that code finds. */
export const codeModeDescription = (tools: Tools): string =>
  `Runs JavaScript in a sandbox, and replies with its value and its logs. Prefer it where several calls would be needed: ` +
  `loop, filter and count in code, and return only what matters. progress(value) tells how far it is. It finds:\n\n${typesFor(tools)}`;

/** Spawns the actor that runs code for clients. It passes on the code's calls of `progress(value)`. */
export const spawnCodeMode = (spawner: Spawner, { tools, time, approve }: CodeModeOptions): CodeModeRef =>
  spawner.spawn(
    "code",
    CodeMode,
    (ctx) => {
      const code = spawnCodeExecution(ctx, {
        name: "sandbox",
        languages: ["javascript"],
        timeout: time,
        maxOutput: 200_000,
        tools,
        toolLimits: { calls: 100_000, bytes: 100_000_000 }, // A run may go through a whole folder.
        ...(approve && { approve }),
      });
      return { run: (request) => run(ctx, code, request) };
    },
    { concurrency: 64 },
  );

/** Runs code. When the asker gives up, the stream ends, and the run with it. */
async function run(ctx: Context<SignaturesOf<typeof CodeMode>>, code: CodeExecutionRef, request: { code: string }) {
  let count = 0;
  for await (const item of ctx.stream(code, "executeStream", request)) {
    if (item.kind === "end") return item.outcome;
    if (item.kind !== "progress") continue;
    const { done, total, note } = progressOf(item, ++count);
    ctx.progress(done, total, note);
  }
  return stopped;
}

const stopped = { ok: false as const, error: { kind: "stopped" as const, message: "The run was ended.", logs: [] } };

/** `progress(3)`, `progress({ done: 3, total: 4, note: "reading" })`, or any other value, which is counted and shown. */
function progressOf({ value }: Extract<ExecuteItem, { kind: "progress" }>, count: number) {
  const { done, total, note }: Record<string, unknown> = typeof value === "object" ? { ...value } : { done: value };
  return {
    done: isNumber(done) ? done : count,
    total: isNumber(total) ? total : undefined,
    note: typeof note === "string" ? note : isNumber(done) ? undefined : textOf(value),
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
