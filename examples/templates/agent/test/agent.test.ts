import { expect, test } from "bun:test";
import { AcpPermission, connectAgent, type RemoteSessionRef } from "envoi/acp";
import { channelPair } from "envoi/rpc";
import { createTestSystem } from "envoi/testing";
import { serveEditor, serveTools } from "../src/agent";

/** An editor with an open session, on a clock that stands still; its user answers as the test says. */
async function edit(answer: string, scene: (say: (text: string) => Promise<string[]>) => Promise<void>) {
  await using kit = createTestSystem();
  const [here, there] = channelPair();
  serveEditor(kit.system, there);
  const user = kit.system.spawn("user", AcpPermission, () => ({
    requestPermission: () => ({ outcome: { outcome: "selected" as const, optionId: answer } }),
  }));
  const about = { name: "editor", version: "1.0.0", permission: user };
  const connected = (await connectAgent(kit.system, here, about))._unsafeUnwrap();
  const { ref } = (await connected.newSession({ cwd: "/work" }))._unsafeUnwrap();
  await scene((text) => turn(ref, text));
  connected.close();
  await connected.closed;
}

/** Runs a turn, and returns the states of its tools, its texts, and the reason why it ended. */
async function turn(session: RemoteSessionRef, text: string): Promise<string[]> {
  const seen: string[] = [];
  for await (const item of session.stream("prompt", { prompt: [{ type: "text", text }] })) {
    if (!("sessionUpdate" in item)) seen.push(item.stopReason);
    else if (item.sessionUpdate === "agent_message_chunk" && item.content.type === "text") seen.push(item.content.text);
    else if ("status" in item) seen.push(item.status ?? "");
  }
  return seen;
}

test("it calls its tool, and tells the editor how that goes", async () => {
  await edit("yes", async (say) => {
    expect(await say("add buy tea")).toEqual(["pending", "completed", '{"id":1,"text":"buy tea"}', "end_turn"]);
    expect(await say("list")).toEqual(["pending", "completed", '[{"id":1,"text":"buy tea"}]', "end_turn"]);
    expect(await say("hello")).toEqual(["Say: add TEXT, remove NUMBER, or list.", "end_turn"]);
  });
});

test("input that does not fit is refused with a sentence", async () => {
  await edit("yes", async (say) => {
    expect((await say("add"))[2]).toContain("/text");
  });
});

test.each(["yes", "no"])("it removes a task only if the user says so: %s", async (answer) => {
  await edit(answer, async (say) => {
    await say("add buy tea");
    await say("remove 1");
    expect((await say("list"))[2]).toBe(answer === "yes" ? "[]" : '[{"id":1,"text":"buy tea"}]');
  });
});

test("clients of MCP get the same tool", async () => {
  await using kit = createTestSystem();
  const mcp = await serveTools(kit.system);
  expect(mcp.tools).toEqual(["tasks_add", "tasks_list", "tasks_remove"]);
  await mcp.close();
});
