import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { endpointIn } from "../../examples/agent-workspace/model/endpoint";
import { modelPlanner } from "../../examples/agent-workspace/model/planner";
import { toolsOf } from "../../examples/agent-workspace/tools";
import { work } from "../../examples/agent-workspace/work";
import { createSystem } from "../../src/index";
import { spawnFileSystem, typesFor } from "../../src/tools/index";
import { events, headers, modelServer, piece, saying } from "./model-server";
import { all, children, filesIn, folderWith, only } from "./workspace";

const root = folderWith({ "data/a.csv": "kind,size\na,1\na,2\nb,9\n" });
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => expect(children()).toEqual([]));

const PATIENCE = 20_000;

function worked(
  baseUrl: string,
  {
    patience = PATIENCE,
    maxSteps = 10,
    signal,
  }: Partial<Record<"patience" | "maxSteps", number>> & { signal?: AbortSignal } = {},
) {
  const planner = modelPlanner({ baseUrl, model: "some-model", key: "some-key" }, patience);
  const logged: string[] = [];
  const log = (sentence: string): void => void logged.push(sentence);
  const options = {
    folder: root,
    task: "Compare size by kind",
    planner,
    maxSteps,
    pause: 1,
    logger: { warn: log, error: log },
  };
  return { logged, happenings: work({ ...options, ...(signal && { signal }) }) };
}

const CODE = `const { value } = await tools.files.read({ path: "data/a.csv" });
const sum: number = value.content.trim().split("\\n").slice(1).reduce((total: number, row: string) => total + Number(row.split(",")[1]), 0);
await tools.files.write({ path: "report/chart.svg", content: "<svg/>" });
return { sum };`;

