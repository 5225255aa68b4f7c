import type { HeaderLine, RecordingLine } from "../../record/index";
import type { Exchange } from "./summary";

/** Messages that wait for one before them to end. One that runs longer is shown without its end, which comes on a line of its own. */
const MOST_WAITING = 1_000;

/** The events that a reader of messages gets, in the order of the messages. */
export type Told =
  | { readonly kind: "header"; readonly header: HeaderLine }
  /** A message, with its outcome where it is known. */
  | { readonly kind: "message"; readonly exchange: Exchange }
  /** The end of a message that was told without. */
  | { readonly kind: "late"; readonly exchange: Exchange }
  | { readonly kind: "dropped"; readonly at: number; readonly lines: number; readonly messages: number };

/** Puts messages and their ends together, within bounded memory: a message is told once it has ended, and those before it. */
export async function* exchangesOf(lines: AsyncIterable<RecordingLine>): AsyncGenerator<Told> {
  const open = new Map<number, Exchange>();
  /** In the order of the messages. */
  let waiting: (Exchange | Told)[] = [];
  const late = new Set<Exchange>();
  const isReady = (each: Exchange | Told): boolean =>
    "kind" in each || (each.end !== undefined && each.end.outcome !== "stashed");
  const told = (each: Exchange | Told): Told => ("kind" in each ? each : { kind: "message", exchange: each });
  for await (const line of lines) {
    if (line.kind === "header") yield { kind: "header", header: line };
    else if (line.kind === "dropped") waiting.push({ ...line });
    else if (line.kind === "message") {
      const exchange: Exchange = { message: line, items: 0 };
      open.set(line.id, exchange);
      waiting.push(exchange);
    } else if (line.kind === "item" || line.kind === "end") {
      const exchange = open.get(line.of);
      if (exchange === undefined) continue; // The message was dropped, or is in a part that is missing.
      if (line.kind === "item") exchange.items++;
      else {
        exchange.end = line;
        if (line.outcome !== "stashed") open.delete(line.of);
        if (late.delete(exchange)) yield { kind: "late", exchange };
      }
    }
    let first = 0;
    for (let each = waiting[first]; each !== undefined; each = waiting[++first]) {
      if (!isReady(each)) {
        if (waiting.length - first <= MOST_WAITING) break;
        late.add(each as Exchange); // Only an exchange can be not ready.
      }
      yield told(each);
      if (late.has(each as Exchange)) forgetValues(each as Exchange);
    }
    if (first > 0) waiting = waiting.slice(first);
  }
  for (const each of waiting) yield told(each);
}

/** Frees what was shown already: a message that never ends is kept to the end. */
function forgetValues(exchange: Exchange): void {
  const { payload: _, metadata: __, ...rest } = exchange.message;
  exchange.message = rest;
}
