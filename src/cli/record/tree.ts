import type { RecordingReader } from "../../record/index";
import { UsageError } from "../arguments";
import type { Terminal } from "../terminal";
import { type Exchange, summaryOf } from "./summary";

/** Messages that one tree is made of at most: all of them are in memory. */
const MOST = 100_000;
/** The deepest branch that is drawn further in. */
const DEEPEST = 60;

/** The ids of a message, of those that led to it, and of those that it led to. @throws UsageError if it is not there. */
export async function familyOf(recording: RecordingReader, id: number): Promise<ReadonlySet<number>> {
  const causes = new Map<number, number | undefined>();
  for await (const line of recording) if (line.kind === "message") causes.set(line.id, line.cause);
  if (!causes.has(id)) throw new UsageError(`There is no message ${id} in ${recording.paths[0]}.`);
  const family = new Set<number>();
  for (let each: number | undefined = id; each !== undefined && !family.has(each); each = causes.get(each))
    family.add(each);
  // A message has a higher id than its cause.
  const below = new Set([id]);
  for (const [each, cause] of causes) if (cause !== undefined && below.has(cause)) below.add(each);
  return family.union(below);
}

/** Shows messages below those whose handlers sent them. @param family the ids of those to show; all where it is undefined. */
export async function showTree(
  recording: RecordingReader,
  family: ReadonlySet<number> | undefined,
  terminal: Terminal,
): Promise<void> {
  const nodes = new Map<number, Exchange>();
  const children = new Map<number, number[]>();
  const roots: number[] = [];
  for await (const line of recording) {
    if (line.kind === "message" && (family === undefined || family.has(line.id))) {
      if (nodes.size === MOST) throw new UsageError(`There are more than ${MOST} messages: name one by --id.`);
      nodes.set(line.id, { message: line, items: 0 });
      const siblings = line.cause !== undefined && nodes.has(line.cause) ? children.get(line.cause) : roots;
      if (siblings === undefined)
        children.set(line.cause as number, [line.id]); // It has a cause: else it is a root.
      else siblings.push(line.id);
    } else if (line.kind === "item" || line.kind === "end") {
      const node = nodes.get(line.of);
      if (node === undefined) continue;
      if (line.kind === "item") node.items++;
      else node.end = line;
    }
  }
  // A list in place of calls: a chain of causes may be longer than a stack.
  const left = roots.toReversed().map((id) => ({ id, before: "", here: "", depth: 0 }));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { id, before, here, depth } = next;
    const exchange = nodes.get(id);
    if (exchange === undefined) continue;
    await terminal.out(`${here}${id} ${summaryOf(exchange)}\n`);
    const own = children.get(id) ?? [];
    for (const [index, child] of [...own.entries()].toReversed()) {
      const isLast = index === own.length - 1;
      const deeper = depth < DEEPEST ? `${before}${isLast ? "   " : "│  "}` : before;
      left.push({ id: child, before: deeper, here: `${before}${isLast ? "└─ " : "├─ "}`, depth: depth + 1 });
    }
  }
}
