import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { createSystem, defineProtocol, type System, Type } from "../../../src/index";
import { type Recording, readValue, recorder, replay } from "../../../src/record/index";
import { compareValues, ignoredPath } from "../../../src/record/replay/compare";
import { folders } from "../recorded";

const folder = folders();
const Shop = defineProtocol("shop", { read: { reply: Type.Unknown() } });
const Disk = defineProtocol("disk", { get: { reply: Type.Unknown() } });

/** A shop that gives what a disk outside has. */
function build(system: System, recording: Recording, value: unknown) {
  const disk = recording.outside("disk", Disk, () => system.spawn("disk", Disk, () => ({ get: () => value })));
  return system.spawn("shop", Shop, (ctx) => ({
    async read() {
      const found = await ctx.ask(disk, "get");
      return found.isOk() ? `found: ${found.value}` : found.error.kind;
    },
  }));
}

async function recorded(value: unknown, key?: string): Promise<string> {
  const to = `${folder()}/run.ndjson`;
  const system = createSystem();
  const shop = build(system, recorder(system, key === undefined ? { to } : { to, key }), value);
  await shop.ask("read");
  await system.shutdown();
  return to;
}

const again = (path: string, options: Omit<Parameters<typeof replay>[1], "setup"> = {}) =>
  replay(path, {
    ...options,
    setup({ clock, random, recorder: stage }) {
      const system = createSystem({ clock, random, logger: { warn() {}, error() {} } });
      build(system, stage(system), "another run");
      return system;
    },
  });

/** Replaces a text in a file, where it stands for sure. */
function edit(path: string, before: string, after: string): void {
  const text = readFileSync(path, "utf8");
  expect(text).toContain(before);
  writeFileSync(path, text.replaceAll(before, after));
}

describe("a secret within a longer text", () => {
  const value = 'DB_PASSWORD=hunter2hunter2 REGION=eu and out: {"content":"TOKEN=abcdefgh12345678"} REGION=us';

  test("is no deviation where the replay has another key", async () => {
    const path = await recorded(value);
    expect(readFileSync(path, "utf8")).not.toContain("hunter2hunter2");
    const report = await again(path);
    expect({ isSame: report.isSame, text: String(report) }).toMatchObject({ isSame: true });
  });

  test("is no deviation where the code that is replayed gives it itself, by another key", async () => {
    const to = `${folder()}/run.ndjson`;
    const spawn = (system: System) => system.spawn("disk", Disk, () => ({ get: () => value }));
    const system = createSystem();
    recorder(system, { to });
    await spawn(system).ask("get");
    await system.shutdown();
    const report = await replay(to, {
      setup({ clock, random }) {
        const replayed = createSystem({ clock, random });
        spawn(replayed);
        return replayed;
      },
    });
    expect({ isSame: report.isSame, unreadable: report.unreadable, text: String(report) }).toMatchObject({
      isSame: true,
      unreadable: 1,
    });
  });

  test("is no deviation where it has the same key: what was redacted stays as it is", async () => {
    const key = "a key of this test, of 32 letters";
    const report = await again(await recorded(value, key), { key });
    expect({ isSame: report.isSame, text: String(report) }).toMatchObject({ isSame: true });
  });

  test("is not compared by a key that the recording does not have: it is refused", async () => {
    const path = await recorded(value, "the key of the recording");
    const sentence = `The key is not the one that ${path} was recorded with`;
    await expect(again(path, { key: "another key" })).rejects.toThrow(sentence);
    expect(() => recorder(createSystem(), { to: path, mode: "replay", key: "another key" })).toThrow(sentence);
    await expect(
      replay(path, {
        setup({ clock, recorder: stage }) {
          const system = createSystem({ clock });
          stage(system, { key: "another key" });
          return system;
        },
      }),
    ).rejects.toThrow(sentence);
    // A file of an earlier version does not tell its key.
    edit(path, /,"key":"[0-9a-f]{16}"/.exec(readFileSync(path, "utf8"))?.[0] ?? "no key", "");
    expect((await again(path, { key: "the key of the recording" })).isSame).toBe(true);
  });

  test("does not hide what differs beside it", async () => {
    const path = await recorded(value);
    edit(path, "REGION=us", "REGION=xx");
    const text = readFileSync(path, "utf8");
    const last = text.lastIndexOf("REGION=xx");
    writeFileSync(path, `${text.slice(0, last)}REGION=yy${text.slice(last + 9)}`);
    expect((await again(path)).isSame).toBe(false);
  });
});

