import type { Context, SignaturesOf } from "envoi";
import { type CodeExecutionRef, type FileSystemRef, resultOf } from "envoi/tools";
import { mayWrite, refusal } from "./permission";
import type { Agent, Observation, Step } from "./protocols";

/** Most files that one list shows. */
const MOST_FILES = 500;

/** What an agent has to work with. */
export interface Instruments {
  readonly ctx: Context<SignaturesOf<typeof Agent>>;
  readonly files: FileSystemRef;
  readonly code: CodeExecutionRef;
}

/** A step that is done by an instrument. */
export type Deed = Exclude<Step, { do: "finish" | "giveUp" }>;

/** Does what a step says. Whatever comes of it is an observation: a planner learns by what fails, too. */
export async function perform(step: Deed, { ctx, files, code }: Instruments): Promise<Observation> {
  switch (step.do) {
    case "list": {
      const { glob } = step;
      const request = { recursive: true, limit: MOST_FILES, ...(glob !== undefined && { glob }) };
      const listed = resultOf(await ctx.ask(files, "list", request));
      if (listed.isErr()) return failureOf(listed.error);
      const { entries, cursor } = listed.value;
      const paths = entries.filter(({ kind }) => kind === "file").map(({ path }) => path);
      return { kind: "files", paths, isCut: cursor !== undefined };
    }
    case "read": {
      const { path, lines } = step;
      const read = resultOf(await ctx.ask(files, "read", { path, ...(lines && { lines }) }));
      if (read.isErr()) return failureOf(read.error);
      return { kind: "text", content: String(read.value.content) }; // A text: no bytes were asked for.
    }
    case "run": {
      const ran = resultOf(await ctx.ask(code, "execute", { code: step.code, language: "typescript" }));
      if (ran.isErr()) return failureOf(ran.error);
      return { kind: "value", value: ran.value.value ?? null, logs: ran.value.logs.map(({ text }) => text) };
    }
    case "write": {
      const { path, content } = step;
      // The code actor asks `approve` of what code writes; this is the agent's own write, held to the same rule.
      if (!mayWrite(path)) return { kind: "error", error: "refused", message: refusal(path) };
      const written = resultOf(await ctx.ask(files, "write", { path, content }));
      return written.isOk() ? { kind: "written", bytes: written.value.size } : failureOf(written.error);
    }
  }
}

interface Failure {
  readonly kind: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  readonly logs?: readonly { readonly text: string }[];
}

const failureOf = ({ kind, message, line, column, logs }: Failure): Observation => ({
  kind: "error",
  error: kind,
  message,
  ...(line !== undefined && { line }),
  ...(column !== undefined && { column }),
  ...(logs !== undefined && { logs: logs.map(({ text }) => text) }),
});