test("a model plans: it is told what code can call, sees what came of each step, and its thoughts are streamed", async () => {
  const steps = [
    saying("Which files are there?", { do: "list" }),
    saying("I {count}.", { do: "run", code: CODE }),
    JSON.stringify({ do: "write", path: "report/r.md", content: "# Sum\n```js\n12\n```\n" }),
    saying("Done.", { do: "finish", report: "report/r.md", summary: "The sum is 12.", more: true }),
  ];
  await using server = modelServer((_, number) => steps[number - 1] ?? "");
  const happenings = await all(worked(server.baseUrl).happenings);

  expect(happenings.at(-1)).toMatchObject({
    kind: "finished",
    summary: "The sum is 12.",
    content: "# Sum\n```js\n12\n```\n",
  });
  const thoughts = only(happenings, "thought").map(({ text }) => text);
  expect(thoughts.length).toBeGreaterThan(4); // They came in pieces.
  expect(thoughts.join("")).toBe("Which files are there?I {count}.Done.");
  expect(only(happenings, "observed").map(({ observation }) => observation)).toEqual([
    { kind: "files", paths: ["data/a.csv"], isCut: false },
    { kind: "value", value: { sum: 12 }, logs: [] },
    { kind: "written", bytes: 19 },
  ]);
  expect(only(happenings, "step").at(-1)?.step).toEqual({
    do: "finish",
    report: "report/r.md",
    summary: "The sum is 12.",
  });

  expect(server.asked.length).toBe(4);
  const [first, second] = server.asked;
  expect(first).toMatchObject({ url: "/v1/chat/completions", authorization: "Bearer some-key" });
  expect(first?.body).toMatchObject({ model: "some-model", stream: true });
  const [told, task] = first?.body.messages ?? [];
  await using system = createSystem();
  expect(told?.content).toContain(typesFor(toolsOf(spawnFileSystem(system, { root }))));
  expect(task).toEqual({ role: "user", content: "The task: Compare size by kind" });
  expect(second?.body.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  expect(second?.body.messages.at(-1)?.content).toContain("data/a.csv");
  expect(Object.keys(filesIn(root)).sort()).toEqual(["data/a.csv", "report/chart.svg", "report/r.md"]);
});

test("a thought is told while the model still speaks", async () => {
  const goOn = Promise.withResolvers<void>();
  await using server = modelServer(
    () =>
      new Response(
        (async function* () {
          yield piece("I think ");
          await goOn.promise;
          yield piece(`so.\n\`\`\`json\n{"do":"giveUp","why":"enough"}\n\`\`\``, "stop");
        })(),
        { headers },
      ),
  );
  const told: string[] = [];
  for await (const happening of worked(server.baseUrl).happenings) {
    if (happening.kind === "thought") told.push(happening.text);
    goOn.resolve(); // Not before something was told.
  }
  expect(told).toEqual(["I think", " so."]);
});

describe("an answer that is no step", () => {
  const nonsense: [answer: string, fault: string][] = [
    ["I would rather not.", "There is no step in your answer"],
    ["```json\n{ do: list }\n```", "The step is no JSON"],
    [
      saying("", { do: "delete", path: "data" }),
      '"do" of a step is one of list, read, run, write, finish, giveUp; got "delete"',
    ],
    [saying("", { do: "constructor" }), "one of list, read"],
    [saying("", { step: "list" }), "one of list, read"],
    [saying("", { do: "read" }), 'The step "read" does not fit'],
    [saying("", { do: "read", path: 7 }), "/path must be string"],
  ];
  test("is told to the model, and counts as one", async () => {
    await using server = modelServer(
      (_, number) => nonsense[number - 1]?.[0] ?? saying("", { do: "giveUp", why: "I cannot." }),
    );
    const happenings = await all(worked(server.baseUrl).happenings);
    expect(happenings.at(-1)).toEqual({ kind: "failed", why: "I cannot." });
    expect(only(happenings, "observed").length).toBe(nonsense.length);
    nonsense.forEach(([answer, fault], index) => {
      const [said, told] = server.asked[index + 1]?.body.messages.slice(-2) ?? [];
      expect(said).toEqual({ role: "assistant", content: answer });
      expect(JSON.parse(told?.content.replace(/^[^{]*/, "") ?? "{}").message).toContain(fault);
    });
  });

  test("for ever ends with the steps", async () => {
    await using server = modelServer(() => "Hm.");
    const happenings = await all(worked(server.baseUrl, { maxSteps: 3 }).happenings);
    expect(happenings.at(-1)).toEqual({ kind: "failed", why: "The task was not done after 3 steps." });
    expect(server.asked.length).toBe(3);
  });

  test("may be empty", async () => {
    await using server = modelServer((_, number) =>
      number === 1 ? events("data: [DONE]\n\n") : saying("", { do: "giveUp", why: "." }),
    );
    const happenings = await all(worked(server.baseUrl).happenings);
    expect(only(happenings, "observed")[0]?.observation).toMatchObject({ error: "no-step" });
    expect(server.asked[1]?.body.messages.at(-2)?.content).not.toBe("");
  });
});

test("an endpoint that fails for a while is asked again, by a planner that was restarted", async () => {
  const answers = [
    events(piece("I th")),
    new Response("busy", { status: 503 }),
    saying("", { do: "giveUp", why: "So be it." }),
  ];
  await using server = modelServer((_, number) => answers[number - 1] ?? "");
  const { happenings, logged } = worked(server.baseUrl);
  expect((await all(happenings)).at(-1)).toEqual({ kind: "failed", why: "So be it." });
  expect(server.asked.length).toBe(3);
  expect(logged.length).toBe(2);
  for (const line of logged) expect(line).toMatch(/"plan" to @\(agent\/planner\) failed .* it restarts/);
});

describe("an endpoint that keeps failing gets three tries, and the failure is said", () => {
  const failures: [what: string, answer: () => Response, sentence: RegExp][] = [
    ["cuts its answer off", () => events(piece("I th")), /^The endpoint cut its answer off\.$/],
    ["cuts an event off", () => events('data: {"choices": [{'), /^The endpoint cut its answer off\.$/],
    ["sends what is no JSON", () => events("data: <html>\n\n"), /sent what is no JSON: <html>$/],
    ["sends other JSON", () => events('data: {"hello": 1}\n\n'), /no piece of a chat completion: \{"hello": 1\}$/],
    ["answers with a page", () => new Response("<html></html>"), /cut its answer off/],
    [
      "tells an error in the stream",
      () => events('data: {"error": {"message": "overloaded"}}\n\n'),
      /failed: overloaded$/,
    ],
    ["has the status 500", () => new Response("oh no", { status: 500 }), /answered with the status 500: oh no$/],
    ["sends a line without an end", () => new Response("x".repeat(1_100_000)), /sent a line that does not end\.$/],
  ];
  for (const [what, answer, sentence] of failures) {
    test(`it ${what}`, async () => {
      await using server = modelServer(answer);
      const last = (await all(worked(server.baseUrl).happenings)).at(-1);
      expect(last).toEqual({ kind: "failed", why: expect.stringMatching(sentence) });
      expect(server.asked.length).toBe(3);
    });
  }

  test("it breaks the connection", async () => {
    let connections = 0;
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          connections++;
          socket.write(`${head}ff\r\n${piece("I th")}`); // A chunk that is to have 255 bytes.
          socket.end();
        },
      },
    });
    const last = (await all(worked(`http://127.0.0.1:${server.port}/v1`).happenings)).at(-1);
    expect(last).toEqual({ kind: "failed", why: expect.stringMatching(/^The endpoint .*cut its answer off/) });
    expect(connections).toBe(3);
  });

  test("it is silent, before its answer or within it", async () => {
    const silent = [
      () => new Promise<Response>(() => {}),
      () =>
        new Response(
          (async function* () {
            yield piece("I th");
            await new Promise(() => {});
          })(),
          { headers },
        ),
    ];
    for (const answer of silent) {
      await using server = modelServer(answer);
      const last = (await all(worked(server.baseUrl, { patience: 100 }).happenings)).at(-1);
      expect(last).toEqual({ kind: "failed", why: "The endpoint was silent for 0.1 s." });
      expect(server.asked.length).toBe(3);
    }
  });

  test("it is not there", async () => {
    const { baseUrl, [Symbol.asyncDispose]: close } = modelServer(() => "");
    await close();
    const last = (await all(worked(baseUrl).happenings)).at(-1);
    expect(last).toEqual({ kind: "failed", why: expect.stringContaining(`at ${baseUrl} cannot be reached`) });
  });
});

