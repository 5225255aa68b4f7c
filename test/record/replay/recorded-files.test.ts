import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystem, defineProtocol, type Ref, type SignaturesOf, type System, Type } from "../../../src/index";
import { type RecorderOptions, recorder, redact, replay } from "../../../src/record/index";
import { readTape } from "../../../src/record/replay/read-sync";
import { folders } from "../recorded";
import { lines } from "./lines";

const folder = folders();
const Model = defineProtocol("model", {
  think: { payload: Type.String(), reply: Type.String() },
  count: { payload: Type.Number(), stream: Type.Number() },
});
const Agent = defineProtocol("agent", {
  work: { payload: Type.String(), reply: Type.String() },
  first: { payload: Type.Number(), stream: Type.Number() },
});
const quiet = { warn() {}, error() {} };

const spawnModel = (system: System) =>
  system.spawn("gpt", Model, () => ({
    think: (text) => `thought ${text}`,
    *count(from) {
      for (let number = from; ; number++) yield number;
    },
  }));

const spawnAgent = (system: System, model: Ref<SignaturesOf<typeof Model>>) =>
  system.spawn("agent", Agent, (ctx) => ({
    work: async (text) => (await ctx.ask(model, "think", text)).unwrapOr("?"),
    async *first(most) {
      let read = 0;
      for await (const number of ctx.stream(model, "count", 1)) {
        yield number;
        if (++read === most) break;
      }
    },
  }));

/** Records an agent's work of some texts, and the first numbers of a stream without end. */
async function record(options: RecorderOptions, texts: readonly string[]): Promise<void> {
  const system = createSystem({ logger: quiet });
  const recording = recorder(system, options);
  const agent = spawnAgent(
    system,
    recording.outside("model", Model, () => spawnModel(system)),
  );
  for (const text of texts) expect((await agent.ask("work", text))._unsafeUnwrap()).toBe(`thought ${text}`);
  expect(await Array.fromAsync(agent.stream("first", 3))).toEqual([1, 2, 3]);
  await system.shutdown(); // Then the stream that the agent left has ended, too.
  await recording.close();
}

/** The same with the world alone from the recording, on the clock of the machine. */
async function world(options: RecorderOptions, texts: readonly string[]): Promise<string[]> {
  const system = createSystem({ logger: quiet });
  const model = recorder(system, { ...options, mode: "replay" }).outside("model", Model, () => spawnModel(system));
  const agent = spawnAgent(system, model);
  const said: string[] = [];
  for (const text of texts) said.push((await agent.ask("work", text))._unsafeUnwrap());
  expect(await Array.fromAsync(agent.stream("first", 3))).toEqual([1, 2, 3]);
  await system.shutdown();
  return said;
}

const replayed = (path: string) =>
  replay(path, {
    setup({ clock, random, recorder: inReplay }) {
      const system = createSystem({ clock, random, logger: quiet });
      spawnAgent(
        system,
        inReplay(system).outside("model", Model, () => spawnModel(system)),
      );
      return system;
    },
  });

const TEXTS = Array.from({ length: 40 }, (_, number) => `task ${number}`);
const SAID = TEXTS.map((text) => `thought ${text}`);

test("a recording in several parts is replayed as one", async () => {
  const to = `${folder()}/run.ndjson`;
  const options = { to, rotate: { bytes: 4_096 } };
  await record(options, TEXTS);
  expect(readdirSync(to.replace("/run.ndjson", "")).length).toBeGreaterThan(1);
  expect(await replayed(to)).toMatchObject({ isSame: true, sent: 41, answered: 41, notes: [] });
  expect(await world(options, TEXTS)).toEqual(SAID);
});

test("so is one that is compressed, by the path that its recorder was given", async () => {
  const to = `${folder()}/run.ndjson`;
  const options = { to, rotate: { bytes: 4_096 }, compress: "zstd" } as const;
  await record(options, TEXTS);
  expect(readdirSync(to.replace("/run.ndjson", "")).every((name) => name.endsWith(".ndjson.zst"))).toBe(true);
  expect(await replayed(`${to}.zst`)).toMatchObject({ isSame: true, sent: 41, answered: 41, notes: [] });
  expect(await world(options, TEXTS)).toEqual(SAID);
});

test("the world finds calls by what its recorder wrote of them: after the same transforms, by the same key", async () => {
  const to = `${folder()}/run.ndjson`;
  const options = { to, key: "a key", transforms: [redact("payload", { operation: "think" })] };
  await record(options, ["a", "b"]);
  expect(await world(options, ["b", "a"])).toEqual(["thought b", "thought a"]);
});

test("a stream that its reader left goes as far as it was recorded, and fails behind that: nobody knows what came then", async () => {
  const to = `${folder()}/run.ndjson`;
  await record({ to }, []);
  const system = createSystem({ logger: quiet });
  const model = recorder(system, { to, mode: "replay" }).outside("model", Model, () => spawnModel(system));
  const agent = spawnAgent(system, model);
  const read: number[] = [];
  const reading = async () => {
    for await (const number of agent.stream("first", 1_000)) read.push(number);
  };
  await expect(reading()).rejects.toThrow("its reader left when it was recorded");
  expect(read.slice(0, 3)).toEqual([1, 2, 3]);
  await system.shutdown();
});

test("a recording whose first parts were deleted is found by the path that its recorder was given", () => {
  const path = folder();
  const header = { ...lines()[0], part: 5, oldest: 5 };
  writeFileSync(join(path, "run.5.ndjson"), `${JSON.stringify(header)}\n`);
  expect(readTape(join(path, "run.ndjson")).header).toMatchObject({ part: 5 });
  expect(() => readTape(join(path, "run.4.ndjson"))).toThrow("run.4.ndjson");
});
