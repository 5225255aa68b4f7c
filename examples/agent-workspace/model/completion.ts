import { Type } from "envoi";
import { Value } from "typebox/value";
import { PlannerFault } from "../fault";
import type { Endpoint } from "./endpoint";
import { eventsOf } from "./server-sent-events";

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** What of a chunk is needed; whatever else a server sends is let be. */
const Chunk = Type.Object({
  choices: Type.Array(
    Type.Object({
      delta: Type.Optional(Type.Object({ content: Type.Optional(Type.Union([Type.String(), Type.Null()])) })),
      finish_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    }),
  ),
});
/** Some servers send this in the midst of a stream, under the status 200. */
const Refusal = Type.Object({ error: Type.Union([Type.String(), Type.Object({ message: Type.String() })]) });

/** Longest answer, in UTF-16 code units. */
const LONGEST = 200_000;

/**
 * Asks a model by the protocol of chat completions, and gives its answer piece by piece.
 *
 * @param patience longest wait for the next piece, in milliseconds.
 * @throws PlannerFault where no whole answer comes.
 */
export async function* completion(
  { baseUrl, model, key }: Endpoint,
  messages: readonly ChatMessage[],
  patience: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), patience);
  try {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, messages, stream: true, temperature: 0 }),
      signal: AbortSignal.any([silence.signal, signal]),
    });
    if (!response.ok) throw await refusalOf(response, baseUrl);
    if (response.body === null) throw new PlannerFault("The endpoint answered without a body.", true);
    let length = 0;
    for await (const data of eventsOf(response.body)) {
      if (data === "[DONE]") return;
      const { text, isLast } = read(data);
      length += text.length;
      if (length > LONGEST) throw new PlannerFault(`The model's answer is longer than ${LONGEST} characters.`, false);
      if (text !== "") yield text;
      timer.refresh(); // Here: what was done with the piece is not the endpoint's time.
      if (isLast) return;
    }
    throw new PlannerFault("The endpoint cut its answer off.", true);
  } catch (thrown) {
    if (thrown instanceof PlannerFault || signal.aborted) throw thrown;
    if (silence.signal.aborted) {
      throw new PlannerFault(`The endpoint was silent for ${patience / 1000} s.`, true);
    }
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new PlannerFault(`The endpoint at ${baseUrl} cannot be reached, or cut its answer off: ${reason}`, true);
  } finally {
    clearTimeout(timer);
    silence.abort(); // Closes the connection, also where the reader has left.
  }
}

function read(data: string): { readonly text: string; readonly isLast: boolean } {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    throw new PlannerFault(`The endpoint sent what is no JSON: ${excerpt(data)}`, true);
  }
  if (Value.Check(Refusal, chunk)) {
    const { error } = chunk;
    throw new PlannerFault(`The endpoint failed: ${excerpt(typeof error === "string" ? error : error.message)}`, true);
  }
  if (!Value.Check(Chunk, chunk)) {
    throw new PlannerFault(`The endpoint sent what is no piece of a chat completion: ${excerpt(data)}`, true);
  }
  const [choice] = chunk.choices; // None in a chunk that tells the usage.
  const reason = choice?.finish_reason ?? null;
  if (reason === "length" || reason === "content_filter") {
    throw new PlannerFault(`The model stopped before its answer was whole (${reason}).`, false);
  }
  return { text: choice?.delta?.content ?? "", isLast: reason !== null };
}

/** A status that tells of a busy or a broken server may pass; that of a wrong key, URL or model does not. */
async function refusalOf(response: Response, baseUrl: string): Promise<PlannerFault> {
  const { status } = response;
  const body = excerpt(await response.text());
  const message = `The endpoint at ${baseUrl} answered with the status ${status}: ${body || "nothing more"}`;
  return new PlannerFault(message, status === 408 || status === 429 || status >= 500);
}

const excerpt = (text: string): string => (text.length > 300 ? `${text.slice(0, 300).toWellFormed()}…` : text);
