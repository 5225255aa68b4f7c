/** An event as an `EventSource` would show it, with the id that it would come back with. */
export interface ShownEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Takes text apart into events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function createEventParser(show: (event: ShownEvent) => void, lastId = ""): (text: string) => void {
  let rest = "";
  let id = lastId;
  return (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      let event = "message";
      const data: string[] = [];
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        const name = line.slice(0, colon);
        const value = line.slice(colon + 1).replace(/^ /, "");
        if (name === "data") data.push(value);
        else if (name === "event") event = value;
        else if (name === "id") id = value;
      }
      if (data.length > 0) show({ id, event, data: data.join("\n") });
    }
  };
}

/** Reads a response to its end, or until it is cut. */
export async function* eventsOf(response: Response, lastId = ""): AsyncGenerator<ShownEvent, void> {
  const ready: ShownEvent[] = [];
  const parse = createEventParser((event) => void ready.push(event), lastId);
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    parse(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
  }
}

/** The next events, and no more. */
export async function take(events: AsyncGenerator<ShownEvent, void>, count: number): Promise<ShownEvent[]> {
  const taken: ShownEvent[] = [];
  while (taken.length < count) {
    const step = await events.next();
    if (step.done === true) break;
    taken.push(step.value);
  }
  return taken;
}

/** The next events; then the reader leaves. */
export async function takeAndLeave(response: Response, count: number): Promise<ShownEvent[]> {
  const events = eventsOf(response);
  const taken = await take(events, count);
  await events.return();
  return taken;
}

export const dataOf = (events: readonly ShownEvent[]): unknown[] => events.map(({ data }) => JSON.parse(data));

export const post = (url: string, body: unknown, headers: Record<string, string> = {}, method = "POST"): Request =>
  new Request(url, { method, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
