import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { serveAgent } from "../../src/acp/index";
import { createSystem } from "../../src/index";
import { linesChannel } from "../../src/rpc/index";
import { recordIn } from "../actor/test-system";
import { isLong } from "../property/runs";
import { resolveScenario, Scenario } from "./scenario-agent";

const COUNT = isLong ? 100_000 : 25_000;
/** Each so many messages, a right one comes. */
const EVERY = 500;

const text = { type: "text", text: "hi" };
const message = (method: string, params: unknown, id?: number): string =>
  JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), method, params });

/** Wrong for an agent whose client has begun and has one session. */
const WRONG = [
  message("session/prompt", { sessionId: "none", prompt: [text] }, 1),
  message("session/prompt", { sessionId: "none", prompt: [{ type: "text", text: 7 }] }, 2),
  message("session/prompt", { sessionId: "none", prompt: [{ type: "smell" }] }, 3),
  message("session/new", { cwd: "work", mcpServers: [] }, 4),
  message("session/new", { cwd: "/", mcpServers: [{ type: "sse", name: "a", url: "b", headers: [] }] }, 5),
  message("session/load", { sessionId: "../agent", cwd: "/", mcpServers: [] }, 6),
  message("session/load", { sessionId: "none", cwd: "/", mcpServers: [] }, 7),
  message("session/set_mode", { sessionId: "__proto__", modeId: "a" }, 8),
  message("initialize", { protocolVersion: 1 }, 9),
  message("authenticate", { methodId: "none" }, 10),
  message("session/update", { sessionId: "none", update: { sessionUpdate: "plan", entries: [] } }),
  message("fs/read_text_file", { sessionId: "none", path: "/etc/passwd" }, 11),
  message("session/cancel", { sessionId: "none" }),
  message("session/cancel", { sessionId: 7 }),
];

test("P5, P18: among wrong messages of the protocol the right prompts are answered, and memory stays flat", async () => {
  const logged: Parameters<typeof recordIn>[0] = [];
  await using system = createSystem({ logger: recordIn(logged) });
  resolveScenario(system, "sessions/");
  let sent = 0;
  let sessionId: string | undefined;
  const opened = Promise.withResolvers<void>();
  const heaps: number[] = [];
  const encoder = new TextEncoder();
  const input = new ReadableStream<Uint8Array>(
    {
      async pull(it) {
        if (sent === COUNT) return;
        if (sent === 0) {
          const begin = [message("initialize", { protocolVersion: 1 }, 0)];
          begin.push(
            JSON.stringify({ jsonrpc: "2.0", id: "new", method: "session/new", params: { cwd: "/", mcpServers: [] } }),
          );
          it.enqueue(encoder.encode(`${begin.join("\n")}\n`));
          await opened.promise;
        }
        const lines = Array.from({ length: EVERY }, (_, index) => WRONG[(sent + index) % WRONG.length] ?? "");
        sent += EVERY;
        const params = { sessionId, prompt: [{ type: "text", text: "count 1" }] };
        lines.push(JSON.stringify({ jsonrpc: "2.0", id: `right ${sent}`, method: "session/prompt", params }), "");
        it.enqueue(encoder.encode(lines.join("\n")));
        if (sent % (COUNT / 5) !== 0) return;
        Bun.gc(true);
        heaps.push(heapStats().heapSize);
      },
    },
    { highWaterMark: 0 },
  );
  const done = Promise.withResolvers<void>();
  const codes = new Map<number, number>();
  let [updates, right] = [0, 0];
  const sink = {
    write(texts: string) {
      for (const line of texts.split("\n")) {
        if (line === "") continue;
        const { id, result, error, method } = JSON.parse(line);
        if (method === "session/update") updates++;
        if (error !== undefined) codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
        if (id === "new") {
          sessionId = result.sessionId;
          opened.resolve();
        } else if (typeof id === "string") {
          expect(result).toEqual({ stopReason: "end_turn" });
          if (++right === COUNT / EVERY) done.resolve();
        }
      }
    },
    flush: () => new Promise<void>((resolve) => setImmediate(resolve)), // The pipe is full now and then.
    end() {},
  };
  const connection = serveAgent(system, linesChannel(input, sink), {
    name: "agent",
    version: "1.0.0",
    sessions: { prefix: "sessions/", protocol: Scenario },
    authMethods: [{ id: "key", name: "A key" }],
  });
  await done.promise;
  expect(updates).toBe(COUNT / EVERY);
  expect([...codes.keys()].sort((a, b) => a - b)).toEqual([-32_602, -32_601, -32_600, -32_002]);
  const refused = [...codes.values()].reduce((sum, each) => sum + each, 0);
  expect(refused).toBeGreaterThan((COUNT / WRONG.length) * 11 - WRONG.length); // Each request, and no notification.
  expect(refused).toBeLessThan((COUNT / WRONG.length) * 11 + WRONG.length);
  expect(Math.max(...heaps.slice(1)) - (heaps[0] ?? 0)).toBeLessThan(4_000_000);
  // A few lines in each second, for one notification in five that does not fit. A slow machine takes more seconds.
  expect(logged.filter(({ message }) => !message.includes("dead letter"))).toEqual([]);
  expect(logged.length).toBeLessThan(COUNT / 20);
  connection.close();
});
