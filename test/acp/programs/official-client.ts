import { readFileSync, writeFileSync } from "node:fs";
import { client, ndJsonStream, type PromptResponse, type SessionUpdate } from "@agentclientprotocol/sdk";

// A client on the official SDK: starts the agent that its arguments name, plays the scenario, and writes what came of it as JSON.

const [folder = "", ...command] = process.argv.slice(2);
const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
const output = new WritableStream<Uint8Array>({
  async write(chunk) {
    child.stdin.write(chunk);
    await child.stdin.flush();
  },
});

const said = new Map<string, string[]>();
const textOf = (update: SessionUpdate): string =>
  "content" in update && update.content != null && "text" in update.content
    ? update.content.text
    : update.sessionUpdate;

const found = await client({ name: "official-client" })
  .onNotification("session/update", ({ params: { sessionId, update } }) => {
    said.set(sessionId, [...(said.get(sessionId) ?? []), textOf(update)]);
  })
  .onRequest("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "yes" } }))
  .onRequest("fs/read_text_file", ({ params: { path, line, limit } }) => {
    const lines = readFileSync(path, "utf8").split("\n");
    const from = (line ?? 1) - 1;
    return { content: lines.slice(from, limit == null ? undefined : from + limit).join("\n") };
  })
  .onRequest("fs/write_text_file", ({ params: { path, content } }) => writeFileSync(path, content))
  .onRequest("terminal/create", () => ({ terminalId: "terminal-1" }))
  .onRequest("terminal/wait_for_exit", () => ({ exitCode: 0 }))
  .onRequest("terminal/output", () => ({ output: "42\n", truncated: false }))
  .onRequest("terminal/release", () => {})
  .connectWith(ndJsonStream(output, child.stdout), async (agent) => {
    const { agentInfo, protocolVersion } = await agent.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    });
    const { sessionId, modes } = await agent.request("session/new", { cwd: folder, mcpServers: [] });
    const other = await agent.request("session/new", { cwd: folder, mcpServers: [] });

    /** The updates and the end of a turn. The SDK has handed out all of them when its request is answered. */
    async function turn(text: string, id = sessionId): Promise<readonly string[]> {
      said.delete(id);
      const prompt = [{ type: "text", text } as const];
      const asked: Promise<PromptResponse> = agent.request("session/prompt", { sessionId: id, prompt });
      const end: string = await asked.then(
        ({ stopReason }) => stopReason,
        (error) => `${error.code} ${error.message}`,
      );
      return [...(said.get(id) ?? []), end];
    }
    const code = (error: { code: number }) => error.code;

    const [both, ofOther] = await Promise.all([turn("count 3"), turn("count 2", other.sessionId)]);
    const waiting = turn("wait");
    while (said.get(sessionId) === undefined) await Bun.sleep(5);
    await agent.notify("session/cancel", { sessionId });
    return {
      agent: agentInfo?.name,
      protocolVersion,
      modes: modes?.availableModes.map(({ id }) => id),
      both,
      ofOther,
      cancelled: await waiting,
      write: await turn(`write ${folder}/a.txt`),
      read: await turn(`read ${folder}/a.txt`),
      permit: await turn("permit"),
      run: await turn("run"),
      refuse: await turn("refuse"),
      fail: await turn("fail"),
      stop: await turn("stop max_tokens"),
      mode: await agent.request("session/set_mode", { sessionId, modeId: "code" }),
      noMode: await agent.request("session/set_mode", { sessionId, modeId: "sleep" }).catch(code),
      noSession: await agent.request("session/prompt", { sessionId: "none", prompt: [] }).catch(code),
      noMethod: await agent.request("_none", {}).catch(code),
      rhyme: await agent.request("_poet/rhyme", { word: "all" }),
    };
  });
console.log(JSON.stringify(found));
child.kill();
process.exit(0);
