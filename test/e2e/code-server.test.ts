import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { client as acpClient, type ClientContext, ndJsonStream, type SessionUpdate } from "@agentclientprotocol/sdk";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { parseCommand, USAGES, UsageError } from "../../examples/code-server/command-line";
import { refusalOf } from "./refusal";

const example = join(import.meta.dir, "../../examples/code-server");
const bun = process.execPath;
/** Of no environment that names a model. */
const env = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };

let folder = "";
let outside = "";
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), "envoi-code-server-"));
  folder = join(outside, "folder");
  rmSync(folder, { recursive: true, force: true });
  Bun.spawnSync(["mkdir", folder]);
  writeFileSync(join(outside, "secret.txt"), "a secret");
  writeFileSync(join(folder, "prices.csv"), "tea,3\nmilk,2\n");
  writeFileSync(join(folder, ".env"), "KEY=a secret");
  symlinkSync(join(outside, "secret.txt"), join(folder, "link"));
});
afterEach(() => rmSync(outside, { recursive: true, force: true }));

/** As much work as many beats. */
const WRITES = "for (let n = 0; n < 20; n++) await tools.files.write({ path: 'other.txt', content: String(n) });";

/** The processes that a process has started, and those that they have. */
function childrenOf(pid: number): number[] {
  const parents = readdirSync("/proc").flatMap((name) => {
    try {
      const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? [];
      return [[Number(name), Number(parent)] as const];
    } catch {
      return []; // No process, or one that has ended.
    }
  });
  const below = (of: number): number[] =>
    parents.flatMap(([child, parent]) => (parent === of ? [child, ...below(child)] : []));
  return below(pid);
}

const isAlive = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

/** Waits for what another process does. The test's timeout bounds it. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(5);
}

/** A child whose stdin and stdout are the protocol's. */
const start = (program: "mcp" | "agent", ...words: string[]) =>
  Bun.spawn([bun, join(example, `${program}.ts`), folder, ...words], {
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });

/** What its stdout says first. */
async function firstLine(child: { readonly stdout: ReadableStream<Uint8Array> }): Promise<string> {
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return new TextDecoder().decode(value).trim();
}

const COUNT = `
let sum = 0;
const found = [];
for await (const item of tools.files.search({ pattern: "\\\\d+$" })) {
  if (!item.ok || item.value.kind !== "match") continue;
  found.push(item.value.path);
  progress({ done: found.length, total: 2, note: item.value.path });
  while (!(await tools.files.read({ path: "heard-" + found.length })).ok); // Its client has heard of it.
}
const read = await tools.files.read({ path: found[0] });
for (const line of read.value.content.trim().split("\\n")) sum += Number(line.split(",")[1]);
await tools.files.write({ path: "sum.txt", content: String(sum) });
return sum;
`;
/** Goes on for ever, and shows that it does: says so once its first beat is written. */
const BEATS = `for (let n = 0; ; n++) {
  await tools.files.write({ path: "beat.txt", content: String(n) });
  if (n === 0) progress(0);
}`;

/** What is in the folder; `.envoi` is where the file actor writes what is not whole yet. */
const named = (): string[] =>
  readdirSync(folder)
    .filter((name) => name !== ".envoi")
    .sort();