describe("a file that somebody changed", () => {
  const TAGS = [
    { $map: 5 },
    { $map: [5] },
    { $set: 5 },
    { $bigint: "zz" },
    { $date: null },
    { $ref: "" },
    { $error: null },
    { $large: 5 },
    { $binary: null },
  ];
  test.each(TAGS.map((tag) => [JSON.stringify(tag), tag] as const))("%s is read without a throw", (_, tag) => {
    expect(() => readValue(tag)).not.toThrow();
    expect(() => readValue([{ a: tag }])).not.toThrow();
  });

  test("a tag of another content stays as it is", () => {
    for (const tag of [{ $map: 5 }, { $set: "a" }, { $bigint: "zz" }, { $large: 5 }]) {
      expect(readValue(tag)).toEqual(tag);
    }
  });

  test("a report comes of it all the same", async () => {
    const path = await recorded("it");
    edit(path, '"value":"it"', '"value":{"$bigint":"zz"}');
    const { deviations } = await again(path);
    expect(deviations).toHaveLength(1);
    expect((await again(path, { compare: () => true })).isSame).toBe(true);
  });

  test("a seed that is none is told with the file", async () => {
    const path = await recorded("it");
    const [header = ""] = readFileSync(path, "utf8").split("\n");
    edit(path, header, JSON.stringify({ ...JSON.parse(header), seed: -1e308 }));
    const error = await again(path).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "RecordingError" });
    expect(String(error)).toContain(path);
  });
});

describe("a comparison of values", () => {
  const opaque = (bytes: number, sha256: string) => ({ $large: { bytes, sha256, type: "text" } });

  test("of which both are known by size and hash: another size is a difference, another hash by another key is not", () => {
    expect(compareValues(opaque(3, "a"), opaque(4, "b"), "reply").differences).toHaveLength(1);
    expect(compareValues(opaque(3, "a"), opaque(3, "b"), "reply")).toEqual({ differences: [], unreadable: 1 });
    expect(compareValues(opaque(3, "a"), opaque(3, "b"), "reply", [], true).differences).toHaveLength(1);
    expect(compareValues(opaque(3, "a"), opaque(3, "a"), "reply", [], true).differences).toEqual([]);
  });

  test("tells a hundred differences at most", () => {
    const list = (value: number) => Array.from({ length: 150 }, () => value);
    expect(compareValues(list(1), list(2), "reply").differences).toHaveLength(100);
  });

  test("is not left out by a path that leads further", () => {
    const ignored = [ignoredPath("reply.*")];
    expect(compareValues(1, 2, "reply", ignored).differences).toHaveLength(1);
    expect(compareValues({ a: 1 }, { a: 2 }, "reply", ignored).differences).toEqual([]);
  });
});

describe("a comparison function", () => {
  test("that throws makes a deviation of its value", async () => {
    const compare = () => {
      throw new Error("not today");
    };
    const report = await again(await recorded("it"), { compare });
    expect(report.deviations).toMatchObject([{ kind: "value", why: expect.stringContaining("not today") }]);
  });

  test("that is asynchronous is told so", async () => {
    const compare = (async () => true) as unknown as () => boolean; // A mistake that JavaScript does not see.
    const report = await again(await recorded("it"), { compare });
    expect(report.deviations).toMatchObject([{ kind: "value", why: expect.stringContaining("at once") }]);
  });
});
