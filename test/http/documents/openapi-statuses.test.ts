import { describe, expect, test } from "bun:test";
import { createGateway } from "../../../src/http/index";
import { address, createSystem, defineProtocol, Type } from "../../../src/index";
import { createManualClock } from "../../../src/testing/index";
import { documentOf, statusesOf } from "./openapi-document";

const Work = defineProtocol("work", {
  ask: { payload: Type.String(), reply: Type.String(), hints: { readOnly: true } },
  stream: { payload: Type.String(), stream: Type.String() },
  tell: {},
});

describe("the document has each status that can come, and no other:", () => {
  const clock = createManualClock();
  const system = createSystem({ clock, logger: { warn() {}, error() {} } });
  const worker = system.spawn(
    "worker",
    Work,
    (ctx) => ({
      ask(text) {
        if (text === "fail") throw new Error("secret");
        if (text === "nothing") return undefined as never; // As of a handler that is not type-checked.
        return text === "wait" ? new Promise<string>(() => ctx.onAbort(() => {})) : text;
      },
      async *stream(text) {
        yield text;
        await new Promise(() => {});
      },
      tell() {},
    }),
    { concurrency: 100 },
  );
  const stopped = system.spawn("stopped", Work, () => ({ ask: (text) => text, async *stream() {}, tell() {} }));
  const nobody = system.ref(address("nobody"), Work);
  const operations = ["ask", "stream", "tell"] as const;
  const gateway = createGateway(system, {
    expose: {
      worker: { ref: worker, operations },
      stopped: { ref: stopped, operations },
      nobody: { ref: nobody, operations },
    },
    authenticate: (request) => {
      const id = request.headers.get("x-caller") ?? "ann";
      return id === "stranger" ? undefined : { id };
    },
    authorize: (caller) => {
      if (caller?.id === "fault") throw new Error("secret");
      return caller?.id !== "bob";
    },
    limits: { body: 100, streams: 1, bodyTime: 1_000, time: 2_000 },
  });

  const post = (
    actor: string,
    operation: string,
    body: string | ReadableStream,
    headers: Record<string, string> = {},
  ): Request =>
    new Request(`http://x/actors/${actor}/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
  const slow = (): ReadableStream =>
    new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([34])) });
  const statusOf = async (request: Request): Promise<number> => {
    const answer = gateway.fetch(request);
    await clock.advance(3_000);
    const response = await answer;
    if (response.status >= 400) {
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(await response.text()).not.toContain("secret");
    }
    return response.status;
  };
  /** The statuses that requests to one operation can give, apart from those that are its own. */
  const common = (operation: string, payload = '"a"'): Request[] => [
    post("worker", operation, "{"),
    post("worker", operation, payload, { "x-caller": "stranger" }),
    post("worker", operation, payload, { "x-caller": "bob" }),
    post("worker", operation, payload, { "x-caller": "fault" }),
    post("worker", operation, payload, { accept: "image/png" }),
    post("nobody", operation, payload),
    post("worker", operation, slow()),
    post("worker", operation, `"${"a".repeat(200)}"`),
    post("worker", operation, '"a"', { "content-type": "text/plain" }),
    post("stopped", operation, payload),
  ];
  const given = async (requests: readonly Request[]): Promise<number[]> => {
    await system.stop(stopped);
    const statuses = new Set<number>();
    for (const request of requests) statuses.add(await statusOf(request));
    return [...statuses].sort((a, b) => a - b);
  };

  test("of an ask by POST", async () => {
    const statuses = await given([
      ...common("ask"),
      post("worker", "ask", '"a"'),
      post("worker", "ask", '"a"', { prefer: "respond-async" }),
      post("worker", "ask", '"wait"'),
      post("worker", "ask", '"fail"'),
    ]);
    expect(statuses).toEqual(statusesOf(await documentOf(gateway), "/actors/worker/ask", "post"));
  });

  test("of an ask by GET", async () => {
    const ask = (input: string, headers: Record<string, string> = {}, actor = "worker"): Request =>
      new Request(`http://x/actors/${actor}/ask?input=${encodeURIComponent(input)}`, { headers });
    const statuses = await given([
      ask('"a"'),
      ask('"a"', { prefer: "respond-async" }),
      ask("{"),
      ask('"a"', { "x-caller": "stranger" }),
      ask('"a"', { "x-caller": "bob" }),
      ask('"a"', { accept: "image/png" }),
      ask('"a"', {}, "nobody"),
      ask('"a"', {}, "stopped"),
      ask(`"${"a".repeat(200)}"`),
      ask('"wait"'),
      ask('"fail"'),
    ]);
    expect(statuses).toEqual(statusesOf(await documentOf(gateway), "/actors/worker/ask", "get"));
  });

  test("of a tell", async () => {
    const statuses = await given([...common("tell", ""), post("worker", "tell", "")]);
    const documented = statusesOf(await documentOf(gateway), "/actors/worker/tell", "post");
    expect(documented.filter((status) => !statuses.includes(status))).toEqual([202, 504]); // As of an ask.
    expect(statuses.filter((status) => !documented.includes(status))).toEqual([]);
  });

  test("of an ask whose handler gives nothing where its protocol wants a reply", async () => {
    const statuses = await given([post("worker", "ask", '"nothing"')]);
    expect(statuses).toEqual([500]);
  });

  test("of a stream", async () => {
    const statuses = await given([
      ...common("stream"),
      post("worker", "stream", '"a"'),
      post("worker", "stream", '"a"'), // One stream is the limit.
    ]);
    expect(statuses).toEqual(statusesOf(await documentOf(gateway), "/actors/worker/stream", "post"));
  });

  test("of a stream that is resumed", async () => {
    const Few = defineProtocol("few", { few: { stream: Type.Number() } });
    const ref = system.spawn("few", Few, () => ({ few: () => [1] }));
    const few = createGateway(system, { expose: { few: { ref, operations: { few: { resume: {} } } } } });
    const open = async (headers: Record<string, string> = {}): Promise<Response> => {
      const answer = few.fetch(new Request("http://x/actors/few/few", { method: "POST", headers }));
      await clock.settle();
      return answer;
    };
    const first = await open();
    const id = first.headers.get("content-location")?.slice("/streams/".length);
    const events = first.text();
    await clock.settle();
    expect(await events).toContain(`id: ${id}:2\nevent: end\n`);
    const statuses: number[] = [];
    for (const at of [`${id}:2`, `${id}:9`, "nothing"]) statuses.push((await open({ "last-event-id": at })).status);
    expect(statuses).toEqual([204, 410, 400]);
    const documented = statusesOf(await documentOf(few), "/actors/few/few", "post");
    expect(documented).toEqual(expect.arrayContaining(statuses));
  });
});
