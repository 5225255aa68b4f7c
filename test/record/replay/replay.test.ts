import { describe, expect, test } from "bun:test";
import { createSystem, defineProtocol, type Factory, type SignaturesOf, type System, Type } from "../../../src/index";
import { type RecordingLine, type ReplayOptions, replay } from "../../../src/record/index";
import { ask, end, item, lines, stream, tell } from "./lines";

const Counter = defineProtocol("counter", {
  add: { payload: Type.Number(), reply: Type.Number() },
  note: { payload: Type.String() },
  ticks: { payload: Type.Number(), stream: Type.Number() },
  info: { reply: Type.Object({ id: Type.String(), at: Type.Number(), names: Type.Array(Type.String()) }) },
});
const quiet = { warn() {}, error() {} };

/** A replay of lines on a counter, whose handlers may be others. */
function replayed(
  recorded: readonly RecordingLine[],
  handlers: Partial<ReturnType<Factory<SignaturesOf<typeof Counter>>>> = {},
  options: Partial<ReplayOptions> = {},
  use?: (system: System) => void,
) {
  return replay(recorded, {
    patience: 50,
    ...options,
    setup({ clock, random }) {
      const system = createSystem({ clock, random, logger: quiet });
      let total = 0;
      system.spawn("counter", Counter, () => ({
        add: (amount) => {
          total += amount;
          return total;
        },
        note() {},
        *ticks(count) {
          for (let tick = 0; tick < count; tick++) yield tick;
        },
        info: () => ({ id: "a", at: clock.wallTime(), names: [] }),
        ...handlers,
      }));
      use?.(system);
      return system;
    },
  });
}

const AT = "@(counter)";
const added = lines(ask(1, 0, AT, "add", 2), end(1, 1, { value: 2 }), ask(2, 5, AT, "add", 3), end(2, 6, { value: 5 }));

