import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { context } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createSystem, defineProtocol, Type } from "envoi";
import { serve } from "envoi/http";
import { SCOPE, trace, traceRequests } from "envoi/telemetry";
import { spawnCodeExecution, spawnFileSystem, toolsFor } from "envoi/tools";
import { Receiver, treeOf } from "./receiver";
import { installContextManager } from "./traced";

beforeAll(installContextManager);
afterAll(() => context.disable());

const Agent = defineProtocol("agent", { work: { payload: Type.String(), stream: Type.Unknown() } });

/** The trace of each text is its own: the code reads the file that was written for it. */
const CODE = `const read = await tools.files.read({ path: input.path }); return read.value.content.length;`;

const folder = mkdtempSync(join(tmpdir(), "envoi-trace-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function service(receiver: Receiver) {
  const exporter = new OTLPTraceExporter({ url: receiver.url("traces") });
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
  const tracer = provider.getTracer(SCOPE);
  const system = createSystem();
  trace(system, { tracer });
  const agent = system.spawn(
    "agent",
    Agent,
    (ctx) => {
      const files = spawnFileSystem(ctx, { root: folder });
      const code = spawnCodeExecution(ctx, {
        languages: ["javascript"],
        tools: { files: { ref: files, operations: ["read"] } },
      });
      const tools = toolsFor(
        { files: { ref: files, operations: ["write"] }, code: { ref: code, operations: ["execute"] } },
        { format: "openai" },
      );
      return {
        async *work(text) {
          const path = `${text}.txt`;
          const written = await tools.callTool("files_write", { path, content: text });
          yield written.isOk();
          const done = await tools.callTool("code_execute", { code: CODE, input: { path } });
          yield done.isOk() && (done.value as { value: unknown }).value; // The reply of the code actor.
        },
      };
    },
    { concurrency: 4 },
  );
  const serving = serve(system, {
    port: 0,
    hostname: "127.0.0.1",
    signals: [],
    around: traceRequests({ tracer }),
    expose: { agent: { ref: agent, operations: ["work"] } },
  });
  const ask = async (text: string, headers: Record<string, string> = {}): Promise<string> => {
    const response = await fetch(new URL("actors/agent/work", serving.url), {
      method: "POST",
      body: JSON.stringify(text),
      headers: { "content-type": "application/json", accept: "text/event-stream", ...headers },
    });
    return response.text();
  };
  return { ask, provider, serving };
}

test("one request is one trace over HTTP, the agent, its tools, the sandbox and what its code calls", async () => {
  using receiver = new Receiver();
  const { ask, provider, serving } = service(receiver);
  const client = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
  const answer = await ask("tea", { traceparent: client });
  expect(answer).toContain("3");
  await serving.stop();
  await provider.shutdown();
  const ours = receiver.spans.filter(({ traceId }) => traceId === "c".repeat(32));
  expect(treeOf(ours)).toEqual([
    "POST /actors/:name/:operation",
    "  process agent.work",
    "    process file-system.write",
    "    process code-execution.execute",
    "      process file-system.read",
  ]);
  expect(ours[0] && ours.find(({ kind }) => kind === "SERVER")?.parentSpanId).toBe("d".repeat(16));
});

test("P16: twenty requests at once are twenty traces, and none has a span of another", async () => {
  using receiver = new Receiver();
  const { ask, provider, serving } = service(receiver);
  const ids = Array.from({ length: 20 }, (_, index) => (index + 1).toString(16).padStart(32, "0"));
  await Promise.all(ids.map((id) => ask(id, { traceparent: `00-${id}-${"d".repeat(16)}-01` })));
  await serving.stop();
  await provider.shutdown();
  const shapes = ids.map((id) => treeOf(receiver.spans.filter(({ traceId }) => traceId === id)).join("\n"));
  expect(new Set(shapes).size).toBe(1);
  expect(shapes[0]?.split("\n").length).toBe(5);
});
