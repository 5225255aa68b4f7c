import { Readable, Writable } from "node:stream";
import { agent, ndJsonStream, RequestError, type StopReason } from "@agentclientprotocol/sdk";

// The scenario's agent on the official SDK.

const waiting = new Map<string, () => void>();
let sessions = 0;

agent({ name: "official-agent" })
  .onRequest("initialize", () => ({
    protocolVersion: 1,
    agentInfo: { name: "official-agent", version: "1.0.0" },
    agentCapabilities: { loadSession: true, sessionCapabilities: { close: {} } },
    authMethods: [],
  }))
  .onRequest("session/new", async ({ client }) => {
    const sessionId = `official ${++sessions}`;
    const update = { sessionUpdate: "available_commands_update", availableCommands: [] } as const;
    await client.notify("session/update", { sessionId, update }); // Before the client knows the id.
    return { sessionId };
  })
  .onRequest("session/load", async ({ params: { sessionId }, client }) => {
    const content = { type: "text", text: "before" } as const;
    await client.notify("session/update", { sessionId, update: { sessionUpdate: "user_message_chunk", content } });
    return {};
  })
  .onRequest("session/close", () => {})
  .onRequest("session/set_mode", () => {})
  .onNotification("session/cancel", ({ params }) => waiting.get(params.sessionId)?.())
  .onRequest(
    "_poet/rhyme",
    (params) => params as { word: string },
    ({ params }) => ({ rhyme: `sm${params.word}` }),
  )
  .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
    const say = (text: string) =>
      client.notify("session/update", {
        sessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
      });
    const [block] = prompt;
    const [verb, argument = ""] = block?.type === "text" ? block.text.split(" ") : [];
    let stopReason: StopReason = "end_turn";
    if (verb === "count") for (let i = 0; i < Number(argument); i++) void say(String(i));
    else if (verb === "read") {
      const found = await client.request("fs/read_text_file", { sessionId, path: argument, line: 2, limit: 1 });
      await say(found.content);
    } else if (verb === "write") {
      await client.request("fs/write_text_file", { sessionId, path: argument, content: "one\ntwo\n" });
      await say("written");
    } else if (verb === "permit") {
      const { outcome } = await client.request("session/request_permission", {
        sessionId,
        toolCall: { toolCallId: "call-1", title: "Remove all" },
        options: [
          { optionId: "yes", name: "Yes", kind: "allow_once" },
          { optionId: "no", name: "No", kind: "reject_once" },
        ],
      });
      await say(outcome.outcome === "selected" ? outcome.optionId : outcome.outcome);
    } else if (verb === "run") {
      await using terminal = await client.createTerminal({ sessionId, command: "javascript", args: ["6 * 7"] });
      const { exitCode } = await terminal.waitForExit();
      const { output } = await terminal.currentOutput();
      await say(`${exitCode}: ${output.trim()}`);
    } else if (verb === "wait") {
      await say("waiting");
      await new Promise<void>((resolve) => waiting.set(sessionId, resolve));
      stopReason = "cancelled";
    } else if (verb === "refuse") throw new RequestError(-32_001, "No poem today.", { until: "tomorrow" });
    else if (verb === "stop") stopReason = argument as StopReason; // The test says which.
    return { stopReason };
  })
  .connect(
    // Node's types of streams differ from those of Bun by optional members.
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
    ),
  );
