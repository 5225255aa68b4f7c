import { publicError, StreamError } from "../index";
import type { Endpoint, Site, Visit } from "./contract";

/** Answers with the items of a stream as server-sent events. */
export function openStream(site: Site, visit: Visit, { actor, operation }: Endpoint, payload: unknown): Response {
  const release = site.enter(visit.owner, "streams");
  if (release instanceof Response) return release;
  visit.server?.timeout(visit.request, 0); // Else Bun ends a stream that is quiet for 10 seconds.
  const items = actor.door.stream(operation.name, payload, {
    ...(visit.metadata !== undefined && { metadata: visit.metadata }),
  });
  items.ready(1); // Begins it.
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(": open\n\n")); // Bun sends the headers with the first chunk.
    },
    async pull(controller) {
      try {
        const step = await items.next();
        if (step.done !== true) {
          const text = [step.value, ...items.ready(99)].map((item) => `data: ${JSON.stringify(item)}\n\n`).join("");
          return controller.enqueue(encoder.encode(text));
        }
      } catch (thrown) {
        if (!(thrown instanceof StreamError)) throw thrown;
        controller.enqueue(encoder.encode(`event: error\ndata: ${JSON.stringify(publicError(thrown))}\n\n`));
      }
      release();
      controller.close();
    },
    cancel() {
      release();
      void items.return();
    },
  });
  return new Response(body, { headers: EVENT_STREAM });
}

const EVENT_STREAM = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no", // nginx would hold the events back.
};