describe("as a caller", () => {
  test("asks, tells and streams are sent again, and the same is the same", async () => {
    const noted: string[] = [];
    const recorded = lines(
      ask(1, 0, AT, "add", 2),
      end(1, 1, { value: 2 }),
      tell(2, 2, AT, "note", "hello"),
      end(2, 3),
      stream(3, 4, AT, "ticks", 3),
      item(3, 4, 0),
      item(3, 5, 1),
      item(3, 6, 2),
      end(3, 7),
    );
    const report = await replayed(recorded, { note: (text) => void noted.push(text) });
    expect(String(report)).toBe("the recording: the same; 3 messages sent, 3 compared\n");
    expect({ isSame: report.isSame, noted }).toEqual({ isSame: true, noted: ["hello"] });
  });

  test("another reply is told with both values", async () => {
    const report = await replayed(added, { add: (amount) => amount });
    expect(report.deviations).toMatchObject([
      { kind: "value", part: "reply", message: { id: 2, to: AT, operation: "add" }, differences: [{ path: "reply" }] },
    ]);
    expect(String(report)).toEndWith(
      "\n1. ask add of @(counter) (message 2, at 5 ms): the reply is another one\n  reply:\n    - 5\n    + 3\n\n".slice(
        0,
        -1,
      ),
    );
  });

  test("a handler that fails where it did not, and one that fails otherwise", async () => {
    const fails = { add: () => Promise.reject(new RangeError("too much")) };
    const [first] = (await replayed(added, fails)).deviations;
    expect(first).toMatchObject({ kind: "outcome", recorded: { outcome: "handled" }, replayed: { outcome: "failed" } });
    const failed = lines(
      ask(1, 0, AT, "add", 2),
      end(1, 1, { outcome: "failed", error: { name: "RangeError", message: "too much" } }),
    );
    expect((await replayed(failed, fails)).isSame).toBe(true);
    const other = { add: () => Promise.reject(new RangeError("too little")) };
    expect((await replayed(failed, other)).deviations).toMatchObject([
      { kind: "value", part: "error", differences: [{ path: "error.message" }] },
    ]);
    expect((await replayed(failed, other, { compare: "schema" })).isSame).toBe(true);
  });

  test("a reply that never comes", async () => {
    const report = await replayed(added, { add: () => new Promise<number>(() => {}) });
    expect(report.deviations.map(({ kind }) => kind)).toEqual(["never", "never"]);
  });

  test("items that are more, fewer or others", async () => {
    const recorded = lines(stream(1, 0, AT, "ticks", 3), item(1, 1, 0), item(1, 1, 1), end(1, 2));
    expect((await replayed(recorded)).deviations).toMatchObject([
      { kind: "extra-items", recorded: 2, replayed: 3, items: [2] },
    ]);
    const fewer = await replayed(recorded, { ticks: () => [0] });
    expect(fewer.deviations).toMatchObject([{ kind: "missing-items", recorded: 2, replayed: 1, items: [1] }]);
    const others = await replayed(recorded, { ticks: () => [0, 7] });
    expect(others.deviations).toMatchObject([{ kind: "value", part: "item", index: 1 }]);
  });

  test("a stream without end is read as far as it was recorded", async () => {
    function* endless() {
      for (let tick = 0; ; tick++) yield tick;
    }
    const open = lines(stream(1, 0, AT, "ticks", 3), item(1, 1, 0), item(1, 1, 1));
    expect((await replayed(open, { ticks: endless })).isSame).toBe(true);
    const left = lines(stream(1, 0, AT, "ticks", 3), item(1, 1, 0), item(1, 1, 1), end(1, 2, { reason: "left" }));
    expect((await replayed(left, { ticks: endless })).isSame).toBe(true);
    const natural = lines(stream(1, 0, AT, "ticks", 3), item(1, 1, 0), end(1, 2));
    expect((await replayed(natural, { ticks: endless })).deviations).toMatchObject([{ kind: "extra-items" }]);
  });

  test("a path can be ignored; a reply can be held to the schema alone, or to a function", async () => {
    const recorded = lines(ask(1, 0, AT, "info"), end(1, 1, { value: { id: "b", at: 1, names: ["x"] } }));
    const paths = ({ deviations: [first] }: Awaited<ReturnType<typeof replayed>>) =>
      first?.kind === "value" ? first.differences.map(({ path }) => path) : first;
    expect(paths(await replayed(recorded))).toEqual(["reply.id", "reply.at", "reply.names.0"]);
    expect(paths(await replayed(recorded, {}, { ignore: ["reply.id", "reply.names.*"] }))).toEqual(["reply.at"]);
    expect((await replayed(recorded, {}, { ignore: ["reply"] })).isSame).toBe(true);
    expect((await replayed(recorded, {}, { compare: "schema" })).isSame).toBe(true);
    const broken = await replayed(recorded, { info: () => ({ id: 7 }) as never }, { compare: "schema" });
    expect(broken.deviations).toMatchObject([
      { kind: "value", why: expect.stringContaining("reply/id must be a string") },
    ]);
    const seen: unknown[] = [];
    const compare: ReplayOptions["compare"] = ({ part, recorded: was, replayed: is }) => {
      seen.push([part, was, is]);
      return "the names are missing";
    };
    expect((await replayed(recorded, {}, { compare })).deviations).toMatchObject([{ why: "the names are missing" }]);
    expect(seen).toMatchObject([["reply", { id: "b" }, { id: "a" }]]);
  });
});

