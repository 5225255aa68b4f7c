import { afterEach } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { System } from "../../src/index";
import { type RecorderOptions, type Recording, recorder } from "../../src/record/index";

/** A line of a recording, as it stands in the file. */
export interface Line {
  readonly kind: "header" | "message" | "item" | "end" | "dropped" | "close";
  readonly id?: number;
  readonly of?: number;
  readonly at?: number;
  readonly to?: string;
  readonly from?: string;
  readonly operation?: string;
  readonly pattern?: string;
  readonly cause?: number;
  readonly outcome?: string;
  readonly payload?: unknown;
  readonly value?: unknown;
  readonly [member: string]: unknown;
}

/** Folders that are gone after each test. Call it once at the top of a test file. */
export function folders(): () => string {
  const made: string[] = [];
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = mkdtempSync(join(tmpdir(), "envoi-record-"));
    made.push(folder);
    return folder;
  };
}

export const linesIn = (path: string): Line[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

/** Records a system until `lines` is called. */
export function record(
  system: System,
  folder: string,
  options: Omit<RecorderOptions, "to"> = {},
): { readonly recording: Recording; readonly path: string; lines(): Promise<Line[]> } {
  const path = join(folder, "run.ndjson");
  const recording = recorder(system, { to: path, ...options });
  return {
    recording,
    path,
    async lines() {
      await recording.close();
      return linesIn(path);
    },
  };
}

/** Each message with its end, as one text: `1 tell @(a) add 7 by @(b) <3: handled`. */
export function story(lines: readonly Line[]): string[] {
  const ends = new Map<number, string[]>();
  for (const { kind, of = 0, outcome, value, reason, error, by, carried } of lines) {
    if (kind !== "end" && kind !== "item") continue;
    const words = [
      kind === "item" ? `item ${JSON.stringify(value)}` : outcome,
      kind === "end" && value !== undefined && JSON.stringify(value),
      reason,
      error !== undefined && (error as Error).message,
      by !== undefined && `by ${by}`,
      carried === true && "carried",
    ];
    ends.set(of, [...(ends.get(of) ?? []), words.filter(Boolean).join(" ")]);
  }
  return lines
    .filter(({ kind }) => kind === "message")
    .map((line) => {
      const { id = 0, pattern, to, operation, payload, from, cause, door, forwarded, world, outside } = line;
      const words = [
        `${id} ${pattern} ${to} ${operation}`,
        payload !== undefined && JSON.stringify(payload),
        from !== undefined && `from ${from}`,
        cause !== undefined && `<${cause}`,
        door === true && "door",
        forwarded === true && "forwarded",
        world === true && `world ${outside}`,
      ];
      return `${words.filter(Boolean).join(" ")}: ${ends.get(id)?.join(", ") ?? "-"}`;
    });
}