test.each(["stdio", "http"])(
  "an MCP server serves files, search, and code that calls them, by the official client: %s",
  async (way) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
    let server: ReturnType<typeof start> | undefined;
    if (way === "stdio") {
      const args = [join(example, "mcp.ts"), folder, "--time", "600000"];
      await client.connect(new StdioClientTransport({ command: bun, args, env }));
    } else {
      server = start("mcp", "--time", "600000", "--http", "0");
      const [, url = ""] = /^It listens at (\S+)$/.exec(await firstLine(server)) ?? [];
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    }
    const call = async (name: string, args: Record<string, unknown>, options = {}) => {
      const { structuredContent, isError, content } = await client.callTool({ name, arguments: args }, options);
      return isError === true ? { error: JSON.stringify(content) } : structuredContent;
    };

    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "files_list",
      "files_read",
      "files_search",
      "files_write",
      "files_edit",
      "code_run",
    ]);
    expect(tools.at(-1)?.description).toContain("read(payload: {"); // The code's types.

    expect(await call("files_read", { path: "prices.csv" })).toMatchObject({ content: "tea,3\nmilk,2\n" });
    expect(await call("files_write", { path: "deep/note.txt", content: "tea" })).toMatchObject({ created: true });
    expect(readFileSync(join(folder, "deep/note.txt"), "utf8")).toBe("tea");
    expect(
      await call("files_edit", { path: "deep/note.txt", edits: [{ oldText: "tea", newText: "milk" }] }),
    ).toMatchObject({
      size: 4,
    });
    expect(await call("files_search", { text: "milk" })).toMatchObject({
      isComplete: true,
      items: [
        { kind: "match", path: "deep/note.txt", line: 1 },
        { kind: "match", path: "prices.csv", line: 2 },
        { kind: "end" },
      ],
    });

    const progress: unknown[] = [];
    const onprogress = (told: { progress: number }) => {
      progress.push(told);
      writeFileSync(join(folder, `heard-${told.progress}`), "");
    };
    expect(await call("code_run", { code: COUNT }, { onprogress })).toMatchObject({ value: 5 });
    expect(readFileSync(join(folder, "sum.txt"), "utf8")).toBe("5");
    expect(progress).toEqual([
      { progress: 1, total: 2, message: "prices.csv" },
      { progress: 2, total: 2, message: "prices.csv" },
    ]);

    for (const path of ["../secret.txt", join(outside, "secret.txt"), "link", ".env", "deep/../../secret.txt"]) {
      const code = `(await tools.files.read(${JSON.stringify({ path })})).error.kind`;
      const refused = [await call("files_read", { path }), await call("code_run", { code })];
      expect([path, refused]).toEqual([
        path,
        [
          { error: expect.stringMatching(/outside-root|denied/) },
          expect.objectContaining({ value: expect.stringMatching(/outside-root|denied/) }),
        ],
      ]);
      expect(JSON.stringify(refused)).not.toContain("a secret");
      expect(await call("files_write", { path, content: "x" })).toMatchObject({ error: expect.anything() });
    }
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("a secret");
    const { contents } = await client.readResource({ uri: "files://folder/prices.csv" });
    expect(contents).toMatchObject([{ text: "tea,3\nmilk,2\n" }]);

    // A client that gives up ends its code, however much time that has.
    const giveUp = new AbortController();
    const given = { signal: giveUp.signal, onprogress: () => giveUp.abort(), timeout: 60_000 };
    expect(await call("code_run", { code: BEATS }, given).catch(() => "given up")).toBe("given up");
    let last = "none";
    let quiet = 0;
    await until(async () => {
      await call("code_run", { code: WRITES });
      const beat = readFileSync(join(folder, "beat.txt"), "utf8");
      quiet = beat === last ? quiet + 1 : 0;
      last = beat;
      return quiet === 5; // Between two beats are 2 or 3 writes.
    });
    await client.close();
    server?.kill("SIGTERM");
    expect([await server?.exited, server?.signalCode]).toEqual(
      way === "stdio" ? [undefined, undefined] : [143, "SIGTERM"],
    );
  },
  30_000,
);

describe("the MCP server over stdio, as a program", () => {
  const INITIALIZE = {
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  /** A server that runs code for ever, by a client that writes its lines by hand. */
  async function running() {
    const child = start("mcp", "--time", "600000");
    const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    say({ id: 1, ...INITIALIZE });
    say({ method: "notifications/initialized" });
    say({ id: 2, method: "tools/call", params: { name: "code_run", arguments: { code: BEATS } } });
    await child.stdin.flush();
    await until(() => readdirSync(folder).includes("beat.txt"));
    return child;
  }

  test.each(["the end of its input", "SIGTERM"])(
    "ends by %s, with the code that it runs",
    async (way) => {
      const child = await running();
      const children = childrenOf(child.pid);
      expect(children.length).toBeGreaterThan(0);
      if (way === "SIGTERM") child.kill("SIGTERM");
      else child.stdin.end();
      expect(await child.exited).toBe(way === "SIGTERM" ? 143 : 0);
      await until(() => !children.some(isAlive));
      expect(await child.stderr.text()).not.toContain("did not stop"); // The code was ended, and not waited for.
    },
    30_000,
  );

  test("leaves nothing behind when it is killed", async () => {
    const child = await running();
    const children = childrenOf(child.pid);
    expect(children.length).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await child.exited;
    await until(() => !children.some(isAlive));
    expect(named()).toEqual([".env", "beat.txt", "link", "prices.csv"]);
    expect(readFileSync(join(folder, "beat.txt"), "utf8")).toMatch(/^\d+$/); // A write is whole, or not at all.
    const again = start("mcp");
    const staged = () => readdirSync(join(folder, ".envoi")).sort();
    await until(() => String(staged()) === ".gitignore,lock"); // The next start removes what was being written.
    again.stdin.end();
    expect(await again.exited).toBe(0);
  }, 30_000);

  test("changes nothing with --read-only, and ends code that loops for ever", async () => {
    const client = new Client({ name: "test", version: "1" });
    const args = [join(example, "mcp.ts"), folder, "--read-only", "--time", "300"];
    await client.connect(new StdioClientTransport({ command: bun, args, env }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["files_list", "files_read", "files_search", "code_run"]);
    const code = "try { await tools.files.write({ path: 'a', content: '' }) } catch (e) { e.name }";
    const ran = await client.callTool({ name: "code_run", arguments: { code } });
    expect(ran.structuredContent).toMatchObject({ value: "ToolError" }); // It has no such operation.
    const endless = await client.callTool({ name: "code_run", arguments: { code: "for (;;);" } });
    expect(endless).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('"timeout"') }] });
    await client.close();
  }, 30_000);
});