describe("what does not pass is not tried again", () => {
  const final: [what: string, answer: () => Response, sentence: string][] = [
    ["a wrong key", () => new Response('{"error": "no such key"}', { status: 401 }), "the status 401: "],
    ["a wrong URL", () => new Response("", { status: 404 }), "the status 404: nothing more"],
    ["an answer of the model's that is too long", () => events(piece("I th"), piece("", "length")), "not whole"],
  ];
  for (const [what, answer, sentence] of final) {
    test(what, async () => {
      await using server = modelServer(answer);
      const { happenings, logged } = worked(server.baseUrl);
      const last = (await all(happenings)).at(-1);
      expect(logged).toEqual([expect.stringMatching(/@\(agent\/planner\) failed .* stop/)]);
      expect(last).toMatchObject({ kind: "failed" });
      expect(JSON.stringify(last)).toContain(
        sentence === "not whole" ? "before its answer was whole (length)" : sentence,
      );
      expect(server.asked.length).toBe(1);
    });
  }
});

test("work that is given up closes the connection to the model", async () => {
  const gone = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      request.signal.addEventListener("abort", () => gone.resolve());
      began.resolve();
      return new Promise<Response>(() => {});
    },
  });
  const interrupt = new AbortController();
  const working = all(worked(`http://127.0.0.1:${server.port}/v1`, { signal: interrupt.signal }).happenings);
  await began.promise;
  interrupt.abort();
  await expect(working).rejects.toMatchObject({ name: "StreamError", kind: "cancelled" });
  await gone.promise;
});

test("an endpoint is what the environment says, and a key alone is none", () => {
  expect(endpointIn({ OPENAI_API_KEY: "key" })).toBeUndefined();
  expect(endpointIn({ OPENAI_BASE_URL: "", OPENAI_MODEL: "" })).toBeUndefined();
  expect(endpointIn({ OPENAI_BASE_URL: "http://localhost:1/v1/", OPENAI_MODEL: "m", OPENAI_API_KEY: "" })).toEqual({
    baseUrl: "http://localhost:1/v1",
    model: "m",
    key: undefined,
  });
  for (const url of ["localhost:1", "file:///etc", "nonsense"]) {
    expect(() => endpointIn({ OPENAI_BASE_URL: url, OPENAI_MODEL: "m" })).toThrow("is a URL such as");
  }
});
