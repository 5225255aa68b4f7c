import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnySignatures, createSystem, jsonSchemaOf, outcomeOf, type Ref, type System } from "../../src/index";
import { boundedFetch } from "../../src/mcp/client/bounded-fetch";
import { type ConnectMcpOptions, connectMcp } from "../../src/mcp/index";

const REMOTE = join(import.meta.dir, "programs/remote.ts");
const command = [process.execPath, REMOTE] as const;

/** A connection of a system whose log is kept; both end with the test. */
async function connected(more: Partial<ConnectMcpOptions> = {}) {
  const logged: string[] = [];
  const logger = { warn: (line: string) => void logged.push(line), error: (line: string) => void logged.push(line) };
  const system = createSystem({ logger });
  const tools = await connectMcp(system, { name: "remote", command, ...more } as ConnectMcpOptions); // Either of its forms.
  const end = async (): Promise<void> => {
    await tools.close();
    await system.shutdown();
  };
  return { system, tools, logged, [Symbol.asyncDispose]: end };
}

type Reply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: { readonly kind: string } };

async function ask(ref: Ref<AnySignatures>, operation: string, payload?: object): Promise<Reply> {
  const reply = await ref.ask(operation, payload, { timeout: 20_000 });
  if (reply.isErr()) throw reply.error;
  return reply.value as Reply; // By the protocol.
}

const told = async (ref: Ref<AnySignatures>, operation: string, payload?: object): Promise<unknown> => {
  const reply = await ask(ref, operation, payload);
  return reply.ok ? reply.value : reply.error;
};

