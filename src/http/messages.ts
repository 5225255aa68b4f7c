import { createErrorResponse, createResponse, type Metadata, parseMessage } from "../index";
import { readBody } from "./body";
import type { ExposedActor, Part, Site, Visit } from "./contract";
import { refuse } from "./problem";

/** `POST /messages`: takes a message in its wire form, and answers with its response in the wire form. */
export function messagesPart(site: Site): Part {
  const byAddress = new Map<string, ExposedActor>([...site.exposure.values()].map((actor) => [actor.address, actor]));

  async function post(visit: Visit): Promise<Response> {
    const body = await readBody(visit.request, site.limits, site.clock);
    if (body instanceof Response) return body;
    const parsed = parseMessage(body.value);
    if (parsed.isErr()) return refuse("bad-request", parsed.error.message);
    const message = parsed.value;
    const actor = byAddress.get(message.to);
    const endpoint = actor?.endpoints.get(message.type);
    if (actor === undefined || endpoint === undefined || message.pattern === "stream") {
      return refuse("not-found", "There is no such actor or operation for messages: /openapi.json lists them.");
    }
    const refusal = await site.authorize(visit, actor.name, message.type);
    if (refusal !== undefined) return refusal;
    const beside: { metadata?: Metadata } = visit.metadata === undefined ? {} : { metadata: visit.metadata };
    if (message.pattern === "tell") {
      const taken = await actor.door.offer(message.type, message.payload, { timeout: site.limits.time, ...beside });
      return taken.isOk()
        ? new Response(null, { status: 202 })
        : Response.json(createErrorResponse(message, taken.error));
    }
    const watched = site.disconnects.watch(visit.request);
    const { signal } = watched;
    const reply = await actor.door.ask(message.type, message.payload, { timeout: site.limits.time, signal, ...beside });
    watched.end();
    return Response.json(
      reply.match(
        (value) => createResponse(message, value),
        (error) => createErrorResponse(message, error),
      ),
    );
  }

  return {
    routes: [
      {
        method: "POST",
        path: "/messages",
        handle: post,
        description: {
          summary: "Takes a message in envoi's wire form, and answers with its response",
          body: { type: "object" },
          isBodyRequired: true,
          statuses: [202],
          answer: { type: "application/json", schema: { type: "object" } },
        },
      },
    ],
  };
}