describe("the clock", () => {
  test("begins at the start of the recording, and goes on with its lines", async () => {
    const at = Date.parse("2026-01-01T00:00:00.000Z") + 60_000;
    const recorded = lines(ask(1, 60_000, AT, "info"), end(1, 60_001, { value: { id: "a", at, names: [] } }));
    expect((await replayed(recorded)).isSame).toBe(true);
  });

  test("timers fire on the way: an hour takes no time, and concurrent calls end in their order", async () => {
    const Sleeper = defineProtocol("sleeper", { sleep: { payload: Type.Number(), reply: Type.Number() } });
    const setup: ReplayOptions["setup"] = ({ clock }) => {
      const system = createSystem({ clock });
      const sleep = (ms: number) =>
        new Promise<number>((resolve) => clock.setTimer(() => resolve(clock.monotonicTime()), ms));
      system.spawn("sleeper", Sleeper, () => ({ sleep }), { concurrency: 4 });
      return system;
    };
    const to = "@(sleeper)";
    const recorded = lines(
      ask(1, 0, to, "sleep", 3_600_000),
      ask(2, 10, to, "sleep", 1_000),
      end(2, 1_010.5, { value: 1_010 }),
      end(1, 3_600_000.4, { value: 3_600_000 }),
    );
    expect(String(await replay(recorded, { setup }))).toContain("the same");
    const swapped = lines(
      ask(1, 0, to, "sleep", 20),
      ask(2, 0, to, "sleep", 30),
      end(2, 31, { value: 30 }),
      end(1, 32, { value: 20 }),
    );
    const [order] = (await replay(swapped, { setup })).deviations;
    expect(order).toMatchObject({ kind: "order", message: { id: 2 }, behind: { id: 1 } });
    expect((await replay(swapped, { setup, ignore: ["order"] })).isSame).toBe(true);
  });

  test("in the recorded order, a message waits for those that had ended before it; by time, it does not", async () => {
    const running: number[] = [];
    let most = 0;
    const Worker = defineProtocol("worker", { run: { payload: Type.Number(), reply: Type.Number() } });
    const setup: ReplayOptions["setup"] = ({ clock }) => {
      const system = createSystem({ clock });
      system.spawn(
        "worker",
        Worker,
        () => ({
          async run(number) {
            running.push(number);
            most = Math.max(most, running.length);
            await new Promise<void>((resolve) => clock.setTimer(resolve, 500)); // Slower than it was.
            running.splice(running.indexOf(number), 1);
            return number;
          },
        }),
        { concurrency: 9 },
      );
      return system;
    };
    const recorded = lines(
      ask(1, 0, "@(worker)", "run", 1),
      ask(2, 1, "@(worker)", "run", 2),
      end(1, 10, { value: 1 }),
      end(2, 11, { value: 2 }),
      ask(3, 12, "@(worker)", "run", 3),
      end(3, 22, { value: 3 }),
    );
    expect((await replay(recorded, { setup, patience: 1 })).isSame).toBe(true);
    expect(most).toBe(2);
    expect((await replay(recorded, { setup, patience: 1, order: "timed" })).isSame).toBe(true);
    expect(most).toBe(3);
  });

  test("random numbers are those of the seed", async () => {
    const drawn: number[][] = [];
    const setup: ReplayOptions["setup"] = ({ clock, random, recorder }) => {
      const system = createSystem({ clock, random });
      const recording = recorder(system);
      drawn.push([random(), random(), recording.random()]);
      return system;
    };
    await replay(lines(), { setup });
    await replay(lines(), { setup });
    expect(drawn[0]).toEqual(drawn[1] as number[]);
  });

  test("work that no clock rules is waited for", async () => {
    const add = async (amount: number) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return amount;
    };
    const recorded = lines(ask(1, 0, AT, "add", 2), end(1, 1, { value: 2 }));
    expect((await replayed(recorded, { add }, { patience: 2_000 })).isSame).toBe(true);
  });
});

