import type { OpenAiTool } from "envoi/tools";

/** What was said and done so far, in its order. */
export type Turn =
  | { readonly role: "person"; readonly text: string }
  | { readonly role: "tool"; readonly name: string; readonly input: unknown; readonly result: ToolResult }
  | { readonly role: "agent"; readonly text: string };

export type ToolResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/** What a model wants: a call of a tool, or the end. */
export type Move =
  | { readonly why: string; readonly call: string; readonly input: unknown }
  | { readonly answer: string };

/** Says what to do next. It keeps nothing: it is sent all that happened so far, so that it can go on in another process. */
export type Model = (turns: readonly Turn[], tools: readonly OpenAiTool[], signal: AbortSignal) => Promise<Move>;

/** Counts words. It runs in the sandbox, where it reads files by its tool. */
const COUNT = `
const texts = [];
for (const path of input.paths) {
  const read = await tools.files.read({ path });
  if (!read.ok) throw new Error(read.error.message);
  texts.push(read.value.content);
}
const words = texts.join("\\n").toLowerCase().match(/[\\p{L}\\p{N}]+/gu) ?? [];
const counts = new Map();
for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
const most = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 5);
return { messages: texts.length, words: words.length, different: counts.size, most };
`.trim();

interface Counted {
  readonly messages: number;
  readonly words: number;
  readonly different: number;
  readonly most: readonly (readonly [word: string, times: number])[];
}

/**
 * A model that follows a plan, so that the example needs no network: it keeps each message as a file, counts the words of all of
 * them by code in the sandbox, and writes a report. chat.ts has one that asks a server by the protocol of chat completions.
 */
export const planned: Model = async (turns) => {
  const start = turns.findLastIndex(({ role }) => role === "person");
  const done = turns.slice(start + 1).flatMap((turn) => (turn.role === "tool" ? [turn.result] : []));
  const failure = done.find((result) => !result.ok);
  if (failure?.ok === false) return { answer: `I cannot go on: ${JSON.stringify(failure.error)}` };
  const values = done.map((result) => (result.ok ? result.value : undefined));
  const { value: counted } = (values[2] ?? {}) as { value?: Counted }; // The reply of the code actor: what COUNT returns.
  switch (done.length) {
    case 0: {
      const kept = turns.filter(({ role }, index) => role === "person" && turns[index + 1]?.role === "tool").length;
      const path = `messages/${String(kept + 1).padStart(3, "0")}.txt`;
      return { why: "Keep the message", call: "files_write", input: { path, content: textAt(turns, start) } };
    }
    case 1:
      return { why: "Look at all messages so far", call: "files_list", input: { path: "messages" } };
    case 2: {
      const { entries } = values[1] as { entries: readonly { path: string }[] }; // The reply of the file actor.
      const input = { paths: entries.map(({ path }) => path) };
      return { why: "Count their words", call: "code_execute", input: { code: COUNT, input } };
    }
    case 3:
      return {
        why: "Write a report",
        call: "files_write",
        input: { path: "report.md", content: reportOf(counted) },
      };
    case 4:
      return { why: "Read it once more", call: "files_read", input: { path: "report.md" } };
    default:
      return { answer: answerOf(counted) };
  }
};

function textAt(turns: readonly Turn[], index: number): string {
  const turn = turns[index];
  return turn?.role === "person" ? turn.text : "";
}

function reportOf({ messages, words, most }: Counted = NOTHING): string {
  const rows = most.map(([word, times]) => `| ${word} | ${times} |`);
  return [
    `# ${words} words in ${messages} ${messages === 1 ? "message" : "messages"}`,
    "",
    "| word | times |",
    "| --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function answerOf({ messages, words, different, most }: Counted = NOTHING): string {
  const said = messages === 1 ? "Your message has" : `Your ${messages} messages have`;
  const often = most.map(([word, times]) => `“${word}” (${times})`).join(", ");
  return `${said} ${words} words, ${different} of them different. Most often: ${often || "none"}. The report is in report.md.`;
}

const NOTHING: Counted = { messages: 0, words: 0, different: 0, most: [] };
