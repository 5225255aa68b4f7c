import { describe, expect, test } from "bun:test";
import type { CodeExecutionRef, ExecuteItem, ExecuteRequest } from "../../../src/tools/code/protocol";
import { isLong } from "../../property/runs";
import { inspectionOf, ways, withCode } from "./tiers";

async function itemsOf(code: CodeExecutionRef, request: ExecuteRequest): Promise<ExecuteItem[]> {
  const items: ExecuteItem[] = [];
  for await (const item of code.stream("executeStream", request)) items.push(item);
  return items;
}

const brief = (item: ExecuteItem): unknown =>
  item.kind === "log" ? `${item.entry.level}: ${item.entry.text}` : item.kind === "progress" ? item.value : "end";

describe.each(ways)("$isolation, $language", (way) => {
  const { isolation, language, pause } = way;

  test("a stream tells logs and progress in their order, and the outcome at last", async () => {
    await withCode({ isolation }, async (_, code) => {
      const source = `console.log('a', 1); progress(0.5); await null; console.warn('b'); progress({ done: [1] }); input`;
      const items = await itemsOf(code, { code: source, language, input: 7 });
      expect(items.map(brief)).toEqual(["log: a 1", 0.5, "warn: b", { done: [1] }, "end"]);
      const last = items.at(-1);
      expect(last).toMatchObject({ kind: "end", outcome: { ok: true, value: { value: 7, isolation } } });
      const logged = items.flatMap((item) => (item.kind === "log" ? [item.entry] : []));
      expect(last?.kind === "end" && last.outcome.ok && last.outcome.value.logs).toEqual(logged);
    });
  });

  test("what is told is told while the code runs", async () => {
    await withCode({ isolation, timeout: 20_000 }, async (_, code) => {
      const source = `console.log('here'); ${pause(15_000)}`;
      const stream = code.stream("executeStream", { code: source, language });
      for await (const item of stream) {
        expect(item).toMatchObject({ kind: "log", entry: { text: "here" } });
        expect((await inspectionOf(code)).tiers[0]?.running).toBe(1);
        break;
      }
      // Leaving the loop has ended the run.
      while ((await inspectionOf(code)).tiers[0]?.running !== 0);
    });
  });

  test("whatever becomes of the code is the last item, also where it never ran", async () => {
    await withCode({ isolation, timeout: 1_500, maxOutput: 200 }, async (_, code) => {
      const cases: [string, string][] = [
        ["let = = 1", "compile-error"],
        ["progress(1); throw new Error('x')", "runtime-error"],
        [`progress(1); ${pause(10_000)}`, "timeout"],
        ["for (;;) progress('0123456789')", "output-limit"],
        ["try { for (;;) progress('0123456789') } catch {}; 1", "output-limit"],
        ["progress(1); 1n", "unserializable-value"],
      ];
      for (const [source, kind] of cases) {
        const items = await itemsOf(code, { code: source, language });
        expect([source, items.at(-1)]).toEqual([source, { kind: "end", outcome: expect.anything() }]);
        expect(items.at(-1)).toMatchObject({ outcome: { ok: false, error: { kind } } });
        expect(items.slice(0, -1).every((item) => item.kind !== "end")).toBe(true);
      }
    });
  });

  test("progress is what JSON holds; other values are a TypeError in the code; none is told where nobody listens", async () => {
    await withCode({ isolation }, async (execute, code) => {
      const source = `const seen = []
        for (const value of [undefined, () => 1, Symbol('a'), 1n]) try { progress(value) } catch (e) { seen.push(e instanceof TypeError) }
        progress(null); progress(new Date(0)); seen`;
      const items = await itemsOf(code, { code: source, language: "javascript" });
      expect(items.map(brief)).toEqual([null, "1970-01-01T00:00:00.000Z", "end"]);
      expect(items.at(-1)).toMatchObject({ outcome: { value: { value: [true, true, true, true] } } });
      expect(await execute("progress(1); 2", { language })).toMatchObject({ ok: true, value: { value: 2 } });
    });
  });

  test("a reader who is slow holds up neither the run nor others, and loses nothing", async () => {
    await withCode({ isolation, concurrency: 1, maxWaiting: 1 }, async (execute, code) => {
      const source = "for (let i = 0; i < 1_000; i++) console.log(i); 1";
      const slow = code.stream("executeStream", { code: source, language }, { credit: 1 })[Symbol.asyncIterator]();
      expect((await slow.next()).value).toMatchObject({ entry: { text: "0" } });
      for (let i = 0; i < (isLong ? 100 : 10); i++) expect((await execute("1", { language })).ok).toBe(true);
      const rest: ExecuteItem[] = [];
      for (let step = await slow.next(); !step.done; step = await slow.next()) rest.push(step.value);
      expect(rest.length).toBe(1_000);
      expect(rest.at(-2)).toMatchObject({ entry: { text: "999" } });
    });
  });
});

test("streams that nobody reads on hold up no request", async () => {
  await withCode({ isolation: "trusted", concurrency: 1, maxWaiting: 0 }, async (execute, code) => {
    // More than the actor handles at once.
    const streams = Array.from({ length: 200 }, () =>
      code
        .stream("executeStream", { code: "for (let i = 0; i < 100; i++) console.log(i)" }, { credit: 1 })
        [Symbol.asyncIterator](),
    );
    const [first] = await Promise.all(streams.slice(0, 10).map((stream) => stream.next()));
    for (const stream of streams.slice(10)) void stream.next().catch(() => {});
    expect(first?.value).toMatchObject({ kind: "log" });
    expect((await execute("1")).ok).toBe(true);
    await Promise.all(streams.map((stream) => stream.return?.()));
  });
});
