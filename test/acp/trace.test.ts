import { expect, test } from "bun:test";
import { AcpPermission, agentText, connectAgent, serveAgent, sessionOperations } from "../../src/acp/index";
import { defineProtocol, type Metadata, Type } from "../../src/index";
import { channelPair } from "../../src/rpc/index";
import { testSystems } from "../actor/test-system";
import { ABOUT } from "./raw-sides";

const { createTestSystem } = testSystems();

const TRACE = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "vendor=1" };

const { prompt, create } = sessionOperations;
const Session = defineProtocol("session", { prompt, create });
const Editor = defineProtocol("editor", { go: { payload: Type.String(), reply: Type.String() } });

test("a prompt carries the trace of the editor's handler to the agent's, and a question of the agent carries it back", async () => {
  const test = createTestSystem();
  const { system } = test;
  const seen: [string, Metadata][] = [];
  system.resolve("sessions/", (_, id) =>
    system.spawn(id, Session, (ctx) => ({
      async *prompt({ client, sessionId }) {
        seen.push(["prompt", ctx.metadata]);
        const asked = await ctx.ask(client.ref, "requestPermission", {
          sessionId,
          toolCall: { toolCallId: "1" },
          options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
        });
        yield agentText(asked.isOk() ? asked.value.outcome.outcome : asked.error.kind);
      },
      create() {
        seen.push(["create", ctx.metadata]);
        return {};
      },
    })),
  );
  const permission = system.spawn("permission", AcpPermission, (ctx) => ({
    requestPermission() {
      seen.push(["permission", ctx.metadata]);
      return { outcome: { outcome: "selected", optionId: "yes" } };
    },
  }));
  const [here, there] = channelPair();
  serveAgent(system, there, { name: "agent", version: "1.0.0", sessions: { prefix: "sessions/", protocol: Session } });
  const connecting = connectAgent(system, here, { ...ABOUT, permission });
  await test.settle();
  const connection = (await connecting)._unsafeUnwrap();
  const editor = system.spawn("editor", Editor, (ctx) => ({
    async go(how) {
      const opened = await connection.newSession({ cwd: "/work" }, { metadata: ctx.metadata });
      const { ref } = opened._unsafeUnwrap();
      const items: unknown[] = [];
      for await (const item of ctx.stream(ref, "prompt", { prompt: [{ type: "text", text: how }] })) items.push(item);
      return JSON.stringify(items);
    },
  }));
  const asked = editor.ask("go", "hello", { metadata: { ...TRACE, user: "Ada" } });
  await test.settle();
  expect((await asked)._unsafeUnwrap()).toContain("selected");
  expect(seen).toEqual([
    ["create", TRACE],
    ["prompt", TRACE],
    ["permission", TRACE],
  ]);
});

test("to cancel a turn carries the trace of its prompt", async () => {
  const test = createTestSystem();
  const { system } = test;
  const seen: Metadata[] = [];
  const Waiting = defineProtocol("waiting", { prompt });
  system.resolve("sessions/", (_, id) =>
    system.spawn(id, Waiting, () => ({
      async *prompt() {
        yield agentText("begun");
        await new Promise<void>(() => {});
      },
    })),
  );
  const [here, there] = channelPair();
  const sessions = { prefix: "sessions/", protocol: Waiting } as const;
  serveAgent(system, there, { name: "agent", version: "1.0.0", sessions });
  const connecting = connectAgent(system, here, ABOUT);
  await test.settle();
  const connection = (await connecting)._unsafeUnwrap();
  const opening = connection.newSession({ cwd: "/work" });
  await test.settle();
  const { ref } = (await opening)._unsafeUnwrap();
  system.around((handling, run) => {
    if (handling.kind === "message" && handling.operation === "cancel") seen.push(handling.metadata);
    run();
  });
  for await (const _ of ref.stream("prompt", { prompt: [{ type: "text", text: "go" }] }, { metadata: TRACE })) break;
  await test.settle();
  expect(seen).toEqual([TRACE]);
});
