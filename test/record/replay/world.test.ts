import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystem, defineProtocol, type System, Type } from "envoi";
import { recorder } from "../../../src/record/recorder";
import { replay } from "../../../src/record/replay/replay";

const folder = mkdtempSync(join(tmpdir(), "envoi-replay-"));
afterAll(() => rmSync(folder, { recursive: true }));

const Model = defineProtocol("model", {
  think: { payload: Type.String(), reply: Type.String() },
  tokens: { payload: Type.String(), stream: Type.String() },
});
const Agent = defineProtocol("agent", {
  work: { payload: Type.String(), reply: Type.String() },
  talk: { payload: Type.String(), stream: Type.String() },
});

describe("an agent whose model is outside", () => {
  const build = (system: System, model: ReturnType<typeof spawnModel>, prefix = "about ") =>
    system.spawn("agent", Agent, (ctx) => ({
      async work(task) {
        const [a, b] = await Promise.all([ctx.ask(model, "think", prefix + task), ctx.ask(model, "think", "again")]);
        return `${a.unwrapOr("?")} ${b.isOk() ? b.value : b.error.kind}`;
      },
      async *talk(task) {
        for await (const token of ctx.stream(model, "tokens", task)) yield token.toUpperCase();
      },
    }));
  const spawnModel = (system: System) =>
    system.spawn("gpt", Model, () => ({
      async think(text) {
        await Bun.sleep(3);
        if (text === "again") throw new RangeError("too often");
        return `thought ${text}`;
      },
      *tokens(text) {
        yield* text.split("");
      },
    }));

  const record = async (): Promise<string> => {
    const to = join(folder, `${crypto.randomUUID()}.ndjson`);
    const system = createSystem({ logger: { warn() {}, error() {} } });
    const recording = recorder(system, { to });
    const model = recording.outside("model", Model, () => spawnModel(system));
    const agent = build(system, model);
    expect((await agent.ask("work", "penguins"))._unsafeUnwrap()).toBe("thought about penguins handler-failed");
    expect(await Array.fromAsync(agent.stream("talk", "abc"))).toEqual(["A", "B", "C"]);
    await recording.close();
    await system.shutdown();
    return to;
  };

  test("runs again without the model: the same", async () => {
    const path = await record();
    const report = await replay(path, {
      setup({ clock, random, recorder }) {
        const system = createSystem({ clock, random });
        build(
          system,
          recorder(system).outside("model", Model, () => spawnModel(system)),
        );
        return system;
      },
    });
    expect(report.isSame).toBe(true);
  });
  test("a change of the code is told", async () => {
    const path = await record();
    const report = await replay(path, {
      setup({ clock, random, recorder }) {
        const system = createSystem({ clock, random, logger: { warn() {}, error() {} } });
        build(
          system,
          recorder(system).outside("model", Model, () => spawnModel(system)),
          "all about ",
        );
        return system;
      },
    });
    expect(report.isSame).toBe(false);
  });
});
