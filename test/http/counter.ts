import { expect } from "bun:test";
import type { Gateway, Problem } from "../../src/http/index";
import { defineProtocol, type Factory, type SignaturesOf, Type } from "../../src/index";

export const Counter = defineProtocol("counter", {
  add: { payload: Type.Number(), reply: Type.Number() },
  total: { reply: Type.Number(), hints: { readOnly: true } },
  echo: { payload: Type.Unknown(), reply: Type.Unknown(), hints: { readOnly: true } },
  told: { reply: Type.Unknown() },
  fail: {},
  never: { reply: Type.Number() },
  reset: {},
  ticks: { payload: Type.Number(), stream: Type.Number(), hints: { readOnly: true } },
});

/** A counter that also echoes, tells what came beside a message, fails, and never replies. */
export const createCounter: Factory<SignaturesOf<typeof Counter>> = (ctx) => {
  let total = 0;
  return {
    add(n) {
      total += n;
      return total;
    },
    total: () => total,
    echo: (value) => value,
    told: () => ctx.metadata,
    fail() {
      throw new Error("the secret of /home/counter");
    },
    never: () => new Promise<number>(() => {}),
    reset() {
      total = 0;
    },
    async *ticks(most) {
      for (let n = 0; n < most; n++) yield n;
    },
  };
};

type Fetching = Pick<Gateway<unknown>, "fetch">;

/** Sends JSON. */
export const post = (
  gateway: Fetching,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> => send(gateway, path, JSON.stringify(body), headers);

/** Sends a text as a body of JSON. */
export const send = (
  gateway: Fetching,
  path: string,
  body: NonNullable<RequestInit["body"]> | undefined,
  headers: Record<string, string> = {},
): Promise<Response> =>
  gateway.fetch(
    new Request(`http://service${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body !== undefined && { body }),
    }),
  );

export const get = (gateway: Fetching, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  gateway.fetch(new Request(`http://service${path}`, { headers }));

/** Holds a response to being a refusal (RFC 9457) of a status and a kind, and gives its sentence. */
export async function expectProblem(response: Response, status: number, kind: Problem["kind"]): Promise<string> {
  const problem = (await response.json()) as Problem; // The next lines look whether it is one.
  expect({ status: response.status, type: response.headers.get("content-type"), problem }).toEqual({
    status,
    type: "application/problem+json",
    problem: { ...problem, status, kind },
  });
  expect(
    Object.keys(problem).filter((key) => !["title", "status", "detail", "kind", "retryable", "issues"].includes(key)),
  ).toEqual([]);
  expect(problem.detail).toMatch(/^\S.*\.$/);
  expect(JSON.stringify(problem)).not.toMatch(/\/home|secret|at .*:\d+|src\//);
  return problem.detail;
}
