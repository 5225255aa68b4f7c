import { PlannerFault } from "../fault";

/** Longest line, in UTF-16 code units: one that never ends fills no memory. */
const LONGEST_LINE = 1_000_000;

/** The data of each event of a stream of server-sent events; an event that the end cuts off is none. */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of linesOf(body)) {
    if (line === "") {
      if (data.length > 0) yield data.join("\n");
      data = [];
    } else if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    // A CR at the end may be half of a CR LF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST_LINE) throw new PlannerFault("The endpoint sent a line that does not end.", true);
    yield* lines;
  }
}
