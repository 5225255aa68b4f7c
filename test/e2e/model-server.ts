/** What a planner sent to a model. */
export interface Asked {
  readonly url: string;
  readonly authorization: string | null;
  readonly body: {
    readonly model: string;
    readonly stream: boolean;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  };
}

type Answer = Response | string | Promise<Response | string>;

/** A server that speaks the protocol of chat completions, as far as a planner needs it; a text is streamed as a model's answer. */
export function modelServer(answer: (asked: Asked, number: number) => Answer) {
  const asked: Asked[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const body = (await request.json()) as Asked["body"]; // Looked at by the tests.
      asked.push({ url: pathname, authorization: request.headers.get("authorization"), body });
      const given = await answer(asked.at(-1) as Asked, asked.length); // It was just put there.
      return typeof given === "string" ? new Response(streamed(given), { headers }) : given;
    },
  });
  return { asked, baseUrl: `http://127.0.0.1:${server.port}/v1`, [Symbol.asyncDispose]: () => server.stop(true) };
}

export const headers = { "content-type": "text/event-stream" };

/** An event with a piece of an answer. */
export const piece = (content: string, reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content }, finish_reason: reason }] })}\n\n`;

/** An answer in pieces of a few letters, whose events are cut at odd bytes. */
function streamed(answer: string): ReadableStream<Uint8Array> {
  const pieces = answer.match(/[\s\S]{1,9}/gu) ?? [];
  const role = `data: ${JSON.stringify({ choices: [{ delta: { role: "assistant", content: null } }] })}\n\n`;
  const usage = `data: ${JSON.stringify({ choices: [], usage: { total_tokens: 1 } })}\n\n`;
  const text = `: a comment\n\n${role}${pieces.map((each) => piece(each)).join("")}${usage}${piece("", "stop")}data: [DONE]\n\n`;
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.slice(at, at + 37));
      at += 37;
      if (at >= bytes.length) controller.close();
    },
  });
}

/** Events as they are given, and then the end. */
export const events = (...parts: readonly string[]): Response => new Response(parts.join(""), { headers });

/** A model's answer that holds a step. */
export const saying = (thought: string, step: object): string =>
  `${thought}\n\n\`\`\`json\n${JSON.stringify(step)}\n\`\`\`\n`;
