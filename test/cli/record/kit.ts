import { writeFileSync } from "node:fs";
import { record } from "../../../src/cli/record/record";
import type { MessageLine, RecordingLine } from "../../../src/record/index";
import { createFolder, headerOf } from "../../record/files/folder";

export { createFolder };

/** Runs `envoi record …`, and gives what it said. */
export async function run(...argv: string[]): Promise<{ status: number; out: string; err: string }> {
  const said = { out: "", err: "" };
  const status = await record(argv, {
    out: async (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
  });
  return { status, ...said };
}

export const message = (id: number, more: Partial<MessageLine> = {}): MessageLine => ({
  kind: "message",
  id,
  at: id,
  pattern: "ask",
  to: "@(agent)",
  operation: "run",
  ...more,
});

export const handled = (of: number, value?: unknown): RecordingLine => ({
  kind: "end",
  of,
  at: of + 1.5,
  outcome: "handled",
  value,
});

/** Writes a recording, with a header and its end. */
export function write(path: string, lines: readonly RecordingLine[], id = path): string {
  const close = { kind: "close", at: 1_000, lines: lines.length };
  writeFileSync(path, [headerOf(id), ...lines, close].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

/** The run of an agent that asks two tools, one of which fails. */
export const agentRun = (city = "Bern"): RecordingLine[] => [
  message(1, { payload: { task: "weather" }, metadata: { traceparent: "00-1" } }),
  message(2, { from: "@(agent)", cause: 1, to: "@(tools/map)", operation: "find", payload: { city } }),
  handled(2, { x: 7, y: 46 }),
  message(3, { from: "@(agent)", cause: 1, to: "@(model)", operation: "tokens", pattern: "stream", payload: "say it" }),
  { kind: "item", of: 3, at: 4, value: "Rain" },
  { kind: "item", of: 3, at: 5, value: ` in ${city}` },
  handled(3),
  message(4, {
    from: "@(model)",
    cause: 3,
    to: "@(tools/log)",
    operation: "add",
    pattern: "tell",
    payload: 'a "line"\n',
  }),
  { kind: "end", of: 4, at: 9, outcome: "failed", error: { name: "RangeError", message: "full" } },
  handled(1, `Rain in ${city}`),
  message(5, { pattern: "tell", to: "@(nobody)", door: true, operation: "hello" }),
  { kind: "end", of: 5, at: 12, outcome: "dead", reason: "no-recipient" },
];
