import { expect, test } from "bun:test";
import { context } from "@opentelemetry/api";
import { agentText, connectAgent, serveAgent, sessionOperations, spawnAcpTerminals } from "../../src/acp/index";
import { createSystem, defineProtocol, type Metadata, type System, Type } from "../../src/index";
import { connectMcp } from "../../src/mcp/index";
import { channelPair } from "../../src/rpc/index";
import { trace } from "../../src/telemetry/index";
import { spawnFetch } from "../../src/tools/index";
import { ABOUT } from "../acp/raw-sides";
import { serveDesk } from "../mcp/desk";
import { serve } from "../tools/fetch/kit";
import { installContextManager, type Traced, traced } from "./traced";

// What leaves a handler by another way than its ctx names the span of that handler: not that of its caller, and no less where it is the first.

installContextManager();

const PARENT = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };

/** A system whose handlers are traced. */
function start(): Traced & { readonly system: System } {
  const spans = traced();
  const system = createSystem({ logger: { warn() {}, error() {} } }); // A turn that its client has left fails.
  trace(system, { tracer: spans.tracer });
  return { system, ...spans };
}

/** The `traceparent` of spans of a name, in the order in which they ended. */
const parentsFrom = ({ spans }: Traced, name: string): string[] =>
  spans()
    .filter((span) => span.name === name)
    .map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`);

/** The name of the span that is the parent of the only one of a name. */
function parentOf({ span, spans }: Traced, name: string): string | undefined {
  const { parentSpanContext } = span(name);
  return spans().find((each) => each.spanContext().spanId === parentSpanContext?.spanId)?.name;
}

test("a request of a fetch actor, also as a stream, and as a root", async () => {
  await using server = serve();
  const all = start();
  await using system = all.system;
  const fetch = spawnFetch(system, {
    allow: [{ url: `http://127.0.0.1:${server.port}/*`, addresses: ["127.0.0.1"], trace: true }],
  });
  const url = `http://127.0.0.1:${server.port}/`;
  for (const options of [{ metadata: PARENT }, {}]) {
    expect((await fetch.ask("get", { url }, options))._unsafeUnwrap().ok).toBe(true);
    for await (const item of fetch.stream("requestStream", { url }, options)) expect(item.ok).toBe(true);
  }
  const sent = server.heard.map(({ headers }) => headers["traceparent"] ?? "none");
  const gets = parentsFrom(all, "process fetch.get");
  const streams = parentsFrom(all, "process fetch-streams.requestStream");
  expect(sent).toEqual([gets[0], streams[0], gets[1], streams[1]] as string[]);
  expect(sent.slice(0, 2).every((text) => text.startsWith(PARENT.traceparent.slice(0, 35)))).toBe(true);
});

test("a call of a tool of an MCP server, and as a root", async () => {
  await using far = createSystem();
  const served = await serveDesk(far);
  using server = Bun.serve({ port: 0, fetch: (request) => served.fetch(request) });
  const all = start();
  await using near = all.system;
  const tools = await connectMcp(near, { name: "far", url: `http://localhost:${server.port}/mcp` });
  const told: unknown[] = [];
  for (const options of [{ metadata: PARENT }, {}]) {
    const reply: unknown = (await tools.ref.ask("desk_told", undefined, options))._unsafeUnwrap();
    told.push((reply as { value: { value: Metadata } }).value.value); // The desk replies with what came to it.
  }
  const spans = all.spans().filter(({ attributes }) => attributes["messaging.envoi.operation"] === "desk_told");
  expect(told).toEqual(
    spans.map((span) => ({ traceparent: `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01` })),
  );
  expect(spans.map((span) => span.parentSpanContext?.spanId)).toEqual([PARENT.traceparent.slice(36, 52), undefined]);
  await tools.close();
  await served.close();
});

const Session = defineProtocol("session", { prompt: sessionOperations.prompt });
const Runner = defineProtocol("runner", { executeStream: { payload: Type.Any(), stream: Type.Any() } });

for (const manager of ["with", "without"]) {
  test(`a prompt of an ACP client, its cancel, and the code of a terminal, ${manager} a context manager`, async () => {
    if (manager === "without") context.disable();
    const all = start();
    await using system = all.system;
    const hasCancelled = Promise.withResolvers<void>();
    system.resolve("sessions/", (_, id) =>
      system.spawn(id, Session, (ctx) => ({
        async *prompt({ client, sessionId }) {
          await ctx.ask(client.ref, "createTerminal", { sessionId, command: "javascript", args: ["1"] });
          ctx.onAbort(hasCancelled.resolve); // Before its reader can leave: a producer that waits there is not run again.
          yield agentText("begun");
          await hasCancelled.promise;
        },
      })),
    );
    const code = system.spawn("code", Runner, () => ({
      *executeStream() {
        yield { kind: "end", outcome: { ok: true, value: {} } };
      },
    }));
    const [here, there] = channelPair();
    serveAgent(system, there, { ...ABOUT, sessions: { prefix: "sessions/", protocol: Session } });
    const terminals = spawnAcpTerminals(system, { code });
    const connection = (await connectAgent(system, here, { ...ABOUT, terminals }))._unsafeUnwrap();
    const { ref } = (await connection.newSession({ cwd: "/work" }))._unsafeUnwrap();
    for await (const _ of ref.stream("prompt", { prompt: [{ type: "text", text: "go" }] }, { metadata: PARENT })) break;
    await hasCancelled.promise;
    await system.shutdown();
    const sent = ["send acp.agent.cancel", "process acp.terminals.createTerminal", "process runner.executeStream"];
    expect(sent.map((name) => parentOf(all, name))).toEqual([
      "process acp.remote-session.prompt",
      "process acp.client-front.createTerminal",
      "process acp.terminals.createTerminal",
    ]);
    expect(all.span("process runner.executeStream").spanContext().traceId).toBe(PARENT.traceparent.slice(3, 35));
  });
}