describe("the agent, by the official client", () => {
  /** Plays with an agent in a process of its own. `answer` is the user who is asked. */
  async function play(
    answer: (asked: { title: string; diff: unknown }) => string | Promise<string>,
    scene: (
      turn: (text: string) => Promise<unknown[]>,
      tools: { agent: ClientContext; sessionId: string; heard: readonly SessionUpdate[] },
    ) => Promise<void>,
    surroundings: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const child = Bun.spawn([bun, join(example, "agent.ts"), folder, "--time", "600000"], {
      env: { ...env, ...surroundings },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    const output = new WritableStream<Uint8Array>({
      async write(chunk) {
        child.stdin.write(chunk);
        await child.stdin.flush();
      },
    });
    const heard: SessionUpdate[] = [];
    await acpClient({ name: "test" })
      .onNotification("session/update", ({ params: { update } }) => void heard.push(update))
      .onRequest("session/request_permission", async ({ params: { toolCall } }) => {
        const optionId = await answer({ title: toolCall.title ?? "", diff: toolCall.content?.[0] });
        return { outcome: { outcome: "selected", optionId } };
      })
      .connectWith(ndJsonStream(output, child.stdout), async (agent) => {
        await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
        const elsewhere = agent.request("session/new", { cwd: outside, mcpServers: [] });
        expect(await elsewhere.catch(({ code }) => code)).toBe(-32_602);
        const { sessionId } = await agent.request("session/new", { cwd: folder, mcpServers: [] });
        await until(() => heard.length > 0);
        expect(heard.shift()).toMatchObject({
          sessionUpdate: "available_commands_update",
          availableCommands: ["list", "read", "search", "write", "run"].map((name) => ({ name })),
        });
        /** What a turn tells: the states of tools, their progress, texts, and its end. */
        const turn = async (text: string): Promise<unknown[]> => {
          const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
          return [...heard.splice(0).map(shortOf), stopReason];
        };
        await scene(turn, { agent, sessionId, heard });
      });
    const children = childrenOf(child.pid);
    child.stdin.end();
    expect(await child.exited).toBe(0);
    await until(() => !children.some(isAlive));
    expect(await child.stderr.text()).not.toContain("did not stop"); // No code runs on that was to end.
  }

  const shortOf = (update: SessionUpdate): unknown => {
    if (update.sessionUpdate === "agent_message_chunk") return update.content.type === "text" && update.content.text;
    if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update")
      return update.sessionUpdate;
    const [first] = update.content ?? [];
    const text = first?.type === "content" && first.content.type === "text" ? first.content.text : undefined;
    return update.status ?? text;
  };
  const nobody = (): never => {
    throw new Error("Nobody was to be asked.");
  };

  test("reads, searches and runs code, and streams what it does", async () => {
    await play(nobody, async (turn, { heard }) => {
      expect(await turn("hello")).toEqual([expect.stringContaining("/read file"), "end_turn"]);
      expect(await turn("/list")).toEqual([
        ...["pending", "in_progress", "completed"],
        "```\nlink\nprices.csv\n```",
        "end_turn",
      ]);
      expect((await turn("/read prices.csv")).at(-2)).toBe("```\ntea,3\nmilk,2\n```");
      expect((await turn("/search milk")).at(-2)).toBe("prices.csv:2: milk,2");
      expect(await turn("/read ../secret.txt")).toEqual([
        ...["pending", "in_progress", "failed"],
        expect.stringContaining('without ".."'),
        "end_turn",
      ]);
      const pause = (path: string) => `while (!(await tools.files.read({ path: '${path}' })).ok);`;
      const running = turn(
        `/run console.log('a'); progress({ done: 1, total: 2 }); ${pause("a")} progress('end'); ${pause("b")} return 2`,
      );
      await until(() => heard.some((update) => shortOf(update) === "1 of 2"));
      writeFileSync(join(folder, "a"), "");
      await until(() => heard.some((update) => shortOf(update) === "end: 2"));
      writeFileSync(join(folder, "b"), "");
      const told = ["pending", "in_progress", "1 of 2", "end: 2", "completed"];
      expect(await running).toEqual([...told, "```\na\n2\n```", "end_turn"]);
    });
  }, 30_000);

  test("writes what the user permits, and only that", async () => {
    const asked: unknown[] = [];
    const answers = ["once", "no", "once", "no", "always"];
    const path = join(folder, "note.txt");
    await play(
      (question) => {
        asked.push(question);
        if (asked.length === 3) writeFileSync(path, "the user's own"); // While the question stands.
        return answers[asked.length - 1] ?? "none";
      },
      async (turn) => {
        expect(await turn("/write note.txt\none\n")).toEqual([
          ...["pending", "in_progress", "completed"],
          "Written: 4 bytes.",
          "end_turn",
        ]);
        expect(readFileSync(path, "utf8")).toBe("one\n");
        expect((await turn("/write note.txt\ntwo")).slice(1)).toEqual([
          "failed",
          expect.stringContaining("does not want"),
          "end_turn",
        ]);
        expect(readFileSync(path, "utf8")).toBe("one\n");
        expect((await turn("/write note.txt\nthree")).at(-2)).toContain("is not what it was");
        expect(readFileSync(path, "utf8")).toBe("the user's own");

        const write = (name: string) => `await tools.files.write({ path: '${name}', content: 'x' })`;
        const refused = await turn(`/run try { ${write("a.txt")} } catch (error) { error.kind }`);
        expect(refused.at(-2)).toContain("refused");
        // A change that cannot be shown is not made, and nobody is asked for it.
        const image = Uint8Array.of(0xff, 0xd8, 0x00);
        writeFileSync(join(folder, "image.bin"), image);
        expect((await turn("/write image.bin\nx")).slice(1)).toEqual(["failed", expect.anything(), "end_turn"]);
        const unseen = await turn(`/run try { ${write("image.bin")} } catch (error) { error.kind }`);
        expect(unseen.at(-2)).toContain("refused");
        expect(new Uint8Array(readFileSync(join(folder, "image.bin")))).toEqual(image);
        expect((await turn(`/run ${write("b.txt")}; ${write("c.txt")}; 'done'`)).at(-2)).toContain("done");
        expect((await turn("/write d.txt\nx")).at(-2)).toBe("Written: 1 bytes.");
      },
    );
    expect(asked).toMatchObject([
      { title: "Write note.txt", diff: { type: "diff", path, oldText: null, newText: "one\n" } },
      { title: "Write note.txt", diff: { oldText: "one\n", newText: "two" } },
      { diff: { newText: "three" } },
      { title: "Write a.txt" },
      { title: "Write b.txt" }, // From here on, always.
    ]);
    expect(named()).toEqual([".env", "b.txt", "c.txt", "d.txt", "image.bin", "link", "note.txt", "prices.csv"]);
  }, 30_000);

  test("ends what it does when the user cancels, also while it waits for an answer", async () => {
    const question = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<string>();
    await play(
      () => {
        question.resolve();
        return answer.promise;
      },
      async (turn, { agent, sessionId }) => {
        const writing = turn("/write note.txt\none");
        await question.promise;
        await agent.notify("session/cancel", { sessionId });
        expect((await writing).at(-1)).toBe("cancelled");
        answer.resolve("once"); // Too late.
        const running = turn("/run for (;;);");
        await agent.notify("session/cancel", { sessionId });
        expect((await running).at(-1)).toBe("cancelled");
        expect((await turn("/run 1")).at(-2)).toContain("1"); // The session goes on.
      },
    );
    expect(readdirSync(folder)).not.toContain("note.txt");
  }, 30_000);

  test("ends with its editor, with the code that runs for it", async () => {
    const child = start("agent", "--time", "600000");
    const reader = child.stdout.getReader();
    const decoder = new TextDecoder();
    let text = "";
    const ask = async (id: number, method: string, params: object, answer: RegExp): Promise<string> => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      await child.stdin.flush();
      for (;;) {
        const [, found] = answer.exec(text) ?? [];
        if (found !== undefined) return found;
        text += decoder.decode((await reader.read()).value, { stream: true });
      }
    };
    await ask(1, "initialize", { protocolVersion: 1, clientCapabilities: {} }, /"(agentInfo)"/);
    const sessionId = await ask(2, "session/new", { cwd: folder, mcpServers: [] }, /"sessionId":"([^"]+)"/);
    const prompt = [{ type: "text", text: "/run progress('it runs'); for (;;);" }];
    await ask(3, "session/prompt", { sessionId, prompt }, /(it runs: 1)/);
    const children = childrenOf(child.pid);
    child.stdin.end();
    expect(await child.exited).toBe(0);
    await until(() => !children.some(isAlive));
    expect(await child.stderr.text()).not.toContain("did not stop");
  }, 30_000);

  test("asks a model what to do where the environment names one, and the user before it writes", async () => {
    const said = [
      { tool_calls: [{ function: { name: "files_read", arguments: '{"path":"prices.csv"}' } }] },
      { tool_calls: [{ function: { name: "files_write", arguments: '{"path":"../x","content":"x"}' } }] },
      { tool_calls: [{ function: { name: "files_write", arguments: '{"path":"sum.txt","content":"5"}' } }] },
      { content: "They cost 5." },
    ];
    const asked: { messages: { role: string; content: string }[]; tools: { function: { name: string } }[] }[] = [];
    await using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        asked.push((await request.json()) as (typeof asked)[number]); // Looked at below.
        const message = said[asked.length - 1];
        return message === undefined
          ? new Response("too busy", { status: 503 })
          : Response.json({ choices: [{ message: { content: null, ...message } }] });
      },
    });
    const model = { OPENAI_BASE_URL: `http://127.0.0.1:${server.port}/v1`, OPENAI_MODEL: "any" };
    const questions: string[] = [];
    await play(
      ({ title }) => {
        questions.push(title);
        return "once";
      },
      async (turn) => {
        expect((await turn("What do they cost?")).slice(-2)).toEqual(["They cost 5.", "end_turn"]);
        expect(await turn("And now?").catch(({ message }) => message)).toContain("status 503");
        expect((await turn("/read sum.txt")).at(-2)).toBe("```\n5\n```"); // The session goes on, without the model.
      },
      model,
    );
    expect(questions).toEqual(["Write sum.txt"]); // A path that is refused anyway is nothing to ask for.
    expect(asked[0]?.tools.map((tool) => tool.function.name)).toEqual([
      ...["files_list", "files_read", "files_search", "files_write"],
      "code_run",
    ]);
    const shown = asked[3]?.messages.flatMap(({ role, content }) => (role === "tool" ? [JSON.parse(content)] : []));
    expect(shown).toMatchObject([
      { value: { content: "tea,3\nmilk,2\n" } },
      { error: { kind: "outside-root" } },
      { value: { size: 1 } },
    ]);
  }, 30_000);
});

