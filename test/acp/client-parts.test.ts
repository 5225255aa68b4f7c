import { expect, test } from "bun:test";
import { Volume } from "memfs";
import { spawnAcpFiles, spawnAcpTerminals } from "../../src/acp/index";
import { type AskResult, createSystem, receive } from "../../src/index";
import { RpcError } from "../../src/rpc/index";
import { spawnCodeExecution, spawnFileSystem } from "../../src/tools/index";

// The parts that a client of envoi serves to an agent with actors of the tools.

/** The value, or the code of the refusal. */
function codeOr<Value>(result: AskResult<Value>): Value | number | string {
  if (result.isOk()) return result.value;
  const { error } = result;
  return error.kind === "handler-failed" && error.cause instanceof RpcError ? error.cause.code : error.kind;
}

test("P18: an agent has the files below the root by their absolute paths, and no others", async () => {
  await using system = createSystem();
  const volume = Volume.fromJSON({}, "/");
  volume.mkdirSync("/files");
  const files = spawnFileSystem(system, { root: "/files", volume });
  const ref = receive(spawnAcpFiles(system, { files, root: "/work" }));
  const sessionId = "s";
  const read = async (path: string, more: object = {}): Promise<unknown> =>
    codeOr(await ref.ask("readTextFile", { sessionId, path, ...more }));
  expect(codeOr(await ref.ask("writeTextFile", { sessionId, path: "/work/a/b.txt", content: "1\n2\n3\n" }))).toEqual(
    {},
  );
  expect(await read("/work/a/b.txt")).toEqual({ content: "1\n2\n3\n" });
  expect(await read("/work/a/b.txt", { line: 2 })).toEqual({ content: "2\n3\n" });
  expect(await read("/work/a/b.txt", { line: 2, limit: 1 })).toEqual({ content: "2\n" });
  expect(await read("/work/a/b.txt", { limit: 0 })).toEqual({ content: "" });
  expect(await read("/work/none.txt")).toBe(-32002);
  for (const path of ["/etc/passwd", "/work", "/workshop/a", "work/a/b.txt", "a/b.txt"]) {
    expect([path, await read(path)]).toEqual([path, -32602]);
  }
  expect(await read("/work/../etc/passwd")).toBe(-32603);
});

test("an agent runs code in a terminal of its session, and sees the end of its output", async () => {
  await using system = createSystem();
  const ref = receive(spawnAcpTerminals(system, { code: spawnCodeExecution(system), most: 2 }));
  const sessionId = "s";
  const create = async (command: string, ...args: string[]): Promise<unknown> =>
    codeOr(await ref.ask("createTerminal", { sessionId, command, args, outputByteLimit: 8 }));
  const { terminalId } = (await create("javascript", "console.log('a line'); console.log('é é é'); 7")) as {
    terminalId: string;
  };
  const of = { sessionId, terminalId };
  expect(codeOr(await ref.ask("waitForTerminalExit", of, { timeout: 30_000 }))).toEqual({ exitCode: 0 });
  expect(codeOr(await ref.ask("terminalOutput", of))).toEqual({
    output: " é é\n7\n".slice(-6),
    truncated: true,
    exitStatus: { exitCode: 0 },
  });
  expect(codeOr(await ref.ask("terminalOutput", { ...of, sessionId: "other" }))).toBe(-32002);

  const { terminalId: endless } = (await create("typescript", "for (;;);")) as { terminalId: string };
  expect(await create("javascript", "1")).toBe(-32600);
  expect(codeOr(await ref.ask("killTerminal", { sessionId, terminalId: endless }))).toEqual({});
  const exited = await ref.ask("waitForTerminalExit", { sessionId, terminalId: endless });
  expect(codeOr(exited)).toEqual({ signal: "SIGKILL" });
  expect(codeOr(await ref.ask("releaseTerminal", of))).toEqual({});
  expect(codeOr(await ref.ask("terminalOutput", of))).toBe(-32002);
  expect(await create("ls", "-l")).toBe(-32602);
  expect(await create("javascript")).toBe(-32602);
}, 60_000);
