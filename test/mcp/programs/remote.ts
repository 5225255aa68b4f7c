/** A server made with the official SDK alone, for connections of ours: over stdio, or with `http PORT` over HTTP. */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });

/** Resolves once the asker of `work` has heard of its progress: what is said in the turn of the reply may go untold. */
let heard = Promise.withResolvers<void>();

function makeServer(): McpServer {
  const server = new McpServer({ name: "remote", version: "2.0.0" });
  const sum = { a: z.number(), b: z.number() };
  server.registerTool(
    "add",
    {
      description: "Adds.",
      inputSchema: z.object(sum),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ ...text(`${a + b}`), structuredContent: { sum: a + b } }),
  );
  server.registerTool("say", { inputSchema: z.object({ what: z.string() }) }, ({ what }) => text(what));
  server.registerTool("pid", {}, () => text(String(process.pid)));
  server.registerTool("env", {}, () => text(JSON.stringify(process.env)));
  server.registerTool("picture", {}, () => ({ content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] }));
  server.registerTool("fail", {}, () => ({ ...text("It does not work."), isError: true }));
  server.registerTool("then", {}, () => text("and then"));
  server.registerTool("die", {}, () => process.exit(1));
  server.registerTool("work", {}, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return text("worked in silence");
    for (let progress = 1; progress <= 3; progress++) {
      heard = Promise.withResolvers();
      await context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 3 } });
      await heard.promise;
    }
    return text("worked");
  });
  server.registerTool("go_on", {}, () => {
    heard.resolve();
    return text("goes on");
  });
  server.registerTool("hang", {}, async (context) => {
    await new Promise((resolve) => context.mcpReq.signal.addEventListener("abort", resolve));
    return text("let go");
  });
  server.registerTool("grow", {}, () => {
    server.registerTool("grown", {}, () => text("new"));
    return text("grew");
  });
  return server;
}

if (process.argv[2] === "http") {
  const { fetch } = createMcpHandler(makeServer);
  const server = Bun.serve({
    port: Number(process.argv[3] ?? 0),
    hostname: "127.0.0.1",
    fetch: (request) => fetch(request),
  });
  console.log(server.url.href);
} else serveStdio(makeServer);
