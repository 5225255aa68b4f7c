import type { Handle, MetricFamily, Part, PartMaker, Route, RouteDescription, Site } from "../contract";
import { familyOf } from "../metric-family";
import { refuse } from "../problem";
import { AI_SDK, formatOf } from "../streams/event-format";
import { codeOf } from "./database";
import { MessageRequests, type SessionOperation } from "./message-requests";
import { checkSessionsOptions, DEFAULTS, listedIn, type SessionsOptions } from "./options";
import { RESTARTS, SessionBook, StillRunning } from "./session-book";
import { MOST, SessionRequests } from "./session-requests";
import { WriteError } from "./writer";

/**
 * Keeps sessions in a file of SQLite, each with an actor of its own: they survive the process, and a client that was cut off resumes
 * where it was.
 *
 * @param given the option `sessions` of a gateway.
 * @throws TypeError or RangeError when an option cannot be one; Error, when the part is made, if the file cannot be used: another
 * gateway has it, it is damaged, read-only, of a newer version or of another program, or the disk is full.
 */
export function sessionsPart(given: unknown): PartMaker {
  // The compiler has checked the factory and the operations against the protocol (createGateway); the rest handles them by name.
  const options = given as SessionsOptions<unknown>;
  checkSessionsOptions(options);
  return (site) => partOf(site, options);
}

function partOf(site: Site, options: SessionsOptions<unknown>): Part {
  const operations = operationsOf(options);
  const book = new SessionBook(site, options);
  const sessions = new SessionRequests(site, book, options.sessions ?? DEFAULTS.sessions);
  const messages = new MessageRequests(site, book, operations, options.messages ?? DEFAULTS.messages);
  return {
    routes: routesOf(book, sessions, messages, operations),
    metrics: () => metricsOf(book, messages),
    close: () => book.close(),
    async drain(signal) {
      const stop = (): void => book.stopAll(RESTARTS);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      await book.allEnded();
    },
  };
}

/** The exposed operations, compiled: the first message would wait for that. */
function operationsOf({ protocol, operations }: SessionsOptions<unknown>): ReadonlyMap<string, SessionOperation> {
  const exposed = new Map<string, SessionOperation>();
  for (const [name, options] of listedIn(operations)) {
    const operation = protocol.operations[name];
    if (operation === undefined) continue; // It has been checked.
    operation.payload.parse(undefined);
    exposed.set(name, { operation, format: formatOf(options === true ? {} : options) });
  }
  return exposed;
}

function routesOf(
  book: SessionBook,
  sessions: SessionRequests,
  messages: MessageRequests,
  operations: ReadonlyMap<string, SessionOperation>,
): readonly Route[] {
  const at = `/${book.name}`;
  const route = (method: Route["method"], path: string, handle: Handle, description: RouteDescription): Route => ({
    method,
    path: `${at}${path}`,
    handle: guarded(book, handle),
    description,
  });
  const hasChats = [...operations.values()].some(({ format }) => format === AI_SDK);
  const chat = route("GET", "/:id/messages/:chat/stream", (visit) => messages.readChat(visit), {
    summary: "Gives the AI SDK's hooks the stream that a chat waits for; 204 if there is none",
    statuses: [204, 404, 410, 429],
    answer: { type: "text/event-stream", schema: { type: "string" } },
  });
  return [
    route("POST", "", (visit) => sessions.create(visit), {
      summary: "Makes a session",
      body: { type: "object", properties: { metadata: { type: "object" } }, additionalProperties: false },
      statuses: [201, 409, 429],
    }),
    route("GET", "", (visit) => sessions.list(visit), {
      summary: "Lists the caller's sessions, the newest first",
      query: { limit: { type: "integer", minimum: 1, maximum: MOST }, after: { type: "string" } },
      answer: {
        type: "application/json",
        schema: {
          type: "object",
          properties: { sessions: { type: "array", items: SESSION_SCHEMA }, next: { type: "string" } },
          required: ["sessions"],
        },
      },
    }),
    route("GET", "/:id", (visit) => sessions.show(visit), {
      summary: "Shows a session",
      statuses: [404],
      answer: { type: "application/json", schema: SESSION_SCHEMA },
    }),
    route("DELETE", "/:id", (visit) => sessions.delete(visit), {
      summary: "Deletes a session with its events",
      statuses: [204, 404, 504],
    }),
    route("POST", "/:id/messages", (visit) => messages.send(visit), {
      summary: "Sends a message to the session's actor, and answers with its reply or its stream",
      body: {
        type: "object",
        properties: { operation: { enum: [...operations.keys()] }, payload: {} },
        required: ["operation"],
        additionalProperties: false,
      },
      isBodyRequired: true,
      statuses: [200, 202, 204, 404, 409, 410, 429, 500, 504],
    }),
    route("DELETE", "/:id/messages/:message", (visit) => messages.stop(visit), {
      summary: "Ends a message that is being answered",
      statuses: [204, 404],
    }),
    ...(hasChats ? [chat] : []),
    route("GET", "/:id/events", (visit) => messages.read(visit), {
      summary: "Streams the events of a session, or of one of its messages, from any place on",
      query: {
        after: { type: "number", minimum: 0 },
        message: { type: "integer", minimum: 1 },
        format: { enum: ["sse", "ai-sdk"] },
      },
      statuses: [204, 404, 410, 429],
      answer: { type: "text/event-stream", schema: { type: "string" } },
    }),
  ];
}

/** Answers 503 when the file cannot be read or written. The rest of the gateway goes on. */
function guarded(book: SessionBook, handle: Handle): Handle {
  const refused = (thrown: unknown): Response => {
    if (thrown instanceof StillRunning) {
      return refuse(
        "timeout",
        "The session is still there, because its actor did not stop in time: delete it again later.",
      );
    }
    if (!(thrown instanceof WriteError) && codeOf(thrown) === "") throw thrown;
    book.log.error(`Sessions could not be read or written: ${String(thrown)}`, { cause: thrown });
    return refuse("unavailable", "Sessions cannot be stored at this moment: try again later.");
  };
  return (visit) => {
    try {
      const answer = handle(visit);
      return answer instanceof Promise ? answer.catch(refused) : answer;
    } catch (thrown) {
      return refused(thrown);
    }
  };
}

function metricsOf(book: SessionBook, messages: MessageRequests): readonly MetricFamily[] {
  const family = (name: string, type: "counter" | "gauge", help: string, value: number): MetricFamily =>
    familyOf(type, `envoi_http_${name}`, help, value, { sessions: book.name });
  const { commits, failures } = book.store.writer;
  return [
    family("sessions", "gauge", "Sessions that are stored.", book.store.count),
    family("session_messages", "counter", "Messages to sessions.", messages.count),
    family("session_messages_running", "gauge", "Messages to sessions that are being answered.", book.running),
    family("session_commits", "counter", "Transactions that stored sessions and events.", commits),
    family("session_commit_failures", "counter", "Transactions that could not be stored.", failures),
  ];
}

const SESSION_SCHEMA = {
  type: "object",
  properties: {
    id: { type: "string" },
    metadata: { type: "object" },
    createdAt: { type: "string", format: "date-time" },
    usedAt: { type: "string", format: "date-time" },
    firstEvent: { type: "integer" },
    lastEvent: { type: "integer" },
    messages: { type: "integer" },
    running: { type: "integer" },
  },
  required: ["id", "metadata", "createdAt", "usedAt", "firstEvent", "lastEvent", "messages", "running"],
};