describe("what a recording may hold", () => {
  test("redacted values are sent as they are, and are no deviations; the report says so", async () => {
    const secret = `redacted:${"a".repeat(22)}`;
    const noted: string[] = [];
    const recorded = lines(
      tell(1, 0, AT, "note", secret),
      end(1, 1),
      ask(2, 2, AT, "info"),
      end(2, 3, { value: { id: secret, at: 0, names: [{ $large: { bytes: 3, sha256: "x", type: "text" } }] } }),
    );
    const names = ["abc"];
    const report = await replayed(recorded, {
      note: (text) => void noted.push(text),
      info: () => ({ id: "a", at: 0, names }),
    });
    expect({ isSame: report.isSame, noted, unreadable: report.unreadable }).toEqual({
      isSame: true,
      noted: [secret],
      unreadable: 2,
    });
    expect(report.notes.join()).toContain("1 payloads have redacted values");
    const other = await replayed(recorded, { info: () => ({ id: "a", at: 0, names: ["abcd"] }) });
    expect(other.isSame).toBe(false); // Its size is known.
  });

  test("messages through a door are validated again", async () => {
    const recorded = lines(
      ask(1, 0, AT, "add", "2", { door: true }),
      end(1, 1, { outcome: "dead", reason: "invalid-payload" }),
    );
    expect(String(await replayed(recorded))).toContain("the same");
  });

  test("an address where nobody is any more, and one that is none", async () => {
    const recorded = lines(
      ask(1, 0, "@(gone)", "add", 2),
      end(1, 1, { value: 2 }),
      tell(2, 1, "nonsense", "x"),
      end(2, 2),
    );
    expect((await replayed(recorded)).deviations).toMatchObject([
      { kind: "outcome", replayed: { outcome: "dead", reason: "no-recipient" } },
      { kind: "unsent", message: { id: 2 } },
    ]);
  });

  test("what was caused by another message is not sent, and neither is what an actor sent", async () => {
    const recorded = lines(
      ask(1, 0, AT, "add", 2),
      ask(2, 0, AT, "add", 100, { from: "@(counter)", cause: 1 }),
      end(2, 1, { value: 100 }),
      end(1, 1, { value: 2 }),
    );
    expect(await replayed(recorded)).toMatchObject({ isSame: true, sent: 1 });
  });

  test("lines that belong to nothing, ids that come twice, and keys of prototypes harm nobody", async () => {
    const evil = JSON.parse(
      '{"constructor":{"prototype":{"polluted":1}},"toString":1,"hasOwnProperty":2,"__proto__":{"polluted":2}}',
    );
    const recorded = lines(
      end(9, 0),
      item(9, 0, 1),
      ask(1, 0, AT, "add", 2),
      ask(1, 0, AT, "add", 2),
      end(1, 1, { value: evil }),
      end(1, 2, { value: 3 }),
      ask(2, 3, AT, "toString", evil),
      end(2, 4, { outcome: "dead", reason: "unknown-operation" }),
    );
    const report = await replayed(recorded);
    expect(report.deviations).toMatchObject([{ kind: "value", message: { id: 1 } }]);
    expect(report.notes).toEqual(["4 lines belong to no message that is recorded, or to one that was over."]);
    expect({}).not.toHaveProperty("polluted");
  });

  test("lines without a header are no recording", async () => {
    await expect(replayed([end(1, 1)])).rejects.toThrow("the recording has no header, so it is no recording");
  });

  test("megabytes are replayed, and their difference is short", async () => {
    const Echo = defineProtocol("echo", { say: { payload: Type.String(), reply: Type.String() } });
    const text = Array.from({ length: 20_000 }, (_, line) => `line ${line} of a long text`).join("\n");
    const limits = { text: 4_000_000, value: 8_000_000 };
    const recorded = lines(ask(1, 0, "@(echo)", "say", text), end(1, 1, { value: text }));
    const setup =
      (say: (text: string) => string): ReplayOptions["setup"] =>
      ({ clock }) => {
        const system = createSystem({ clock });
        system.spawn("echo", Echo, () => ({ say }));
        return system;
      };
    expect((await replay(recorded, { limits, setup: setup((said) => said) })).isSame).toBe(true);
    const other = await replay(recorded, { limits, setup: setup((said) => said.replace("line 19 ", "line x ")) });
    expect(other.isSame).toBe(false);
    expect(String(other).length).toBeLessThan(2_000);
  });
});

describe("options", () => {
  test("a setup that returns no system, a misspelt option and a bad one are told at once", async () => {
    await expect(replay(lines(), { setup: () => undefined as never })).rejects.toThrow("returns the system");
    await expect(replay(lines(), { setup: () => createSystem(), ordre: 1 } as never)).rejects.toThrow(
      'no option "ordre"',
    );
    await expect(replay(lines(), { setup: () => createSystem(), patience: -1 })).rejects.toThrow(RangeError);
    await expect(replay("/nowhere/run.ndjson", { setup: () => createSystem() })).rejects.toThrow("There is no file");
    await expect(replay(lines(), { setup: () => Promise.reject(new Error("no database")) })).rejects.toThrow(
      "no database",
    );
  });
});

test("an ignored path begins with a part that is compared", async () => {
  const ignoring = (path: string) => replay([], { setup: () => createSystem(), ignore: [path] });
  await expect(ignoring("replly.id")).rejects.toThrow('got "replly.id": write "reply.id".');
  await expect(ignoring("payload.id")).rejects.toThrow('begin with reply, item or error, or are "order"');
});
