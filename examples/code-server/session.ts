import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { defineProtocol, type Factory, type Progress, type SignaturesOf } from "envoi";
import {
  agentText,
  type ContentBlock,
  invalidParams,
  type SessionUpdate,
  sessionOperations,
  type ToolCallContent,
  turnEnd,
} from "envoi/acp";
import { RpcError } from "envoi/rpc";
import { type FileSystemRef, toolsFor } from "envoi/tools";
import type { Model, Move, ToolResult, Turn } from "../agent-service/model";
import { spawnCodeMode } from "./code-mode";
import type { Command } from "./command-line";
import { availableCommands } from "./commands";
import { Permission } from "./permission";
import { telling } from "./telling";
import { READS } from "./tools";

/** A session: the conversation of one editor with the agent. */
export const Session = defineProtocol("code-session", {
  create: sessionOperations.create,
  prompt: sessionOperations.prompt,
});

export interface SessionOptions {
  readonly files: FileSystemRef;
  readonly command: Command;
  readonly model: Model;
}

type Call = Extract<Move, { call: string }>;

/** Most steps for a prompt: a model may go round in a circle. */
const MOST_STEPS = 20;
/** Most turns of the conversation that a model is shown. */
const MOST_TURNS = 100;
const KINDS = { list: "read", read: "read", search: "search", write: "edit", run: "execute" } as const;

/** Makes the agent of a session: it asks its model what to do, does it, and tells the client each step, until there is an answer. */
export const sessionOf =
  ({ files, command, model }: SessionOptions): Factory<SignaturesOf<typeof Session>> =>
  (ctx) => {
    const { folder, readOnly, time } = command;
    const permission = new Permission(files, folder);
    const operations = readOnly ? READS : ([...READS, "write"] as const);
    const granted = { files: { ref: files, operations } };
    const code = spawnCodeMode(ctx, { tools: granted, time, approve: permission.approve });
    const tools = toolsFor({ ...granted, code }, { format: "openai" });
    const turns: Turn[] = [];
    let steps = 0;

    /** Makes a call, and reports its state to the client. */
    async function* perform(
      { why, call, input }: Call,
      signal: AbortSignal,
    ): AsyncGenerator<SessionUpdate, ToolResult> {
      const toolCallId = `call-${++steps}`;
      const kind = KINDS[(call.split("_")[1] ?? "") as keyof typeof KINDS] ?? "other"; // Any text may be looked up.
      yield { sessionUpdate: "tool_call", toolCallId, title: why, kind, status: "pending", rawInput: input };
      const permit = call === "files_write" && !readOnly ? await permission.ask(input, signal, toolCallId) : undefined;
      let result: ToolResult;
      if (permit !== undefined && "refuse" in permit) {
        result = { ok: false, error: { kind: permit.kind, message: permit.refuse } };
      } else {
        yield { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" };
        const payload = permit?.payload ?? input;
        const options = { signal, timeout: Number.POSITIVE_INFINITY }; // Code may wait for a person's permission.
        const work = telling((onProgress) => tools.callTool(call, payload, { ...options, onProgress }));
        for (let step = await work.next(); ; step = await work.next()) {
          if (step.done !== true) {
            yield { sessionUpdate: "tool_call_update", toolCallId, content: [textContent(lineOf(step.value))] };
            continue;
          }
          const done = step.value;
          result = done.isOk() ? { ok: true, value: done.value } : { ok: false, error: done.error };
          break;
        }
      }
      const status = result.ok ? "completed" : "failed";
      const shown = result.ok && permit !== undefined && "diff" in permit ? permit.diff : textContent(shortOf(result));
      yield { sessionUpdate: "tool_call_update", toolCallId, status, content: [shown] };
      return result;
    }

    return {
      create({ cwd, client, sessionId }) {
        if (!isWithin(folder, cwd)) {
          throw invalidParams(
            "This agent was started for another folder: start it for the one that your editor has open.",
          );
        }
        client.ref.tell("update", {
          sessionId,
          update: { sessionUpdate: "available_commands_update", availableCommands },
        });
        return {};
      },
      async *prompt({ prompt, client, sessionId }) {
        const { signal } = ctx;
        permission.by({ client, sessionId });
        turns.push({ role: "person", text: prompt.map(textOf).join("\n") });
        for (let step = 0; step < MOST_STEPS; step++) {
          turns.splice(0, turns.length - MOST_TURNS);
          const move = await ask(model, turns, tools.declarations, signal);
          if ("answer" in move) {
            turns.push({ role: "agent", text: move.answer });
            yield agentText(move.answer);
            return;
          }
          const result = yield* perform(move, signal);
          turns.push({ role: "tool", name: move.call, input: move.input, result });
        }
        yield turnEnd("max_turn_requests");
      },
    };
  };

/** Asks the model. A failure becomes an error that the editor shows; the session stays. */
async function ask(model: Model, ...args: Parameters<Model>): Promise<Move> {
  try {
    return await model(...args);
  } catch (thrown) {
    throw new RpcError(-32_603, `The model could not be asked. ${thrown instanceof Error ? thrown.message : ""}`);
  }
}

const textContent = (text: string): ToolCallContent => ({ type: "content", content: { type: "text", text } });
const textOf = (block: ContentBlock): string =>
  block.type === "text" ? block.text : block.type === "resource_link" ? block.uri : "";

const lineOf = ({ done, total, note }: Progress): string =>
  [note, total === undefined ? done : `${done} of ${total}`].filter((part) => part !== undefined).join(": ");

/** The beginning of a result, for people. The model sees all of it. */
function shortOf(result: ToolResult): string {
  const text = JSON.stringify(result.ok ? result.value : result.error);
  return text.length > 2_000 ? `${text.slice(0, 2_000).toWellFormed()}…` : text;
}

/** True for the folder, and for what is below it; links are followed first. */
function isWithin(folder: string, path: string): boolean {
  try {
    const [first] = relative(realpathSync(folder), realpathSync(path)).split("/");
    return first !== "..";
  } catch {
    return false;
  }
}
