/** The agent's move after a prompt: a call of a tool, or an answer. */
export type Move =
  | { readonly tool: string; readonly title: string; readonly input: object }
  | { readonly answer: string };

/** Decides by a few words: **replace this by your model**. `toolsFor` in session.ts has the declarations that it needs. */
export function decide(text: string): Move {
  const [, word, rest = ""] = /^(add|remove|list)\b\s*(.*)$/s.exec(text.trim()) ?? [];
  if (word === "add") return { tool: "tasks_add", title: `Add “${rest}”`, input: { text: rest } };
  if (word === "remove") return { tool: "tasks_remove", title: `Remove task ${rest}`, input: { id: Number(rest) } };
  if (word === "list") return { tool: "tasks_list", title: "List the tasks", input: {} };
  return { answer: "Say: add TEXT, remove NUMBER, or list." };
}
