import type { AvailableCommand } from "envoi/acp";
import type { Model, Move, ToolResult, Turn } from "../agent-service/model";

/** A command of the agent: one call of a tool, and the text that shows its value. */
interface Command {
  readonly description: string;
  readonly hint: string;
  move(rest: string): Move;
  /** Shows the value of the tool's reply. */
  show(value: never): string;
}

const path = (rest: string): string => rest.trim();
const fenced = (text: string): string => `\`\`\`\n${text.trimEnd()}\n\`\`\``;
const shown = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""));

const COMMANDS: Readonly<Record<string, Command>> = {
  list: {
    description: "Lists a folder, and the folders in it.",
    hint: "folder",
    move: (rest) => ({
      why: `List ${path(rest) || "the folder"}`,
      call: "files_list",
      input: { path: path(rest), recursive: true, gitignore: true, limit: 200 },
    }),
    show: ({ entries }: { entries: readonly { path: string }[] }) =>
      fenced(entries.map((each) => each.path).join("\n")),
  },
  read: {
    description: "Reads a file.",
    hint: "file",
    move: (rest) => ({ why: `Read ${path(rest)}`, call: "files_read", input: { path: path(rest) } }),
    show: ({ content }: { content: string }) => fenced(content),
  },
  search: {
    description: "Finds a text in files.",
    hint: "text",
    move: (rest) => ({
      why: `Search for ${rest}`,
      call: "files_search",
      input: { text: rest, gitignore: true, maxResults: 50 },
    }),
    show: ({ items }: { items: readonly { path?: string; line?: number; excerpt?: string }[] }) =>
      items.flatMap((item) => (item.line ? [`${item.path}:${item.line}: ${item.excerpt}`] : [])).join("\n") ||
      "Nothing.",
  },
  write: {
    description: "Writes a file: its path, and its text on the lines below.",
    hint: "file, and its text on the next lines",
    move(rest) {
      const [first = "", ...lines] = rest.split("\n");
      const input = { path: path(first), content: lines.join("\n") };
      return { why: `Write ${input.path}`, call: "files_write", input };
    },
    show: ({ size }: { size: number }) => `Written: ${size} bytes.`,
  },
  run: {
    description: "Runs JavaScript in the sandbox. It finds tools.files, and says by progress(value) how far it is.",
    hint: "code",
    move: (rest) => ({ why: "Run code", call: "code_run", input: { code: rest } }),
    show: ({ value, logs }: { value?: unknown; logs: readonly { text: string }[] }) =>
      fenced([...logs.map(({ text }) => text), shown(value)].join("\n")),
  },
};

/** The commands, for clients that list them while a person types. */
export const availableCommands: readonly AvailableCommand[] = Object.entries(COMMANDS).map(
  ([name, { description, hint }]) => ({ name, description, input: { hint } }),
);

const HELP = [
  "I take these commands, and with a model any text:",
  ...Object.entries(COMMANDS).map(([name, { description, hint }]) => `- \`/${name} ${hint}\` ${description}`),
].join("\n");

/** Reads a person's text as a command; undefined for any other text. */
function commandIn(text: string): { readonly command: Command; readonly rest: string } | undefined {
  const [, name = "", rest = ""] = /^\/(\w+)[ \n]?(.*)$/s.exec(text.trimStart()) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command && { command, rest };
}

/**
 * A model that needs no network: it runs commands, and shows their results.
 *
 * @param otherwise the model for any other text. Default: one that lists the commands.
 */
export function commands(otherwise?: Model): Model {
  return async (turns, tools, signal) => {
    const start = turns.findLastIndex(({ role }) => role === "person");
    const person = turns[start];
    const found = person?.role === "person" ? commandIn(person.text) : undefined;
    if (found === undefined) return otherwise === undefined ? { answer: HELP } : otherwise(turns, tools, signal);
    const done: Turn | undefined = turns[start + 1];
    if (done?.role !== "tool") return found.command.move(found.rest);
    return { answer: answerOf(found.command, done.result) };
  };
}

function answerOf({ show }: Command, result: ToolResult): string {
  if (result.ok) return show(result.value as never); // Of the tool that the command calls.
  const { message } = result.error as { message: string }; // As callTool gives errors.
  return message;
}
