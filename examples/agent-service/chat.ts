import { Type } from "envoi";
import { Value } from "typebox/value";
import type { Model, ToolResult, Turn } from "./model";

/** Where a model is asked. */
export interface Endpoint {
  /** Up to what comes before `/chat/completions`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Undefined for a server that wants none. */
  readonly key: string | undefined;
}

/** The endpoint that the environment names; undefined where it names none. */
export function endpointIn(env: Readonly<Record<string, string | undefined>>): Endpoint | undefined {
  const { OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: model, OPENAI_API_KEY: key } = env;
  return baseUrl && model ? { baseUrl: baseUrl.replace(/\/+$/, ""), model, key: key || undefined } : undefined;
}

/** What of an answer is needed; whatever else a server sends is let be. */
const Call = Type.Object({ function: Type.Object({ name: Type.String(), arguments: Type.String() }) });
const Completion = Type.Object({
  choices: Type.Array(
    Type.Object({
      message: Type.Object({
        content: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        tool_calls: Type.Optional(Type.Union([Type.Array(Call), Type.Null()])),
      }),
    }),
    { minItems: 1 },
  ),
});

/** Longest result that a model is shown, in characters. */
const LONGEST = 20_000;

/** Asks a model by the protocol of chat completions: one call at a time. It throws where no answer comes. */
export function chatModel({ baseUrl, model, key }: Endpoint): Model {
  return async (turns, tools, signal) => {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, messages: turns.flatMap(messagesOf), tools, parallel_tool_calls: false }),
      signal,
    });
    if (!response.ok) throw new Error(`The model answered with the status ${response.status}.`);
    const answer: unknown = await response.json();
    if (!Value.Check(Completion, answer)) throw new Error("The model's answer is no chat completion.");
    const said = answer.choices[0]?.message;
    const call = said?.tool_calls?.[0]?.function;
    if (call === undefined) return { answer: said?.content ?? "" };
    return { why: said?.content || call.name, call: call.name, input: parsed(call.arguments) };
  };
}

/** The arguments of a call. What is no JSON stays a text: the tool refuses it, and the model learns why. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function messagesOf(turn: Turn, at: number): object[] {
  if (turn.role === "person") return [{ role: "user", content: turn.text }];
  if (turn.role === "agent") return [{ role: "assistant", content: turn.text }];
  const { name, input, result } = turn;
  const call = { name, arguments: typeof input === "string" ? input : JSON.stringify(input) };
  return [
    { role: "assistant", content: null, tool_calls: [{ id: `call-${at}`, type: "function", function: call }] },
    { role: "tool", tool_call_id: `call-${at}`, content: textOf(result) },
  ];
}

function textOf(result: ToolResult): string {
  const text = JSON.stringify(result.ok ? { value: result.value } : { error: result.error });
  return text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}… (cut: ask for less)` : text;
}