/** Waits until something holds, looking after each turn of the event loop. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("the tools of another server", () => {
  test("are operations of one actor, with what the server says of them", async () => {
    await using connection = await connected();
    const { tools } = connection;
    expect(tools.ref.address).toBe("@(mcp/remote/tools)");
    expect(tools.server).toEqual({ name: "remote", version: "2.0.0", protocolVersion: "2026-07-28" });
    const { add, say } = jsonSchemaOf(tools.protocol, ["add", "say"]);
    expect(add).toMatchObject({
      description: "Adds.",
      hints: { readOnly: true },
      input: { type: "object", required: ["a", "b"] },
      isInputRequired: true,
    });
    expect(say?.input).toMatchObject({ properties: { what: { type: "string" } } });
    const outcome = outcomeOf(tools.protocol.operations["add"]);
    expect(outcome?.value).toMatchObject({ type: "object", properties: { sum: { type: "number" } } });
  });

  test("give their structured content, their texts, their parts, or their errors", async () => {
    await using connection = await connected();
    const { ref } = connection.tools;
    expect(await ask(ref, "add", { a: 1, b: 2 })).toEqual({ ok: true, value: { sum: 3 } });
    expect(await ask(ref, "say", { what: "tea" })).toEqual({ ok: true, value: "tea" });
    expect(await told(ref, "picture")).toMatchObject([{ type: "image", data: "aGk=" }]);
    expect(await ask(ref, "fail")).toEqual({
      ok: false,
      error: { kind: "failed", message: "It does not work." },
    } as Reply);
    expect(await told(ref, "add", { a: 1 })).toMatchObject({ kind: "failed" });
    expect(await told(ref, "then_")).toBe("and then");
    const unknown = await ref.ask("none");
    expect(unknown.isErr() && unknown.error.kind).toBe("unknown-operation");
  }, 30_000);

  test("hear of progress, and are cancelled", async () => {
    await using connection = await connected();
    const { ref } = connection.tools;
    const seen: number[] = [];
    const reply = await ref.ask("work", undefined, {
      onProgress({ done }) {
        seen.push(done);
        void ref.ask("go_on");
      },
    });
    expect(reply.isOk()).toBe(true);
    expect(seen).toEqual([1, 2, 3]);
    const giveUp = new AbortController();
    const hanging = ref.ask("hang", undefined, { signal: giveUp.signal });
    setImmediate(() => giveUp.abort());
    const given = await hanging;
    expect(given.isErr() && given.error.kind).toBe("cancelled");
    expect(await told(ref, "say", { what: "on" })).toBe("on");
    expect(connection.logged.filter((line) => String(line).includes("dead letter"))).toEqual([]);
  });

  test("run beside each other", async () => {
    await using connection = await connected();
    const { ref } = connection.tools;
    const giveUp = new AbortController();
    const hanging = ref.ask("hang", undefined, { signal: giveUp.signal, timeout: 20_000 });
    expect(await told(ref, "say", { what: "beside" })).toBe("beside");
    giveUp.abort();
    await hanging;
  });

  test("are a program with none of our variables but those that it is given", async () => {
    process.env["A_SECRET_OF_OURS"] = "s3cr3t";
    await using connection = await connected({ env: { GIVEN: "yes" } });
    const env = JSON.parse(String(await told(connection.tools.ref, "env")));
    expect([env["GIVEN"], env["A_SECRET_OF_OURS"]]).toEqual(["yes", undefined]);
  });
});

describe("a connection", () => {
  test("P9: is made anew when its program dies: what was under way is told as lost, and later calls find another one", async () => {
    await using connection = await connected();
    const { ref } = connection.tools;
    const first = await told(ref, "pid");
    expect(await ask(ref, "die")).toMatchObject({ ok: false, error: { kind: "lost" } });
    let second: unknown;
    await until(async () => {
      second = await told(ref, "pid");
      return typeof second === "string";
    });
    expect(second).not.toBe(first);
    expect(connection.system.restarts).toBe(1);
  }, 30_000);

  test("follows the list of tools, and its reference goes on", async () => {
    await using connection = await connected();
    const { tools, system } = connection;
    const { ref } = tools;
    const events: unknown[] = [];
    system.events.subscribe((event) => event.kind === "mcp:tools" && events.push(event));
    expect("grown" in tools.protocol.operations).toBe(false);
    expect(await told(ref, "grow")).toBe("grew");
    await until(() => "grown" in tools.protocol.operations);
    expect(await told(tools.ref, "grown")).toBe("new");
    expect(await told(ref, "say", { what: "still" })).toBe("still");
    expect(events).toMatchObject([
      { address: "@(mcp/remote/tools)", detail: { tools: expect.arrayContaining(["grown"]) } },
    ]);
    expect(system.restarts).toBe(0);
  }, 30_000);

  test("over HTTP is made anew when its server comes back", async () => {
    const start = (port: number) =>
      Bun.spawn([process.execPath, REMOTE, "http", String(port)], {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "inherit",
      });
    const urlOf = async (child: ReturnType<typeof start>) =>
      new TextDecoder().decode((await child.stdout.getReader().read()).value).trim();
    let child = start(0);
    const url = await urlOf(child);
    const system = createSystem();
    const tools = await connectMcp(system, { name: "remote", url });
    const first = await told(tools.ref, "pid");
    child.kill("SIGKILL");
    await child.exited;
    expect(await ask(tools.ref, "pid")).toMatchObject({ ok: false, error: { kind: "lost" } });
    child = start(Number(new URL(url).port));
    await urlOf(child);
    let second: unknown;
    await until(async () => {
      second = await told(tools.ref, "pid");
      return typeof second === "string";
    });
    expect(second).not.toBe(first);
    await tools.close();
    await system.shutdown();
    child.kill();
  }, 30_000);

  test("ends with its system, and its program with it", async () => {
    const system = createSystem();
    const tools = await connectMcp(system, { name: "remote", command });
    const pid = Number(await told(tools.ref, "pid"));
    await system.shutdown();
    await until(() => !isAlive(pid));
  }, 30_000);

  test("ends with its system while it is made anew, and leaves no program behind", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "envoi-mcp-")), "pids");
    const pids = (): readonly number[] =>
      (existsSync(file) ? readFileSync(file, "utf8").split("\n") : []).filter(Boolean).map(Number);
    const noting = ["sh", "-c", 'echo $$ >> "$0"; exec "$@"', file, ...command] as const;
    const system = createSystem({ logger: { warn: () => {}, error: () => {} } });
    await connectMcp(system, { name: "remote", command: noting });
    const before = pids();
    for (const pid of before.filter(isAlive)) process.kill(pid, "SIGKILL");
    await until(() => pids().length > before.length);
    await system.shutdown();
    await until(() => pids().every((pid) => !isAlive(pid)));
  }, 30_000);

  test.each([
    ["a program that there is not", { command: ["/none/such"] as const }, /MCP server "remote" could not be reached/],
    [
      "a program that says nothing and ends",
      { command: [process.execPath, "-e", "1"] as const },
      /could not be reached/,
    ],
    ["a program that hangs", { command: ["sleep", "60"] as const, connectTimeout: 300 }, /within 300 ms/],
    ["a URL where nobody is", { url: "http://127.0.0.1:1/" }, /could not be reached/],
  ])(
    "to %s is an error, and leaves nothing behind",
    async (_, options, sentence) => {
      const system = createSystem();
      const connect = (): Promise<unknown> => connectMcp(system, { name: "remote", ...options });
      expect(connect()).rejects.toThrow(sentence);
      await connect().catch(() => {});
      expect(system.inspect()).toEqual([]);
      await system.shutdown();
    },
    30_000,
  );

  test("to a URL where there is no such server is an error with the status", async () => {
    await using web = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null, { status: 404 }) });
    const system = createSystem();
    const connected = connectMcp(system, { name: "remote", url: web.url });
    await expect(connected).rejects.toThrow(/could not be reached: .*[^:] \(HTTP 404\)$/);
    await system.shutdown();
  });

  test("has a name of its own", async () => {
    await using connection = await connected();
    expect(connectMcp(connection.system, { name: "remote", command })).rejects.toThrow("are resolved already");
  });
});

describe("P18: a server that does what it should not", () => {
  const hostile = { command: [process.execPath, join(import.meta.dir, "programs/hostile.ts")] as const };

  test("cannot give what does not fit its own schema, and its noise is passed over", async () => {
    await using connection = await connected(hostile);
    const { ref, server } = connection.tools;
    expect(server?.protocolVersion).toBe("2025-11-25");
    expect(await ask(ref, "lie")).toMatchObject({ ok: false, error: { kind: "invalid-reply" } });
    expect(await told(ref, "noise")).toBe("still here");
  }, 30_000);

  test("cannot tell of progress that is none, or at length: the call goes on, and nothing is logged", async () => {
    await using connection = await connected(hostile);
    const { tools, logged } = connection;
    const notes: number[] = [];
    const seen: number[] = [];
    const reply = await tools.ref.ask("odd", undefined, {
      onProgress({ done, note = "" }) {
        seen.push(done);
        notes.push(note.length);
      },
    });
    expect(reply._unsafeUnwrap()).toEqual({ ok: true, value: "odd" });
    expect(seen).toContain(3); // The one with a giant note.
    expect(seen.every(Number.isFinite)).toBe(true);
    expect(Math.max(...notes)).toBeLessThanOrEqual(1_024);
    expect(logged).toEqual([]);
    expect(await told(tools.ref, "count")).toBe("1");
  }, 30_000);

  test("is not asked for its tools as often as it says that they have changed", async () => {
    await using connection = await connected(hostile);
    const { ref } = connection.tools;
    expect(await told(ref, "flood")).toBe("flooded");
    expect(await told(ref, "flood")).toBe("flooded");
    expect(Number(await told(ref, "count"))).toBeLessThanOrEqual(4);
  }, 30_000);

  test("loses its connection by a giant message, and gets another one", async () => {
    await using connection = await connected({ ...hostile, limits: { message: 100_000 } });
    const { ref } = connection.tools;
    expect(await ask(ref, "giant")).toMatchObject({ ok: false, error: { kind: "lost" } });
    await until(async () => (await told(ref, "count")) === "1");
  }, 30_000);

  test("over HTTP cannot send a giant message, in one piece or as an event", async () => {
    for (const type of ["application/json", "text/event-stream"]) {
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: () =>
          new Response(
            new ReadableStream({
              async pull(controller) {
                await new Promise((resolve) => setImmediate(resolve));
                controller.enqueue(new TextEncoder().encode("a".repeat(10_000)));
              },
            }),
            { headers: { "content-type": type } },
          ),
      });
      const response = await boundedFetch(50_000)(server.url);
      expect(response.text()).rejects.toThrow("more than 50000 bytes");
      await response.body?.cancel().catch(() => {});
      await server.stop(true);
    }
    const lines = `data: ${"a".repeat(30_000)}\n\n`.repeat(10);
    const server = Bun.serve({
      port: 0,
      fetch: () => new Response(lines, { headers: { "content-type": "text/event-stream" } }),
    });
    expect(await (await boundedFetch(50_000)(server.url)).text()).toBe(lines);
    await server.stop(true);
  }, 30_000);
});

test.each([
  [{ command: ["a"] }, /name of a connection/],
  [{ name: "a b", command: ["a"] }, /letters, digits, _ and -/],
  [{ name: "a" }, /either a command, which starts the server, or its url/],
  [{ name: "a", command: ["a"], url: "http://a" }, /either a command/],
  [{ name: "a", command: [] }, /names a program/],
  [{ name: "a", command: "a b" }, /array of texts/],
  [{ name: "a", url: "file:///etc" }, /http or https URL/],
  [{ name: "a", url: "http://a", header: {} }, /no option "header"/],
  [{ name: "a", command: ["a"], limits: { tools: 0 } }, /whole number from 1/],
])("options such as %j are refused", async (options, sentence) => {
  const system: System = createSystem();
  expect(connectMcp(system, options as never)).rejects.toThrow(sentence); // Written by people without a compiler.
  await system.shutdown();
});
