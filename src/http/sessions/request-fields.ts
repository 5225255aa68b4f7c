import { refuse } from "../problem";

// Reads the fields of requests about sessions, or gives the refusal.

/** The idempotency key of a request, null for none. */
export function keyOf({ headers }: Request): string | null | Response {
  const key = headers.get("idempotency-key");
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  return refuse("bad-request", "An Idempotency-Key has 1 to 255 visible ASCII characters, such as a UUID.");
}

/** The place in the log from which a client resumes, null for the beginning. It lies between two events in the AI SDK's form. */
export function placeOf({ headers }: Request, query: string | null): number | null | Response {
  const text = headers.get("last-event-id") || query;
  if (text === null) return null;
  if (/^\d{1,15}(?:\.\d{1,3})?$/.test(text)) return Number(text);
  return refuse("bad-request", "The place in the log is the id of an event: send that of the last one that you have.");
}

export function numberIn(text: string | null, what: string): number | null | Response {
  if (text === null) return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : refuse("bad-request", `The ${what} is a whole number.`);
}

/** The members of a body, which has no others. */
export function fieldsOf(body: unknown, names: readonly string[]): Readonly<Record<string, unknown>> | Response {
  const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
  // An object that JSON.parse made.
  if (isObject && Object.keys(body).every((name) => names.includes(name))) return body as Record<string, unknown>;
  return refuse("bad-request", `The body is a JSON object of ${names.join(" and ")} alone.`);
}
