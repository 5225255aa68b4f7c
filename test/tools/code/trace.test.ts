import { expect, test } from "bun:test";
import { createSystem, defineProtocol, type Metadata, type System, Type } from "../../../src";
import { spawnCodeExecution, spawnProgram } from "../../../src/tools";

// What a run hands on goes with the calls of tools that its code makes; code neither sees nor writes it.

const TRACE = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", baggage: "user=ada" };
const CARRIED: Metadata = { ...TRACE, user: "Ada" };

const Tool = defineProtocol("tool", {
  ask: { payload: Type.String(), reply: Type.String() },
  items: { payload: Type.String(), stream: Type.String() },
});

function spawnTool(system: System) {
  const seen: [string, Metadata][] = [];
  const tool = system.spawn("tool", Tool, (ctx) => ({
    ask(text) {
      seen.push([text, ctx.metadata]);
      return text;
    },
    *items(text) {
      seen.push([text, ctx.metadata]);
      yield text;
    },
  }));
  return { tool, seen };
}

const CODE = `
await tools.tool.ask("asked");
for await (const item of tools.tool.items("read")) void item;
return 1;`;

for (const isolation of ["sandbox", "trusted"] as const) {
  test(`${isolation}: a call and a stream of a tool have the trace of the run, in its actor, its streams and its sessions`, async () => {
    await using system = createSystem({ askTimeout: 20_000 });
    const { tool, seen } = spawnTool(system);
    const code = spawnCodeExecution(system, { isolation, tools: { tool } });
    const expected = ["asked", "read"].map((text) => [text, TRACE]);
    const taken = (): unknown => seen.splice(0);
    const run = async (request: object, metadata: Metadata): Promise<void> => {
      const reply = await code.ask("execute", { code: CODE, ...request }, { metadata });
      expect(reply._unsafeUnwrap()).toMatchObject({ ok: true });
    };
    await run({}, CARRIED);
    expect(taken()).toEqual(expected);
    await run({}, { user: "Ada" });
    expect(taken()).toEqual(["asked", "read"].map((text) => [text, {}]));
    for await (const _ of code.stream("executeStream", { code: CODE }, { metadata: CARRIED }));
    expect(taken()).toEqual(expected);
    const opened = (await code.ask("session", {}))._unsafeUnwrap();
    if (!opened.ok) throw new Error(opened.error.message);
    await run({ session: opened.value.session }, CARRIED);
    expect(taken()).toEqual(expected);
  }, 30_000);
}

test("a program's calls have the trace of the message that it handles", async () => {
  await using system = createSystem({ askTimeout: 20_000 });
  const { tool, seen } = spawnTool(system);
  const protocol = defineProtocol("asker", { go: { payload: Type.String(), reply: Type.String() } });
  const source = "({ go: (text) => tools.tool.ask(text) })";
  const program = spawnProgram(system, "asker", source, { protocol, isolation: "sandbox", tools: { tool } });
  expect((await program.ask("go", "one", { metadata: CARRIED }))._unsafeUnwrap()).toBe("one");
  expect((await program.ask("go", "two"))._unsafeUnwrap()).toBe("two");
  expect(seen).toEqual([
    ["one", TRACE],
    ["two", {}],
  ]);
}, 30_000);
