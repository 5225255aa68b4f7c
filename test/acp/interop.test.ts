import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AcpPermission,
  connectAgent,
  type OpenedSession,
  type SessionUpdate,
  spawnAcpFiles,
  spawnAcpTerminals,
} from "../../src/acp/index";
import { createSystem, defineProtocol, Type } from "../../src/index";
import { spawnCodeExecution, spawnFileSystem } from "../../src/tools/index";
import { officialPython } from "./official-python";

// envoi and the official SDKs over stdio, each in a process of its own, as agent and as client.

const folder = mkdtempSync(join(tmpdir(), "acp-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = (name: string): string => join(import.meta.dir, "programs", name);
const bun = (name: string): [string, ...string[]] => [process.execPath, program(name)];

const { python, lacks } = officialPython();
const ofPython =
  python === undefined ? `the official Python SDK, which is not installed: ${lacks}` : "the official Python SDK";

describe.each([
  ["the official TypeScript SDK", bun("official-client.ts")],
  [ofPython, python === undefined ? undefined : [python, program("official_client.py")]],
] as const)("an agent of envoi, with a client on %s", (_, client) => {
  test.skipIf(client === undefined)(
    "plays the scenario",
    async () => {
      if (client === undefined) throw new Error("It is skipped.");
      const child = Bun.spawn([...client, folder, ...bun("envoi-agent.ts")], { stdout: "pipe", stderr: "pipe" });
      const [output, errors] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect(output, errors).not.toBe("");
      expect(JSON.parse(output)).toEqual({
        agent: "envoi-agent",
        protocolVersion: 1,
        modes: ["ask", "code"],
        both: ["0", "1", "2", "end_turn"],
        ofOther: ["0", "1", "end_turn"],
        cancelled: ["waiting", "cancelled"],
        write: ["written", "end_turn"],
        read: ["two", "end_turn"],
        permit: ["yes", "end_turn"],
        run: ["0: 42", "end_turn"],
        refuse: ["-32001 No poem today."],
        fail: [expect.stringMatching(/^-32603 (?!.*secret)/)],
        stop: ["max_tokens"],
        mode: {},
        noMode: -32602,
        noSession: -32002,
        noMethod: -32601,
        rhyme: { rhyme: "small" },
      });
    },
    60_000,
  );
});

const Poet = defineProtocol("poet", {
  rhyme: { payload: Type.Object({ word: Type.String() }), reply: Type.Object({ rhyme: Type.String() }) },
});

describe.each([
  ["the official TypeScript SDK", bun("official-agent.ts"), true],
  [ofPython, python === undefined ? undefined : ([python, program("official_agent.py")] as [string, string]), false],
] as const)("a client of envoi, with an agent on %s", (_, command, hasMore) => {
  test.skipIf(command === undefined)(
    "plays the scenario, with files and terminals of the tools",
    async () => {
      if (command === undefined) throw new Error("It is skipped.");
      await using system = createSystem();
      const files = spawnFileSystem(system, { root: folder });
      const connected = await connectAgent(
        system,
        { command },
        {
          name: "envoi-client",
          version: "1.0.0",
          files: spawnAcpFiles(system, { files, root: folder }),
          terminals: spawnAcpTerminals(system, { code: spawnCodeExecution(system) }),
          permission: system.spawn("user", AcpPermission, () => ({
            requestPermission: ({ options }) => ({
              outcome: { outcome: "selected", optionId: options[0]?.optionId ?? "none" },
            }),
          })),
          extensions: { calls: { poet: { protocol: Poet, methods: { rhyme: "_poet/rhyme" } } } },
        },
      );
      if (connected.isErr()) throw connected.error;
      const agent = connected.value;
      const open = async (): Promise<OpenedSession> => {
        const opened = await agent.newSession({ cwd: folder });
        if (opened.isErr()) throw opened.error;
        return opened.value;
      };
      const [session, other] = [await open(), await open()];

      const textOf = (update: SessionUpdate): string =>
        "content" in update && update.content != null && "text" in update.content
          ? update.content.text
          : update.sessionUpdate;
      async function turn(text: string, { ref }: OpenedSession = session): Promise<readonly string[]> {
        const found: string[] = [];
        try {
          for await (const item of ref.stream("prompt", { prompt: [{ type: "text", text }] })) {
            found.push("sessionUpdate" in item ? textOf(item).trim() : item.stopReason);
            if (found.at(-1) === "waiting") ref.tell("cancel");
          }
        } catch (error) {
          found.push(error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error));
        }
        return found;
      }

      const [both, ofOther] = await Promise.all([turn("count 3"), turn("count 2", other)]);
      expect([both, ofOther]).toEqual([
        ["0", "1", "2", "end_turn"],
        ["0", "1", "end_turn"],
      ]);
      expect(await turn("wait")).toEqual(["waiting", "cancelled"]);
      expect(await turn(`write ${folder}/b.txt`)).toEqual(["written", "end_turn"]);
      expect(await turn(`read ${folder}/b.txt`)).toEqual(["two", "end_turn"]);
      expect(await turn("permit")).toEqual(["yes", "end_turn"]);
      expect(await turn("run")).toEqual(["0: 42", "end_turn"]);
      expect(await turn("refuse")).toEqual(["No poem today."]);
      expect(await turn("stop max_tokens")).toEqual(["max_tokens"]);
      expect((await session.ref.ask("setMode", { modeId: "code" })).isOk()).toBe(true);
      expect((await agent.refs.poet.ask("rhyme", { word: "all" })).unwrapOr(undefined)).toEqual({ rhyme: "small" });

      const heard: string[] = [];
      const request = { sessionId: "of before", cwd: folder };
      const loaded = await agent.loadSession(request, { onUpdate: (update) => void heard.push(textOf(update)) });
      if (hasMore) {
        expect([loaded.isOk(), heard]).toEqual([true, ["before"]]);
        for await (const update of session.ref.stream("updates")) {
          expect(update.sessionUpdate).toBe("available_commands_update"); // It came before the id of the session.
          break;
        }
        expect((await session.ref.ask("close")).isOk()).toBe(true);
      } else expect(loaded.isErr() && loaded.error.kind).toBe("unknown-operation");
      agent.close();
      await agent.closed;
    },
    60_000,
  );
});
