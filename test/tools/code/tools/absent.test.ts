import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, Type } from "../../../../src";
import { spawnCodeExecution } from "../../../../src/tools/code/code-execution";
import { errorIn, ways, withCode } from "../tiers";

const operation = { payload: Type.Unknown(), reply: Type.String() };
const Files = defineProtocol("absent-files", { read: operation, write: operation, remove: operation });
const Many = defineProtocol(
  "absent-many",
  Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`operation${at}`, operation])),
);

for (const { isolation, language } of ways) {
  describe(`Tools that are not there: ${isolation}, ${language}`, () => {
    test("are named with those that are, the nearest first, and of what was not granted nothing is told", async () => {
      await using system = createSystem();
      const answer = () => "answered";
      const files = system.spawn("files", Files, () => ({ read: answer, write: answer, remove: answer }));
      const many = system.spawn("many", Many, () =>
        Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`operation${at}`, answer])),
      );
      const tools = { many, database: files, files: { ref: files, operations: ["write", "read"] } };
      await withCode(
        { isolation, tools },
        async (run) => {
          const { message, name, line } = errorIn(await run("await tools.fils.read({})"));
          expect([name, message, line]).toEqual([
            "ToolError",
            "There is no tools.fils. There are: files, many, database.",
            1,
          ]);
          expect(errorIn(await run("tools.files.raed({})")).message).toBe(
            "There is no tools.files.raed. There are: read, write.",
          );
          expect(errorIn(await run("await tools.files.remove({})")).message).toBe(
            "There is no tools.files.remove. There are: read, write.",
          );
          const long = errorIn(await run("tools.many['operation7'.repeat(1e5)]()")).message;
          expect(long.length).toBeLessThan(600);
          expect(long).toMatch(/^There is no tools\.many…\. There are: operation.* and 40 more\.$/);
          const quiet = `const { then, toJSON, constructor, toString } = tools;
            const found = "fils" in tools || "raed" in tools.files;
            const listed = Object.keys(tools).length + Object.keys({ ...tools.files }).length;
            console.log(tools); console.log(tools.files);
            return [typeof then, typeof toJSON, typeof constructor, typeof toString, found, listed, JSON.stringify(tools), await tools === tools, await tools.files.read({})]`;
          const ran = await run(quiet);
          expect(ran.ok ? ran.value.value : ran.error).toEqual([
            "undefined",
            "undefined",
            "undefined",
            "undefined",
            false,
            5,
            '{"many":{},"database":{},"files":{}}',
            true,
            "answered",
          ]);
        },
        language,
      );
    });
  });
}

test("what code made of its tools is no way to have something else named", async () => {
  await using system = createSystem();
  const files = system.spawn("files", Files, () => ({ read: () => "", write: () => "", remove: () => "" }));
  const code = spawnCodeExecution(system, { tools: { files: { ref: files, operations: ["read"] } } });
  const source = `const heir = Object.create(tools); const proto = Object.getPrototypeOf(tools);
    const said = [];
    for (const of of [() => heir.other, () => proto.other, () => Reflect.get(tools, "other", {}), () => Reflect.get(tools, "remove", tools.files)]) {
      try { said.push(String(of())) } catch (e) { said.push(e.message) }
    }
    try { proto.injected = 1; said.push(String(tools.files.injected ?? "")) } catch (e) { said.push(e.message) }
    return said`;
  const answer = (await code.ask("execute", { code: source }))._unsafeUnwrap();
  expect(answer.ok ? answer.value.value : answer.error).toEqual([
    "undefined",
    "undefined",
    "undefined",
    "There is no tools.files.remove. There are: read.",
    "There is no tools.files.injected. There are: read.",
  ]);
});