describe("the command line", () => {
  test("says what is wrong with it", () => {
    const refused = (which: keyof typeof USAGES, ...words: string[]) =>
      refusalOf(() => parseCommand(words, which, {}), UsageError);
    expect(refused("mcp")).toBe("Give a folder: mcp.ts FOLDER.");
    expect(refused("mcp", folder, "b")).toBe('Give one folder, not also "b".');
    expect(refused("mcp", join(folder, "none"))).toContain("cannot be read");
    expect(refused("mcp", folder, "--http", "no")).toBe('--http needs a whole number from 0 to 65535; got "no".');
    expect(refused("mcp", folder, "--time", "0")).toBe('--time needs a whole number from 1 to 600000; got "0".');
    expect(refused("agent", folder, "--http", "1")).toContain("over stdio alone");
    expect(refused("agent", folder, "--htp")).toContain("--help");
  });

  test("is explained by --help, and followed by a status", () => {
    const run = (...words: string[]) => Bun.spawnSync([bun, join(example, "mcp.ts"), ...words], { env });
    expect(run("--help").stdout.toString()).toBe(USAGES.mcp);
    const refused = run("no-such-folder");
    expect([refused.exitCode, refused.stdout.toString()]).toEqual([2, ""]);
    using taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    const inUse = run(folder, "--http", String(taken.port));
    expect([inUse.exitCode, inUse.stderr.toString()]).toEqual([1, expect.stringContaining(String(taken.port))]);
  }, 20_000);
});
