import type { RecordingLine } from "../../record/index";
import { withoutHashes } from "../../record/transforms/redacted";

/** A message as it is compared: without its times and its id. */
export interface Compared {
  readonly id: number;
  /** The sender, the receiver and the operation. Messages are matched by it, in order. */
  readonly key: string;
  /** A hash of what was sent and what came of it. */
  hash: string;
}

/** The content and the outcome of a message. Members that are not there are undefined. */
export interface Content {
  payload?: unknown;
  metadata?: unknown;
  items?: unknown[];
  outcome?: string;
  reply?: unknown;
  error?: unknown;
  reason?: string;
}

/** Parts that are not compared: `["reply", "id"]`, in which `*` stands for each item or member. */
export type Ignored = readonly (readonly string[])[];

/** The messages of a recording, with what came of each, in the order in which they ended; those without an end come last. */
export async function* contentsOf(
  recording: AsyncIterable<RecordingLine>,
  isWanted: (id: number) => boolean = () => true,
): AsyncGenerator<{ readonly id: number; readonly key: string; readonly content: Content }> {
  const open = new Map<number, { readonly id: number; readonly key: string; readonly content: Content }>();
  for await (const line of recording) {
    if (line.kind === "message") {
      const { id, pattern, from = "outside", to, operation, payload, metadata } = line;
      if (!isWanted(id)) continue;
      open.set(id, { id, key: `${pattern} ${from} → ${to} ${operation}`, content: { payload, metadata } });
    } else if (line.kind === "item" || line.kind === "end") {
      const one = open.get(line.of);
      if (one === undefined) continue;
      if (line.kind === "item") {
        one.content.items ??= [];
        one.content.items.push(line.value);
      } else if (line.outcome !== "stashed") {
        open.delete(line.of);
        Object.assign(one.content, {
          outcome: line.outcome,
          reply: line.value,
          error: line.error,
          reason: line.reason,
        });
        yield one;
      }
    }
  }
  yield* open.values();
}

/** The rules by which contents are compared. */
export interface How {
  readonly ignored: Ignored;
  /** False where the hashes of the recordings are by different keys: they say nothing then. */
  readonly sharesKey: boolean;
}

/** The compared part of a message: without what is ignored, and the members of each object in order. */
export function comparable(content: Content, { ignored, sharesKey }: How): unknown {
  const left = ignored.reduce<unknown>(without, content);
  return ordered(sharesKey ? left : withoutKeyed(left));
}

function withoutKeyed(value: unknown): unknown {
  if (typeof value === "string") return withoutHashes(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutKeyed);
  const isTag = (key: string): boolean => key === "$large" || key === "$binary";
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      isTag(key) && typeof each === "object" ? { ...each, sha256: undefined } : withoutKeyed(each),
    ]),
  );
}

function without(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return undefined;
  if (typeof value !== "object" || value === null) return value;
  const change = (key: string, each: unknown): unknown => (name === "*" || name === key ? without(each, rest) : each);
  if (Array.isArray(value)) return value.map((each, index) => change(String(index), each));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(key, each)]));
}

function ordered(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, ordered(each)]),
  );
}
